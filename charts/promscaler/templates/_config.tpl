{{/* The service config: that of the values, and what the chart settles itself. */}}
{{- define "promscaler.config" -}}
{{- $config := deepCopy (default dict .Values.config) -}}
{{- with fromJson (include "promscaler.sources" .) -}}
  {{- $_ := set $config "prometheus" . -}}
{{- end -}}
{{- $_ := set $config "kubernetes" (dict "namespaces" .Values.namespaces) -}}
{{- $paths := list "/etc/promscaler/scalers" -}}
{{- range .Values.scalerConfigMaps -}}
  {{- $paths = append $paths (printf "/etc/promscaler/scaler-configmaps/%s" .) -}}
{{- end -}}
{{- $scalers := dict "paths" $paths -}}
{{- if .Values.crd.enabled -}}
  {{- $_ := set $scalers "customResources" true -}}
{{- end -}}
{{- $_ := set $config "scalers" $scalers -}}
{{- /* NAME.NAMESPACE is a name of the Service, too, but one that could also be of the public DNS. */ -}}
{{- $hosts := prepend (default list .Values.allowedHosts) (printf "%s.%s" (include "promscaler.fullname" .) .Release.Namespace) -}}
{{- $_ := set $config "server" (dict "port" 8080 "allowedHosts" $hosts) -}}
{{- /* Both are on inside of a cluster unless the config says otherwise. */ -}}
{{- $election := omit .Values.leaderElection "enabled" -}}
{{- if not .Values.leaderElection.enabled -}}
  {{- $election = dict "enabled" false -}}
{{- end -}}
{{- if $election -}}
  {{- $_ := set $config "leaderElection" $election -}}
{{- end -}}
{{- if not .Values.state.enabled -}}
  {{- $_ := set $config "state" (dict "enabled" false) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* The data sources as JSON, each with its address and its credentials; empty where nothing is said of any. */}}
{{- define "promscaler.sources" -}}
{{- $sources := deepCopy (default dict (default dict .Values.config).prometheus) -}}
{{- with .Values.prometheus.url -}}
  {{- $_ := set $sources "default" (merge (dict "urls" (list .)) (default dict $sources.default)) -}}
{{- end -}}
{{- range $name, $fields := (fromJson (include "promscaler.credentials" .)).config -}}
  {{- $_ := set $sources $name (merge $fields (default dict (get $sources $name))) -}}
{{- end -}}
{{- toJson $sources -}}
{{- end -}}

{{/*
What `credentials` stands for, as JSON:
  config   per source the fields of the service config, which name the mounted files
  data     the texts that the chart's own Secret holds, by key
  mounts   per source the files: { secret, key, path }; an empty secret is the chart's own
*/}}
{{- define "promscaler.credentials" -}}
{{- $config := dict -}}
{{- $data := dict -}}
{{- $mounts := dict -}}
{{- $names := dict "bearerToken" "token" "password" "password" "ca" "ca.crt" "cert" "tls.crt" "key" "tls.key" "clientSecret" "client-secret" "awsCredentials" "aws-credentials" -}}
{{- range $source, $given := default dict .Values.credentials -}}
  {{- $files := list -}}
  {{- $paths := dict -}}
  {{- range $part, $file := $names -}}
    {{- $key := get (default dict $given.keys) $part -}}
    {{- if $key -}}
      {{- $files = append $files (dict "secret" $given.existingSecret "key" $key "path" $file) -}}
    {{- else if get $given $part -}}
      {{- $key = printf "%s.%s" $source $file -}}
      {{- $_ := set $data $key (get $given $part) -}}
      {{- $files = append $files (dict "secret" "" "key" $key "path" $file) -}}
    {{- end -}}
    {{- if $key -}}
      {{- $_ := set $paths $part (printf "/etc/promscaler/credentials/%s/%s" $source $file) -}}
    {{- end -}}
  {{- end -}}
  {{- $fields := dict -}}
  {{- with $paths.bearerToken -}}
    {{- $_ := set $fields "bearerTokenFile" . -}}
  {{- end -}}
  {{- with $paths.password -}}
    {{- $_ := set $fields "basicAuth" (dict "username" (default "" $given.username) "passwordFile" .) -}}
  {{- end -}}
  {{- /* What is beside these two stands in the service config. */ -}}
  {{- with $paths.clientSecret -}}
    {{- $_ := set $fields "oauth2" (dict "clientSecretFile" .) -}}
  {{- end -}}
  {{- with $paths.awsCredentials -}}
    {{- $_ := set $fields "sigv4" (dict "credentialsFile" .) -}}
  {{- end -}}
  {{- $tls := dict -}}
  {{- range $part := list "ca" "cert" "key" -}}
    {{- with get $paths $part -}}
      {{- $_ := set $tls (printf "%sFile" $part) . -}}
    {{- end -}}
  {{- end -}}
  {{- if $tls -}}
    {{- $_ := set $fields "tls" $tls -}}
  {{- end -}}
  {{- $_ := set $config $source $fields -}}
  {{- $_ := set $mounts $source $files -}}
{{- end -}}
{{- dict "config" $config "data" $data "mounts" $mounts | toJson -}}
{{- end -}}
