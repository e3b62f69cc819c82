{{/* Names and labels. */}}

{{- define "promscaler.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* 50 characters, because derived names (-credentials) must fit into 63. */}}
{{- define "promscaler.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "promscaler.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "promscaler.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "promscaler.selectorLabels" -}}
app.kubernetes.io/name: {{ include "promscaler.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/*
The pod of the test has another name label: with the labels of the selector it would be an endpoint of the Service.
*/}}
{{- define "promscaler.testName" -}}
{{- printf "%s-test" (include "promscaler.name" . | trunc 58) -}}
{{- end -}}

{{/* Labels of selectors and of Helm take precedence over commonLabels. */}}
{{- define "promscaler.labels" -}}
{{- $own := fromYaml (include "promscaler.selectorLabels" .) -}}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_") -}}
{{- $_ := set $own "app.kubernetes.io/version" .Chart.AppVersion -}}
{{- $_ := set $own "app.kubernetes.io/managed-by" .Release.Service -}}
{{- merge $own (default dict .Values.commonLabels) | toYaml -}}
{{- end -}}

{{/* `replicaCount`, the name that most charts use, takes precedence if set. */}}
{{- define "promscaler.replicas" -}}
{{- kindIs "invalid" .Values.replicaCount | ternary .Values.replicas .Values.replicaCount | int -}}
{{- end -}}

{{/* Not empty if several replicas run, which ask each other. */}}
{{- define "promscaler.hasPeers" -}}
{{- if or .Values.sharding.enabled (gt (int (include "promscaler.replicas" .)) 1) -}}
true
{{- end -}}
{{- end -}}

{{- define "promscaler.peerSecret" -}}
{{- default (printf "%s-peers" (include "promscaler.fullname" .)) .Values.peers.existingSecret -}}
{{- end -}}

{{- define "promscaler.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "promscaler.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "promscaler.image" -}}
{{- $repository := .Values.image.repository -}}
{{- with default .Values.image.registry (default dict .Values.global).imageRegistry -}}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) $repository -}}
{{- end -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/*
Names of cluster-wide objects contain the namespace of the release: two releases with one name in two namespaces would
otherwise own the same object.
*/}}
{{- define "promscaler.roleName" -}}
{{- printf "%s-%s" .Release.Namespace (include "promscaler.fullname" .) -}}
{{- end -}}

{{/*
The namespaces of the in-cluster Services among `urls`, as JSON: NAME, NAME.NAMESPACE and NAME.NAMESPACE.svc... name one.
*/}}
{{- define "promscaler.namespacesOf" -}}
{{- $namespaces := dict -}}
{{- range .urls -}}
{{- $hostname := (urlParse .).hostname -}}
{{- $labels := splitList "." $hostname -}}
{{- if regexMatch "^[0-9.]+$|:" $hostname -}}
{{- else if eq (len $labels) 1 -}}
{{- $_ := set $namespaces $.release true -}}
{{- else if or (eq (len $labels) 2) (eq (index $labels 2) "svc") -}}
{{- $_ := set $namespaces (index $labels 1) true -}}
{{- end -}}
{{- end -}}
{{- keys $namespaces | sortAlpha | toJson -}}
{{- end -}}

{{/* The namespaces whose pods may connect to port 8080, as JSON: that of the release, and those of its data sources. */}}
{{- define "promscaler.admittedNamespaces" -}}
{{- $urls := list -}}
{{- range $source := default (dict "default" dict) (fromJson (include "promscaler.sources" .)) -}}
{{- $urls = concat $urls (default (list "http://prometheus:9090") $source.urls) -}}
{{- end -}}
{{- $ofSources := fromJsonArray (include "promscaler.namespacesOf" (dict "urls" $urls "release" .Release.Namespace)) -}}
{{- append $ofSources .Release.Namespace | uniq | sortAlpha | toJson -}}
{{- end -}}

{{/*
The ConfigMaps of the state, as JSON. Their names are fixed in the service, so they contain neither the name of the release
nor that of the chart.
*/}}
{{- define "promscaler.stateNames" -}}
{{- $names := list -}}
{{- range $bucket := until 16 -}}
  {{- $names = append $names (printf "promscaler-state-%02d" $bucket) -}}
{{- end -}}
{{- toJson $names -}}
{{- end -}}

{{/* The end of the uids of the Grafana dashboards, which are unique among the releases of a Grafana. */}}
{{- define "promscaler.dashboardSuffix" -}}
{{- printf "%s/%s" .Release.Namespace (include "promscaler.fullname" .) | sha256sum | trunc 12 -}}
{{- end -}}
