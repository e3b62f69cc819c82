{{/*
What the service asks for in the namespaces that it scales, and nothing else: it reads pods and targets, patches /scale,
and writes Events; pods it writes to only where podDeletionCost is enabled. Kinds outside of apps are known by their /scale alone. HorizontalPodAutoscalers are listed to leave
alone what another one scales, and watched next to a dry run. Documents that are objects of the cluster it reads, and writes their status.
*/}}
{{- define "promscaler.rules" -}}
{{- $apps := list -}}
{{- $groups := dict -}}
{{- range .Values.targets -}}
  {{- if contains "." . -}}
    {{- $parts := splitn "." 2 . -}}
    {{- $_ := set $groups $parts._1 (append (default list (get $groups $parts._1)) $parts._0) -}}
  {{- else if eq . "replicationcontrollers" -}}
    {{- $_ := set $groups "" (list .) -}}
  {{- else -}}
    {{- $apps = append $apps . -}}
  {{- end -}}
{{- end -}}
- apiGroups: ['']
  resources: [pods]
  verbs: [list, watch]
{{- if .Values.podDeletionCost.enabled }}
- apiGroups: ['']
  resources: [pods]
  verbs: [patch]
{{- end }}
{{- if $apps }}
- apiGroups: [apps]
  resources: {{ toJson $apps }}
  verbs: [list, watch]
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
  verbs: [list, watch]
{{- if .Values.crd.enabled }}
- apiGroups: [promscaler.dev]
  resources: [scalers]
  verbs: [get, list, watch]
- apiGroups: [promscaler.dev]
  resources: [scalers/status]
  verbs: [patch]
{{- end }}
{{- end -}}

{{/*
What it asks for in its own namespace. The Lease is made by the service and is no part of the release: Argo CD leaves
every Lease out of what it applies, and one that somebody deletes comes back by itself. A right to create cannot be
narrowed to a name: the name is not known yet when it is checked.
*/}}
{{- define "promscaler.ownRules" -}}
{{- if .Values.leaderElection.enabled }}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [promscaler]
  verbs: [get, update]
{{- end }}
{{- if .Values.state.enabled }}
- apiGroups: ['']
  resources: [configmaps]
  resourceNames:
    {{- range fromJsonArray (include "promscaler.stateNames" .) }}
    - {{ . }}
    {{- end }}
  verbs: [get, patch]
{{- end }}
{{- end -}}
