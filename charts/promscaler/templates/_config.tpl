{{/* The service config: that of the values, and what the chart settles itself. */}}
{{- define "promscaler.config" -}}
{{- $config := deepCopy (default dict .Values.config) -}}
{{- with .Values.prometheus.url -}}
  {{- $sources := default dict $config.prometheus -}}
  {{- $source := default dict $sources.default -}}
  {{- if hasKey $source "urls" -}}
    {{- fail "prometheus.url and config.prometheus.default.urls are both given: prometheus.url is a shortcut for the other, set one of them" -}}
  {{- end -}}
  {{- $_ := set $config "prometheus" (merge (dict "default" (merge (dict "urls" (list .)) $source)) $sources) -}}
{{- end -}}
{{- $_ := set $config "kubernetes" (dict "namespaces" .Values.namespaces) -}}
{{- $_ := set $config "scalers" (dict "paths" (list "/etc/promscaler/scalers")) -}}
{{- $_ := set $config "server" (dict "port" 8080) -}}
{{- toYaml $config -}}
{{- end -}}
