{{/*
What the service asks for, and nothing else: it reads pods and targets, patches /scale, and writes Events. Kinds outside
of apps are known by their /scale alone. HorizontalPodAutoscalers are listed to leave alone what another one scales.
*/}}
{{- define "promscaler.rules" -}}
{{- $apps := list -}}
{{- $groups := dict -}}
{{- range .Values.targets -}}
  {{- if contains "." . -}}
    {{- $parts := splitn "." 2 . -}}
    {{- $_ := set $groups $parts._1 (append (default list (get $groups $parts._1)) $parts._0) -}}
  {{- else -}}
    {{- $apps = append $apps . -}}
  {{- end -}}
{{- end -}}
- apiGroups: ['']
  resources: [pods]
  verbs: [get, list, watch]
{{- if $apps }}
- apiGroups: [apps]
  resources: {{ toJson $apps }}
  verbs: [get, list, watch]
{{- $_ := set $groups "apps" $apps }}
{{- end }}
{{- range $group, $plurals := $groups }}
- apiGroups: [{{ $group | quote }}]
  resources:
    {{- range $plurals }}
    - {{ printf "%s/scale" . }}
    {{- end }}
  verbs: [get, patch]
{{- end }}
- apiGroups: ['', events.k8s.io]
  resources: [events]
  verbs: [create, patch]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [list]
{{- end -}}
