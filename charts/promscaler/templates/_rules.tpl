{{/*
Exactly the permissions that the service uses in the scaled namespaces. src/service/permissions.ts has the use of each.
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
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [list, watch]
{{- if .Values.crd.enabled }}
{{ include "promscaler.scalerRules" . }}
{{- end }}
{{- end -}}

{{- define "promscaler.scalerRules" -}}
- apiGroups: [promscaler.dev]
  resources: [scalers]
  verbs: [list, watch]
- apiGroups: [promscaler.dev]
  resources: [scalers/status]
  verbs: [patch]
{{- end -}}

{{/*
The permissions in the namespace of the release. The service creates the Lease, so it is not part of the release: Argo CD
ignores every Lease, and a deleted one is recreated. RBAC cannot restrict `create` to a name: the name is unknown when the
request is authorized.
*/}}
{{- define "promscaler.ownRules" -}}
{{- if .Values.sharding.enabled }}
# Each replica has its own Lease, whose name is unknown here. `get` is for the Lease of leader election, which shows
# replicas that still run without sharding.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create, get, list, update, delete]
# The pods of the release: the Lease of any other client is not that of a replica.
- apiGroups: ['']
  resources: [pods]
  verbs: [list]
{{- else if .Values.leaderElection.enabled }}
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
