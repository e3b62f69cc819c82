{{/*
Contradictions between the authentication methods of managed Prometheus services.
*/}}
{{- define "promscaler.checks.signIn" -}}
{{- $problems := list -}}
{{- $credentials := default dict .Values.credentials -}}
{{- range $name, $source := default dict (default dict .Values.config).prometheus -}}
  {{- $path := printf "config.prometheus.%s" $name -}}
  {{- $ways := list -}}
  {{- range $way := list "bearerTokenFile" "basicAuth" "oauth2" "sigv4" "azure" "google" -}}
    {{- if hasKey $source $way -}}{{- $ways = append $ways $way -}}{{- end -}}
  {{- end -}}
  {{- if gt (len $ways) 1 -}}
    {{- $problems = append $problems (printf "%s has %s: a data source has one authentication method. Keep one of them" $path (join " and " $ways)) -}}
  {{- end -}}
  {{- $keys := default dict (default dict (get $credentials $name)).keys -}}
  {{- if hasKey $source "oauth2" -}}
    {{- if not (or $source.oauth2.clientSecretFile $keys.clientSecret) -}}
      {{- $problems = append $problems (printf "%s.oauth2 has no client secret: set the Secret that contains it, credentials.%s: { existingSecret: SECRET, keys: { clientSecret: KEY } }" $path $name) -}}
    {{- end -}}
    {{- if not (regexMatch "^https?://[^\\s@?#/]+(/[^\\s@?#]*)?$" $source.oauth2.tokenUrl) -}}
      {{- $problems = append $problems (printf "%s.oauth2.tokenUrl must be an http or https URL without user, password, query and fragment" $path) -}}
    {{- end -}}
    {{- range $param, $_ := default dict $source.oauth2.endpointParams -}}
      {{- if regexMatch "(?i)secret|password|assertion|token$" $param -}}
        {{- $problems = append $problems (printf "%s.oauth2.endpointParams.%s would be readable in a ConfigMap: only the client secret can be set, as credentials.%s.keys.clientSecret" $path $param $name) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- $sources := default dict (default dict .Values.config).prometheus -}}
{{- range $name, $given := $credentials -}}
  {{- $keys := default dict $given.keys -}}
  {{- $source := default dict (get $sources $name) -}}
  {{- if $given.clientSecret -}}
    {{- $problems = append $problems (printf "credentials.%s.clientSecret is in clear text in the values, and would be in the release record of Helm: create a Secret and reference it: credentials.%s: { existingSecret: SECRET, keys: { clientSecret: KEY } }" $name $name) -}}
  {{- end -}}
  {{- range $part, $field := dict "clientSecret" (list "oauth2" "clientSecretFile") "awsCredentials" (list "sigv4" "credentialsFile") -}}
    {{- $way := first $field -}}
    {{- if not (get $keys $part) -}}
    {{- else if not (hasKey $source $way) -}}
      {{- $problems = append $problems (printf "credentials.%s.keys.%s is for config.prometheus.%s.%s, which is not set" $name $part $name $way) -}}
    {{- else if get (get $source $way) (last $field) -}}
      {{- $problems = append $problems (printf "credentials.%s.keys.%s and config.prometheus.%s.%s.%s are both set: set one of them" $name $part $name $way (last $field)) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- toJson $problems -}}
{{- end -}}

{{/* The cloud identity of the pod. */}}
{{- define "promscaler.checks.identity" -}}
{{- $problems := list -}}
{{- $account := .Values.serviceAccount -}}
{{- $annotations := default dict $account.annotations -}}
{{- if and $annotations (not $account.create) -}}
  {{- $problems = append $problems (printf "serviceAccount.annotations have no effect because serviceAccount.create is false: annotate the service account %s yourself" (default "default" $account.name)) -}}
{{- end -}}
{{- $forms := dict "eks.amazonaws.com/role-arn" (list "^arn:aws[a-z-]*:iam::[0-9]{12}:role/.+$" "arn:aws:iam::ACCOUNT:role/NAME") -}}
{{- $_ := set $forms "azure.workload.identity/client-id" (list "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$" "the client id of the managed identity, a UUID") -}}
{{- $_ := set $forms "iam.gke.io/gcp-service-account" (list "^[^@\\s]+@[^@\\s]+\\.iam\\.gserviceaccount\\.com$" "NAME@PROJECT.iam.gserviceaccount.com") -}}
{{- range $annotation, $form := $forms -}}
  {{- if and (hasKey $annotations $annotation) (not (regexMatch (first $form) (get $annotations $annotation))) -}}
    {{- $problems = append $problems (printf "serviceAccount.annotations %s is %q, must be %s" $annotation (get $annotations $annotation) (last $form)) -}}
  {{- end -}}
{{- end -}}
{{- $label := "azure.workload.identity/use" -}}
{{- $use := get (merge (dict) (default dict .Values.podLabels) (default dict .Values.commonLabels)) $label -}}
{{- $hasIdentity := hasKey $annotations "azure.workload.identity/client-id" -}}
{{- range $name, $source := default dict (default dict .Values.config).prometheus -}}
  {{- $path := printf "config.prometheus.%s.azure" $name -}}
  {{- if not (hasKey $source "azure") -}}
  {{- else if not (has $use (list "true" "false")) -}}
    {{- $problems = append $problems (printf "%s needs podLabels %s: \"true\", without which AKS does not inject a token into the pod; \"false\" selects the identity of the node" $path $label) -}}
  {{- else if and (eq $use "false") $hasIdentity -}}
    {{- $problems = append $problems (printf "%s: podLabels %s is \"false\", and serviceAccount.annotations set an identity: it would not be used" $path $label) -}}
  {{- else if and (eq $use "true") $account.create (not $hasIdentity) (not (default dict $source.azure).clientId) -}}
    {{- $problems = append $problems (printf "%s: no identity is set. Set serviceAccount.annotations azure.workload.identity/client-id, or %s.clientId" $path $path) -}}
  {{- end -}}
{{- end -}}
{{- toJson $problems -}}
{{- end -}}

{{/* Variables that contain secrets, or name files that no volume provides. */}}
{{- define "promscaler.checks.environment" -}}
{{- $problems := list -}}
{{- $mounted := default list .Values.secrets -}}
{{- range .Values.extraEnv -}}
  {{- $value := toString (default "" .value) -}}
  {{- if and $value (has .name (list "AWS_SECRET_ACCESS_KEY" "AWS_SESSION_TOKEN" "AZURE_CLIENT_SECRET")) -}}
    {{- $problems = append $problems (printf "extraEnv: %s would be readable in the Deployment. Use valueFrom: { secretKeyRef: { name: SECRET, key: KEY } }" .name) -}}
  {{- end -}}
  {{- if hasPrefix "/etc/promscaler/secrets/" $value -}}
    {{- $secret := index (splitList "/" $value) 4 -}}
    {{- if not (has $secret $mounted) -}}
      {{- $problems = append $problems (printf "extraEnv: %s names a file of the Secret %s, which `secrets` does not list" .name $secret) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- toJson $problems -}}
{{- end -}}
