{{/* The service config: `config` of the values, and the keys that the chart sets. */}}
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
{{- /* NAME.NAMESPACE is a name of the Service that could also be in the public DNS. */ -}}
{{- $hosts := prepend (default list .Values.allowedHosts) (printf "%s.%s" (include "promscaler.fullname" .) .Release.Namespace) -}}
{{- if .Values.ingress.enabled -}}
  {{- range .Values.ingress.hosts -}}
    {{- $hosts = append $hosts .host -}}
  {{- end -}}
{{- end -}}
{{- $server := dict "port" 8080 "allowedHosts" (uniq $hosts) "dashboard" .Values.dashboard.enabled -}}
{{- with .Values.dashboard.groupLabel -}}
  {{- $_ := set $server "groupLabel" . -}}
{{- end -}}
{{- with .Values.grafana.url -}}
  {{- $_ := set $server "grafanaUrl" (printf "%s/d/promscaler-scaler-%s" (trimSuffix "/" .) (include "promscaler.dashboardSuffix" $)) -}}
{{- end -}}
{{- if .Values.auth.tokenReview -}}
  {{- $_ := set $server "auth" (dict "tokenReview" true) -}}
{{- else if .Values.auth.bearerTokenFile -}}
  {{- $_ := set $server "auth" (dict "bearerTokenFile" .Values.auth.bearerTokenFile) -}}
{{- end -}}
{{- if include "promscaler.hasPeers" . -}}
  {{- $_ := set $server "peerKeyFile" "/etc/promscaler/peers/key" -}}
{{- end -}}
{{- $_ := set $config "server" $server -}}
{{- /* Inside a cluster both are on unless the config turns them off. */ -}}
{{- $election := omit .Values.leaderElection "enabled" -}}
{{- if not .Values.leaderElection.enabled -}}
  {{- $election = dict "enabled" false -}}
{{- end -}}
{{- if $election -}}
  {{- $_ := set $config "leaderElection" $election -}}
{{- end -}}
{{- if .Values.sharding.enabled -}}
  {{- $_ := set $config "sharding" (dict "enabled" true) -}}
{{- end -}}
{{- if not .Values.state.enabled -}}
  {{- $_ := set $config "state" (dict "enabled" false) -}}
{{- end -}}
{{- with .Values.record -}}
  {{- if .enabled -}}
    {{- $_ := set $config "record" (dict "path" "/var/lib/promscaler/decisions.ndjson" "which" .which "maxFileBytes" (int64 .maxFileBytes) "maxFiles" (int .maxFiles)) -}}
  {{- end -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* The data sources as JSON, each with its URLs and credentials; empty if none is configured. */}}
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
The parts of `credentials`, as JSON:
  config   the fields of the service config by source, which name the mounted files
  data     the values of the Secret that the chart creates, by key
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
  {{- /* The other fields of these two are in the service config. */ -}}
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
