{{/* What the pod of the service and that of helm test have in common. */}}

{{- define "promscaler.podSettings" -}}
serviceAccountName: {{ include "promscaler.serviceAccountName" . | quote }}
automountServiceAccountToken: true
enableServiceLinks: false
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  {{- /* OpenShift gives each namespace users of its own, and refuses all others. */}}
  {{- if not (.Capabilities.APIVersions.Has "security.openshift.io/v1") }}
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  {{- end }}
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: config
    configMap:
      name: {{ include "promscaler.fullname" . }}-config
  - name: scalers
    configMap:
      name: {{ include "promscaler.fullname" . }}-scalers
  {{- range $index, $name := .Values.scalerConfigMaps }}
  - name: scalers-{{ $index }}
    configMap:
      name: {{ $name | quote }}
      # It may come later than the pod, and go before it.
      optional: true
  {{- end }}
  {{- range $index, $secret := .Values.secrets }}
  - name: secret-{{ $index }}
    secret:
      secretName: {{ $secret | quote }}
      # 0440, by the group of fsGroup.
      defaultMode: 288
  {{- end }}
  {{- $own := printf "%s-credentials" (include "promscaler.fullname" .) }}
  {{- range $index, $source := keys (default dict .Values.credentials) | sortAlpha }}
  - name: credentials-{{ $index }}
    projected:
      defaultMode: 288
      sources:
        {{- range get (fromJson (include "promscaler.credentials" $)).mounts $source }}
        - secret:
            name: {{ default $own .secret | quote }}
            items:
              - key: {{ .key | quote }}
                path: {{ .path }}
        {{- end }}
  {{- end }}
{{- end -}}

{{- define "promscaler.containerSettings" -}}
image: {{ include "promscaler.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  - name: POD_NAME
    valueFrom:
      fieldRef:
        fieldPath: metadata.name
  - name: POD_NAMESPACE
    valueFrom:
      fieldRef:
        fieldPath: metadata.namespace
  {{- with include "promscaler.heapMebibytes" . }}
  # Three quarters of the memory limit: the rest is for what is not on the heap.
  - name: NODE_OPTIONS
    value: --max-old-space-size={{ . }}
  {{- end }}
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .Values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: config
    mountPath: /etc/promscaler/config
    readOnly: true
  # The folder, no subPath: the kubelet never updates a file that is mounted by itself.
  - name: scalers
    mountPath: /etc/promscaler/scalers
    readOnly: true
  {{- range $index, $name := .Values.scalerConfigMaps }}
  - name: scalers-{{ $index }}
    mountPath: /etc/promscaler/scaler-configmaps/{{ $name }}
    readOnly: true
  {{- end }}
  {{- range $index, $secret := .Values.secrets }}
  - name: secret-{{ $index }}
    mountPath: /etc/promscaler/secrets/{{ $secret }}
    readOnly: true
  {{- end }}
  {{- range $index, $source := keys (default dict .Values.credentials) | sortAlpha }}
  - name: credentials-{{ $index }}
    mountPath: /etc/promscaler/credentials/{{ $source }}
    readOnly: true
  {{- end }}
{{- end -}}

{{/* Empty without a limit in Mi or Gi, and where NODE_OPTIONS is set by the values. */}}
{{- define "promscaler.heapMebibytes" -}}
{{- $isSet := false -}}
{{- range .Values.extraEnv -}}
  {{- if eq .name "NODE_OPTIONS" -}}{{- $isSet = true -}}{{- end -}}
{{- end -}}
{{- $limit := toString (default "" (default dict (default dict .Values.resources).limits).memory) -}}
{{- if and (not $isSet) (regexMatch "^[1-9][0-9]*[MG]i$" $limit) -}}
  {{- $number := regexFind "^[0-9]+" $limit | int -}}
  {{- div (mul $number (ternary 1024 1 (hasSuffix "Gi" $limit)) 3) 4 -}}
{{- end -}}
{{- end -}}
