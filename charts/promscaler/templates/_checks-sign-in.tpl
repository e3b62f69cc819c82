{{/*
What contradicts itself in the ways of signing in to a managed Prometheus.
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
    {{- $problems = append $problems (printf "%s has %s: a query is signed in one way, leave one of them" $path (join " and " $ways)) -}}
  {{- end -}}
  {{- $keys := default dict (default dict (get $credentials $name)).keys -}}
  {{- if hasKey $source "oauth2" -}}
    {{- if not (or $source.oauth2.clientSecretFile $keys.clientSecret) -}}
      {{- $problems = append $problems (printf "%s.oauth2 has no client secret: name the Secret that holds it, credentials.%s: { existingSecret: SECRET, keys: { clientSecret: KEY } }" $path $name) -}}
    {{- end -}}
    {{- if not (regexMatch "^https?://[^\\s@?#/]+(/[^\\s@?#]*)?$" $source.oauth2.tokenUrl) -}}
      {{- $problems = append $problems (printf "%s.oauth2.tokenUrl must be an http or https URL without user, password, query and fragment" $path) -}}
    {{- end -}}
    {{- range $param, $_ := default dict $source.oauth2.endpointParams -}}
      {{- if regexMatch "(?i)secret|password|assertion|token$" $param -}}
        {{- $problems = append $problems (printf "%s.oauth2.endpointParams.%s would stand in a ConfigMap, for everyone to read: the client's secret is credentials.%s.keys.clientSecret, no other one can be given" $path $param $name) -}}
      {{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- $sources := default dict (default dict .Values.config).prometheus -}}
{{- range $name, $given := $credentials -}}
  {{- $keys := default dict $given.keys -}}
  {{- $source := default dict (get $sources $name) -}}
  {{- if $given.clientSecret -}}
    {{- $problems = append $problems (printf "credentials.%s.clientSecret stands in the values in clear, and would in helm's record of the release: put it into a Secret, and name that: credentials.%s: { existingSecret: SECRET, keys: { clientSecret: KEY } }" $name $name) -}}
  {{- end -}}
  {{- range $part, $field := dict "clientSecret" (list "oauth2" "clientSecretFile") "awsCredentials" (list "sigv4" "credentialsFile") -}}
    {{- $way := first $field -}}
    {{- if not (get $keys $part) -}}
    {{- else if not (hasKey $source $way) -}}
      {{- $problems = append $problems (printf "credentials.%s.keys.%s is for config.prometheus.%s.%s, which is not given" $name $part $name $way) -}}
    {{- else if get (get $source $way) (last $field) -}}
      {{- $problems = append $problems (printf "credentials.%s.keys.%s and config.prometheus.%s.%s.%s are both given: set one of them" $name $part $name $way (last $field)) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- toJson $problems -}}
{{- end -}}

{{/* Whom the cloud takes the pod for. */}}
{{- define "promscaler.checks.identity" -}}
{{- $problems := list -}}
{{- $account := .Values.serviceAccount -}}
{{- $annotations := default dict $account.annotations -}}
{{- if and $annotations (not $account.create) -}}
  {{- $problems = append $problems (printf "serviceAccount.annotations are written nowhere, for serviceAccount.create is false: annotate the account %s yourself" (default "default" $account.name)) -}}
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
    {{- $problems = append $problems (printf "%s needs podLabels %s: \"true\", without which AKS gives the pod no token of its identity; \"false\" where the identity of the machine is meant" $path $label) -}}
  {{- else if and (eq $use "false") $hasIdentity -}}
    {{- $problems = append $problems (printf "%s: podLabels %s is \"false\", and serviceAccount.annotations name an identity: it would not be used" $path $label) -}}
  {{- else if and (eq $use "true") $account.create (not $hasIdentity) (not (default dict $source.azure).clientId) -}}
    {{- $problems = append $problems (printf "%s: no identity is named. Set serviceAccount.annotations azure.workload.identity/client-id, or %s.clientId" $path $path) -}}
  {{- end -}}
{{- end -}}
{{- toJson $problems -}}
{{- end -}}

{{/* Variables that hold secrets, or name files that no volume brings. */}}
{{- define "promscaler.checks.environment" -}}
{{- $problems := list -}}
{{- $mounted := default list .Values.secrets -}}
{{- range .Values.extraEnv -}}
  {{- $value := toString (default "" .value) -}}
  {{- if and $value (has .name (list "AWS_SECRET_ACCESS_KEY" "AWS_SESSION_TOKEN" "AZURE_CLIENT_SECRET")) -}}
    {{- $problems = append $problems (printf "extraEnv: %s would stand in the Deployment, for everyone to read: take valueFrom: { secretKeyRef: { name: SECRET, key: KEY } }" .name) -}}
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
