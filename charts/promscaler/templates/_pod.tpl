{{/* Shared parts of the pods of the service and of helm test. */}}

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
{{- with .Values.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- $context := dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault") }}
  {{- /* OpenShift assigns each namespace a user range and rejects other users. */}}
  {{- if not (.Capabilities.APIVersions.Has "security.openshift.io/v1") }}
  {{- $_ := mergeOverwrite $context (dict "runAsUser" 65532 "runAsGroup" 65532 "fsGroup" 65532) }}
  {{- end }}
  {{- include "promscaler.overlay" (dict "under" $context "over" .Values.podSecurityContext) | nindent 2 }}
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
      # It may be created after the pod, and deleted before it.
      optional: true
  {{- end }}
  {{- range $index, $secret := .Values.secrets }}
  - name: secret-{{ $index }}
    secret:
      secretName: {{ $secret | quote }}
      # 0440, readable by the group fsGroup.
      defaultMode: 288
  {{- end }}
  {{- if include "promscaler.hasPeers" . }}
  - name: peers
    secret:
      secretName: {{ include "promscaler.peerSecret" . | quote }}
      defaultMode: 288
      # Without the key replicas only do not ask each other.
      optional: true
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
  {{- if .Values.record.enabled }}
  - name: record
    {{- if .Values.record.existingClaim }}
    persistentVolumeClaim:
      claimName: {{ .Values.record.existingClaim | quote }}
    {{- else }}
    emptyDir:
      # Some room above the limit of all files: the kubelet evicts a pod that exceeds it.
      sizeLimit: {{ add 64 (div (mul (int64 .Values.record.maxFileBytes) (int64 .Values.record.maxFiles)) 1048576) }}Mi
    {{- end }}
  {{- end }}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* As YAML: constraints without a labelSelector select the pods of the release. Empty: spread over nodes, if possible. */}}
{{- define "promscaler.topologySpread" -}}
{{- $constraints := default list .Values.topologySpreadConstraints -}}
{{- if and (not $constraints) (gt (int (include "promscaler.replicas" .)) 1) -}}
  {{- $constraints = list (dict "maxSkew" 1 "topologyKey" "kubernetes.io/hostname" "whenUnsatisfiable" "ScheduleAnyway") -}}
{{- end -}}
{{- $selector := dict "labelSelector" (dict "matchLabels" (fromYaml (include "promscaler.selectorLabels" .))) -}}
{{- $complete := list -}}
{{- range $constraints -}}
  {{- $complete = append $complete (hasKey . "labelSelector" | ternary . (merge (deepCopy $selector) .)) -}}
{{- end -}}
{{- toYaml $complete -}}
{{- end -}}

{{/* `under` with the keys of `over` replaced, as YAML. mergeOverwrite would skip false and 0. */}}
{{- define "promscaler.overlay" -}}
{{- $result := .under -}}
{{- range $key, $value := default dict .over -}}
  {{- $_ := set $result $key $value -}}
{{- end -}}
{{- toYaml $result -}}
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
  {{- if include "promscaler.hasPeers" . }}
  # The other replicas ask it for its scalers.
  - name: POD_IP
    valueFrom:
      fieldRef:
        fieldPath: status.podIP
  {{- end }}
  {{- if .Values.sharding.enabled }}
  # Leases of others than these pods are not those of replicas.
  - name: POD_SELECTOR
    value: {{ printf "app.kubernetes.io/name=%s,app.kubernetes.io/instance=%s" (include "promscaler.name" .) .Release.Name | quote }}
  {{- end }}
  {{- with include "promscaler.memoryMebibytes" . }}
  # The heap gets three quarters of the memory limit: the rest is for memory outside the heap. With the default
  # semi-space of Node.js 24, 1,000 scalers take 90 MB more.
  - name: NODE_OPTIONS
    value: --max-old-space-size={{ div (mul . 3) 4 }} --max-semi-space-size={{ ternary 16 8 (ge (int .) 1024) }}
  {{- end }}
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .Values.envFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- $context := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL")) }}
  {{- include "promscaler.overlay" (dict "under" $context "over" .Values.securityContext) | nindent 2 }}
volumeMounts:
  - name: config
    mountPath: /etc/promscaler/config
    readOnly: true
  # The directory, without subPath: the kubelet never updates a file mounted with subPath.
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
  {{- if include "promscaler.hasPeers" . }}
  - name: peers
    mountPath: /etc/promscaler/peers
    readOnly: true
  {{- end }}
  {{- range $index, $source := keys (default dict .Values.credentials) | sortAlpha }}
  - name: credentials-{{ $index }}
    mountPath: /etc/promscaler/credentials/{{ $source }}
    readOnly: true
  {{- end }}
  {{- if .Values.record.enabled }}
  - name: record
    mountPath: /var/lib/promscaler
  {{- end }}
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* The memory limit. Empty without a limit in Mi or Gi, or if the values set NODE_OPTIONS. */}}
{{- define "promscaler.memoryMebibytes" -}}
{{- $isSet := false -}}
{{- range .Values.extraEnv -}}
  {{- if eq .name "NODE_OPTIONS" -}}{{- $isSet = true -}}{{- end -}}
{{- end -}}
{{- $limit := toString (default "" (default dict (default dict .Values.resources).limits).memory) -}}
{{- if and (not $isSet) (regexMatch "^[1-9][0-9]*[MG]i$" $limit) -}}
  {{- $number := regexFind "^[0-9]+" $limit | int -}}
  {{- mul $number (ternary 1024 1 (hasSuffix "Gi" $limit)) -}}
{{- end -}}
{{- end -}}
