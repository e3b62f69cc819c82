{{/*
Finds values that contradict each other, which values.schema.json cannot express. All of them are reported at once.
*/}}
{{- define "promscaler.checks" -}}
{{- $problems := list -}}
{{- range list "service" "pod" "sources" "credentials" "signIn" "identity" "environment" "files" "documents" -}}
  {{- $problems = concat $problems (fromJsonArray (include (printf "promscaler.checks.%s" .) $)) -}}
{{- end -}}
{{- if $problems -}}
  {{- fail (printf "\n\n- %s\n" (join "\n- " $problems)) -}}
{{- end -}}
{{- end -}}

{{- define "promscaler.checks.service" -}}
{{- $problems := list -}}
{{- $values := .Values -}}
{{- $replicas := int (include "promscaler.replicas" .) -}}
{{- if and (gt $replicas 1) (not $values.leaderElection.enabled) -}}
  {{- $problems = append $problems (printf "replicas is %d and leaderElection.enabled is false: every replica would scale. Enable leader election, or set replicas to 1" $replicas) -}}
{{- end -}}
{{- range $name := list "leaderElection" "state" -}}
  {{- if and $values.sharding.enabled (not (get $values $name).enabled) -}}
    {{- $problems = append $problems (printf "sharding.enabled is true and %s.enabled is false: a replica could not take over the scalers of another one. Set %s.enabled to true" $name $name) -}}
  {{- end -}}
{{- end -}}
{{- if and (ne $replicas (int $values.replicas)) (ne (int $values.replicas) 1) -}}
  {{- $problems = append $problems (printf "replicas is %d and replicaCount is %d: set one of them" (int $values.replicas) $replicas) -}}
{{- end -}}
{{- $lease := int (default 15 $values.leaderElection.leaseDurationSeconds) -}}
{{- $renew := int (default 10 $values.leaderElection.renewDeadlineSeconds) -}}
{{- $retry := int (default 2 $values.leaderElection.retryPeriodSeconds) -}}
{{- if not (and (gt $lease $renew) (gt (mul 10 $renew) (mul 12 $retry))) -}}
  {{- $problems = append $problems (printf "leaderElection: leaseDurationSeconds (%d) must be above renewDeadlineSeconds (%d), and that above 1.2 times retryPeriodSeconds (%d)" $lease $renew $retry) -}}
{{- end -}}
{{- if and $values.auth.tokenReview $values.auth.bearerTokenFile -}}
  {{- $problems = append $problems "auth.tokenReview and auth.bearerTokenFile are both set: set one of them" -}}
{{- end -}}
{{- if hasPrefix "/etc/promscaler/secrets/" $values.auth.bearerTokenFile -}}
  {{- $secret := index (splitList "/" $values.auth.bearerTokenFile) 4 -}}
  {{- if not (has $secret (default list $values.secrets)) -}}
    {{- $problems = append $problems (printf "auth.bearerTokenFile names a file of the Secret %s, which `secrets` does not list" $secret) -}}
  {{- end -}}
{{- end -}}
{{- if and (gt $replicas 1) $values.record.enabled $values.record.existingClaim -}}
  {{- $problems = append $problems (printf "record.existingClaim is set and replicas is %d: the replicas would write to the same file. Leave record.existingClaim empty, or set replicas to 1" $replicas) -}}
{{- end -}}
{{- if and $values.serviceMonitor.enabled $values.service.scrapeAnnotations -}}
  {{- $problems = append $problems "serviceMonitor.enabled and service.scrapeAnnotations are both true: the metrics would be scraped twice. Set one of them" -}}
{{- end -}}
{{- if and $values.ingress.enabled (not $values.ingress.hosts) -}}
  {{- $problems = append $problems "ingress.enabled is true and ingress.hosts is empty: the service answers no host that it does not know. Set ingress.hosts" -}}
{{- end -}}
{{- if and $values.service.nodePort (eq $values.service.type "ClusterIP") -}}
  {{- $problems = append $problems (printf "service.nodePort is %d and service.type is ClusterIP, which has no port on the nodes. Set service.type to NodePort or LoadBalancer" (int $values.service.nodePort)) -}}
{{- end -}}
{{- $strategy := default dict $values.updateStrategy -}}
{{- if and $strategy (not $values.leaderElection.enabled) (ne (toString $strategy.type) "Recreate") -}}
  {{- $problems = append $problems "updateStrategy is not of type Recreate and leaderElection.enabled is false: during an update two pods would both scale. Set updateStrategy.type to Recreate" -}}
{{- end -}}
{{- if and $values.prometheusRule.enabled (not $values.serviceMonitor.enabled) (not $values.prometheusRule.job) -}}
  {{- $problems = append $problems "prometheusRule.enabled needs serviceMonitor.enabled, or prometheusRule.job, the label `job` of its metrics. Without it no alert would match a series" -}}
{{- end -}}
{{- if and $values.rbac.create (not $values.serviceAccount.create) (not $values.serviceAccount.name) -}}
  {{- $problems = append $problems "serviceAccount.create is false and serviceAccount.name is empty: the permissions would go to the service account `default`, which every pod of the namespace uses. Set serviceAccount.name, or set rbac.create to false" -}}
{{- end -}}
{{- toJson $problems -}}
{{- end -}}

{{/* Names and paths that the pod already has, and settings that exclude each other. */}}
{{- define "promscaler.checks.pod" -}}
{{- $problems := list -}}
{{- $values := .Values -}}
{{- $names := list "POD_NAME" "POD_NAMESPACE" "POD_IP" "POD_SELECTOR" -}}
{{- range $values.extraEnv -}}
  {{- if has .name $names -}}
    {{- $problems = append $problems (printf "extraEnv: %s is already set" .name) -}}
  {{- end -}}
  {{- $names = append $names .name -}}
{{- end -}}
{{- $volumes := list -}}
{{- range $values.extraVolumes -}}
  {{- if or (has .name $volumes) (regexMatch "^(config|scalers|record|peers|(scalers|secret|credentials)-[0-9]+)$" .name) -}}
    {{- $problems = append $problems (printf "extraVolumes: the pod already has a volume %s. Choose another name" .name) -}}
  {{- end -}}
  {{- $volumes = append $volumes .name -}}
{{- end -}}
{{- range $values.extraVolumeMounts -}}
  {{- if not (has .name $volumes) -}}
    {{- $problems = append $problems (printf "extraVolumeMounts: extraVolumes has no volume %s" .name) -}}
  {{- end -}}
  {{- if regexMatch "^/etc/promscaler/(config|scalers|peers)(/|$)" .mountPath -}}
    {{- $problems = append $problems (printf "extraVolumeMounts: %s would hide files of the chart. Choose another mountPath" .mountPath) -}}
  {{- end -}}
{{- end -}}
{{- $budget := $values.podDisruptionBudget -}}
{{- if not (or (kindIs "invalid" $budget.minAvailable) (kindIs "invalid" $budget.maxUnavailable)) -}}
  {{- $problems = append $problems "podDisruptionBudget: minAvailable and maxUnavailable are both set: Kubernetes accepts one of them" -}}
{{- end -}}
{{- range $values.extraArgs -}}
  {{- if regexMatch "^--config(=|$)" . -}}
    {{- $problems = append $problems "extraArgs: --config is already set" -}}
  {{- end -}}
{{- end -}}
{{- toJson $problems -}}
{{- end -}}

{{- define "promscaler.checks.sources" -}}
{{- $problems := list -}}
{{- $sources := default dict (default dict .Values.config).prometheus -}}
{{- $default := default dict $sources.default -}}
{{- if and .Values.prometheus.url (hasKey $default "urls") -}}
  {{- $problems = append $problems "prometheus.url and config.prometheus.default.urls are both set: prometheus.url is a shortcut for the other. Set one of them" -}}
{{- end -}}
{{- range $name, $source := $sources -}}
  {{- $path := printf "config.prometheus.%s" $name -}}
  {{- range $index, $url := $source.urls -}}
    {{- if not (regexMatch "^https?://[^\\s@?#/]+(/[^\\s@?#]*)?$" $url) -}}
      {{- $problems = append $problems (printf "%s.urls[%d] must be an http or https URL without user, password, query and fragment" $path $index) -}}
    {{- end -}}
  {{- end -}}
  {{- range $header, $_ := default dict $source.headers -}}
    {{- if has (lower $header) (list "authorization" "proxy-authorization" "cookie") -}}
      {{- $problems = append $problems (printf "%s.headers.%s would be readable in a ConfigMap. Set credentials.%s (bearerToken, or username and password) instead" $path $header $name) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- toJson $problems -}}
{{- end -}}

{{- define "promscaler.checks.credentials" -}}
{{- $problems := list -}}
{{- $sources := default dict (default dict .Values.config).prometheus -}}
{{- $url := .Values.prometheus.url -}}
{{- range $name, $given := default dict .Values.credentials -}}
  {{- $path := printf "credentials.%s" $name -}}
  {{- $keys := default dict $given.keys -}}
  {{- $source := default dict (get $sources $name) -}}
  {{- if not (or (hasKey $sources $name) (and (eq $name "default") (or $url (not $sources)))) -}}
    {{- $problems = append $problems (printf "%s: config.prometheus names no data source %s" $path $name) -}}
  {{- end -}}
  {{- range $part := list "bearerToken" "password" "ca" "cert" "key" -}}
    {{- if and (get $given $part) (get $keys $part) -}}
      {{- $problems = append $problems (printf "%s.%s and %s.keys.%s are both set: set one of them" $path $part $path $part) -}}
    {{- end -}}
  {{- end -}}
  {{- if and $keys (not $given.existingSecret) -}}
    {{- $problems = append $problems (printf "%s.keys needs %s.existingSecret, the Secret that contains them" $path $path) -}}
  {{- else if and $given.existingSecret (not $keys) -}}
    {{- $problems = append $problems (printf "%s.existingSecret needs %s.keys, which select its keys: keys.bearerToken=token" $path $path) -}}
  {{- end -}}
  {{- $hasToken := or $given.bearerToken $keys.bearerToken -}}
  {{- $hasPassword := or $given.password $keys.password -}}
  {{- if and $hasToken $hasPassword -}}
    {{- $problems = append $problems (printf "%s has a bearerToken and a password: a request can have only one of them" $path) -}}
  {{- end -}}
  {{- if ne (empty $given.username) (empty $hasPassword) -}}
    {{- $problems = append $problems (printf "%s needs both username and password, or neither" $path) -}}
  {{- end -}}
  {{- if ne (empty (or $given.cert $keys.cert)) (empty (or $given.key $keys.key)) -}}
    {{- $problems = append $problems (printf "%s needs both cert and key, or neither" $path) -}}
  {{- end -}}
  {{- range $field := list "bearerTokenFile" "basicAuth" "oauth2" "sigv4" "azure" "google" -}}
    {{- if and (hasKey $source $field) (or $hasToken $hasPassword) -}}
      {{- $problems = append $problems (printf "%s and config.prometheus.%s.%s both set the Authorization header" $path $name $field) -}}
    {{- end -}}
  {{- end -}}
  {{- range $part := list "ca" "cert" "key" -}}
    {{- $field := printf "%sFile" $part -}}
    {{- if and (hasKey (default dict $source.tls) $field) (or (get $given $part) (get $keys $part)) -}}
      {{- $problems = append $problems (printf "%s.%s and config.prometheus.%s.tls.%s are both set: set one of them" $path $part $name $field) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- toJson $problems -}}
{{- end -}}

{{/* Files that the config names and no volume provides. */}}
{{- define "promscaler.checks.files" -}}
{{- $problems := list -}}
{{- $mounted := default list .Values.secrets -}}
{{- range $name, $source := default dict (default dict .Values.config).prometheus -}}
  {{- $basicAuth := default dict $source.basicAuth -}}
  {{- $tls := default dict $source.tls -}}
  {{- $files := dict "bearerTokenFile" $source.bearerTokenFile "basicAuth.passwordFile" $basicAuth.passwordFile "tls.caFile" $tls.caFile "tls.certFile" $tls.certFile "tls.keyFile" $tls.keyFile -}}
  {{- $oauth2 := default dict $source.oauth2 -}}
  {{- $tls = default dict $oauth2.tls -}}
  {{- $files = merge $files (dict "oauth2.clientSecretFile" $oauth2.clientSecretFile "oauth2.tls.caFile" $tls.caFile "oauth2.tls.certFile" $tls.certFile "oauth2.tls.keyFile" $tls.keyFile) -}}
  {{- $_ := set $files "sigv4.credentialsFile" (default dict $source.sigv4).credentialsFile -}}
  {{- range $field, $file := $files -}}
    {{- $path := printf "config.prometheus.%s.%s" $name $field -}}
    {{- if not $file -}}
    {{- else if not (hasPrefix "/" $file) -}}
      {{- $problems = append $problems (printf "%s must be an absolute path, such as /etc/promscaler/secrets/SECRET/KEY with secrets: [SECRET]" $path) -}}
    {{- else if hasPrefix "/etc/promscaler/secrets/" $file -}}
      {{- $secret := index (splitList "/" $file) 4 -}}
      {{- if not (has $secret $mounted) -}}
        {{- $problems = append $problems (printf "%s names a file of the Secret %s, which `secrets` does not list" $path $secret) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- toJson $problems -}}
{{- end -}}

{{/*
Kind, namespace and size of documents. A string that Helm cannot read as YAML is left to the service, which reads YAML 1.2
and reports the position of the error.
*/}}
{{- define "promscaler.checks.documents" -}}
{{- $problems := list -}}
{{- $namespaces := default list .Values.namespaces -}}
{{- $size := 0 -}}
{{- $seen := dict -}}
{{- range $name, $given := .Values.scalers -}}
  {{- $path := printf "scalers.%s" $name -}}
  {{- $documents := list $given -}}
  {{- if kindIs "string" $given -}}
    {{- $size = add $size (len $given) -}}
    {{- if regexMatch "^[^\\s:#{}\\[\\]]+$" (trim $given) -}}
      {{- $problems = append $problems (printf "%s is the string %q, not a document; to read a file, use --set-file %s=FILE" $path (trunc 60 (trim $given)) $path) -}}
    {{- end -}}
    {{- $documents = list -}}
    {{- range regexSplit "(?m)^---([ \\t].*)?$" $given -1 -}}
      {{- $documents = append $documents (fromYaml .) -}}
    {{- end -}}
  {{- else -}}
    {{- $size = add $size (len (toYaml $given)) -}}
  {{- end -}}
  {{- range $document := $documents -}}
    {{- if not (or (empty $document) (hasKey $document "Error")) -}}
      {{- $metadata := ternary $document.metadata dict (kindIs "map" $document.metadata) -}}
      {{- $namespace := $metadata.namespace -}}
      {{- $key := printf "%v/%v" $namespace $metadata.name -}}
      {{- with get $seen $key -}}
        {{- $problems = append $problems (printf "%s and %s are both called %s: the service would reject both" . $path $key) -}}
      {{- end -}}
      {{- if ne (toString $document.kind) "Scaler" -}}
        {{- $problems = append $problems (printf "%s: kind is %s, must be Scaler" $path (default "not given" (toString (default "" $document.kind)))) -}}
      {{- else if and $namespaces $namespace (not (has $namespace $namespaces)) -}}
        {{- $problems = append $problems (printf "%s is for the namespace %v, which `namespaces` does not list: promscaler has no permissions there" $path $namespace) -}}
      {{- end -}}
      {{- if and $namespace $metadata.name -}}
        {{- $_ := set $seen $key $path -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- if gt (int $size) 1000000 -}}
  {{- $problems = append $problems (printf "scalers: %d bytes, a ConfigMap holds at most 1 MiB. Move some of them to ConfigMaps of your own: scalerConfigMaps" (int $size)) -}}
{{- end -}}
{{- toJson $problems -}}
{{- end -}}
