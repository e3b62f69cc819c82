{{/* Alerts of the PrometheusRule. docs/guides/alerts.md explains each of them. */}}

{{/* Defaults of each alert; prometheusRule.alerts overrides single fields. */}}
{{- define "promscaler.alertDefaults" -}}
PromscalerNotWorking: { severity: critical, for: 5m }
PromscalerWithoutMetrics: { severity: warning, for: 10m }
PromscalerSourceFailing: { severity: warning, for: 10m, threshold: 0.5 }
PromscalerCannotFollow: { severity: warning, for: 15m }
PromscalerCannotScale: { severity: warning, for: 10m }
PromscalerConflict: { severity: warning, for: 15m }
PromscalerAtMaximum: { severity: warning, for: 15m }
PromscalerScaleUpHeld: { severity: info, for: 15m }
PromscalerCeilingUnknown: { severity: info, for: 10m }
PromscalerCapacityChanged: { severity: info, for: 5m }
PromscalerStateDegraded: { severity: warning, for: 5m }
PromscalerTargetNotReached: { severity: warning, for: 15m }
PromscalerConfigProblems: { severity: warning, for: 5m }
PromscalerLate: { severity: warning, for: 10m, threshold: 5 }
PromscalerRecordFailing: { severity: warning, for: 10m }
PromscalerNotificationsFailing: { severity: warning, for: 5m }
PromscalerPaused: { severity: info, for: 24h }
PromscalerHeld: { severity: info, for: 24h }
{{- end -}}

{{/*
The state of scalers, as labels `namespace` and `scaler`. Takes a list of the label `job` and of the matchers of the state.
`max by` ignores the pod and the state, so that `for` does not restart with the leader, or with another state that matches.
*/}}
{{- define "promscaler.inState" -}}
{{- printf "max by (namespace, scaler) (promscaler_scaler_state{%s, %s})" (index . 0) (index . 1) -}}
{{- end -}}

{{/*
The enabled alerts as YAML. An alert about a scaler selects its state, which every output shows: each state of severity
cannot-follow has one alert. Such an expression has an instant selector of the scaler: the series of a removed scaler,
and those of a replica that no longer leads, disappear at once, and a range alone would keep their alerts for its length.
*/}}
{{- define "promscaler.alerts" -}}
{{- $job := default (include "promscaler.fullname" .) .Values.prometheusRule.job -}}
{{- $release := .Release.Namespace -}}
{{- /* Metrics of a scaler have its namespace, metrics of the service have that of the release. */ -}}
{{- $scaler := printf "job=%q" $job -}}
{{- $service := printf "job=%q, namespace=%q" $job $release -}}
{{- $inactive := include "promscaler.inState" (list $scaler `state=~"Paused|DryRun"`) -}}
{{- $recommended := printf "max by (namespace, scaler) (promscaler_recommended_replicas{%s})" $scaler -}}
{{- $patchFails := printf "max by (namespace, scaler) (promscaler_condition{%s, type=\"AbleToScale\", reason=\"FailedUpdateScale\"})" $scaler -}}
{{- $name := "{{ $labels.namespace }}/{{ $labels.scaler }}" -}}
{{- $set := mustMergeOverwrite (fromYaml (include "promscaler.alertDefaults" .)) (deepCopy (default dict .Values.prometheusRule.alerts)) -}}
{{- /* PromQL rejects the range 0s. */ -}}
{{- $range := ternary $set.PromscalerCannotFollow.for "15m" (regexMatch "[1-9]" $set.PromscalerCannotFollow.for) }}
- alert: PromscalerNotWorking
  expr: >-
    absent(promscaler_leader{ {{- $service -}} } == 1)
  labels: { namespace: {{ $release | quote }} }
  summary: promscaler has no leader, so nothing is scaled.
  description: >-
    No replica leads, or none is scraped. Workloads keep their replicas. Check whether the pods of promscaler run, and read
    their logs:
    kubectl get pods -n {{ $release }}, kubectl logs -n {{ $release }} deployment/{{ include "promscaler.fullname" . }}
- alert: PromscalerWithoutMetrics
  expr: >-
    {{ include "promscaler.inState" (list $scaler `state="NoData"`) }}
  summary: {{ printf "%s has had no metrics for %s." $name $set.PromscalerWithoutMetrics.for | quote }}
  description: >-
    The replica count is held, or the fallback sets the count. promscaler explain {{ $name }}
    shows which metric has no value and why; promscaler doctor prints the fix.
- alert: PromscalerSourceFailing
  expr: >-
    sum by (source) (rate(promscaler_query_errors_total{ {{- $service -}} }[5m]))
    > {{ $set.PromscalerSourceFailing.threshold }} * sum by (source) (rate(promscaler_queries_total{ {{- $service -}} }[5m]))
  summary: {{ printf "More than %v %% of the queries to data source {{ $labels.source }} fail." (mulf 100 $set.PromscalerSourceFailing.threshold) | quote }}
  description: >-
    Scalers that use this data source are held. The label reason of promscaler_query_errors_total shows how queries fail; promscaler doctor
    finds the cause: address, credentials, certificate, network.
- alert: PromscalerCannotFollow
  # While one state lasts, its own alert fires. The state before it leaves the range before `for` has passed.
  expr: >-
    {{ include "promscaler.inState" (list $scaler `severity="cannot-follow"`) }}
    and on (namespace, scaler) count by (namespace, scaler) (max by (namespace, scaler, state) (
    last_over_time(promscaler_scaler_state{ {{- $scaler }}, severity="cannot-follow"}[{{ $range }}])
    )) > 1
  summary: {{ printf "%s has not followed its load for %s." $name $set.PromscalerCannotFollow.for | quote }}
  description: >-
    The cause changes, so that no other alert about the scaler fires for long. promscaler explain {{ $name }} shows the current
    cause, and the page of the scaler the states before it.
- alert: PromscalerCannotScale
  # Selects the severity, so that a new state has an alert.
  expr: >-
    {{ include "promscaler.inState" (list $scaler `severity="cannot-follow", state!~"Conflict|WriteFailed|PodsNotReady|NoData|AtMaximum"`) }}
    or {{ include "promscaler.inState" (list $scaler `state="WriteFailed"`) }} and {{ $patchFails }}
  summary: {{ printf "%s cannot be scaled." $name | quote }}
  description: >-
    The document is invalid, the target cannot be read, the API server rejects the PATCH, or nothing scales the target: the scaler is
    in dry run, and its HPA has no desired replicas or is gone. promscaler status {{ $name }} shows the cause.
- alert: PromscalerConflict
  expr: >-
    {{ include "promscaler.inState" (list $scaler `state="Conflict"`) }}
  summary: {{ printf "Another client sets the replicas of %s." $name | quote }}
  description: >-
    Another autoscaler scales the target, an admission webhook changes its replicas, or another client has replaced them again and
    again, the last time less than 10 minutes ago. The condition Held and the Events of promscaler explain {{ $name }} name that client.
- alert: PromscalerAtMaximum
  expr: >-
    {{ $recommended }}
    and {{ include "promscaler.inState" (list $scaler `state="AtMaximum"`) }}
  summary: {{ printf "%s has needed more than its maximum of replicas for %s." $name $set.PromscalerAtMaximum.for | quote }}
  description: >-
    The metrics recommend {{ "{{ $value }}" }} replicas, more than the maximum in effect, which the document, a schedule or the query
    of maxReplicasFrom sets.
    Raise the maximum if the load is real and the cluster has capacity.
- alert: PromscalerScaleUpHeld
  expr: >-
    {{ $recommended }}
    > max by (namespace, scaler) (promscaler_current_replicas{ {{- $scaler -}} })
    and {{ include "promscaler.inState" (list $scaler `state=~"Paused|Fixed"`) }}
  summary: {{ printf "%s has been held with fewer replicas than its load needs for %s." $name $set.PromscalerScaleUpHeld.for | quote }}
  description: >-
    The metrics recommend {{ "{{ $value }}" }} replicas, but the scaler is paused, its bounds are equal, or its document disables scale-ups.
    promscaler explain {{ $name }} shows who paused it and why.
- alert: PromscalerCeilingUnknown
  expr: >-
    max by (namespace, scaler) (promscaler_max_replicas_from_failing{ {{- $scaler -}} }) == 1
    unless {{ $inactive }}
  summary: {{ printf "The ceiling of %s has been unknown for %s." $name $set.PromscalerCeilingUnknown.for | quote }}
  description: >-
    The query of maxReplicasFrom has no value. The last value limits scale-ups; without a last value, maxReplicas does.
    promscaler doctor runs the query and prints the fix.
- alert: PromscalerCapacityChanged
  # The series exists only while the capacity differs by more than 10 percent from that of the days before.
  expr: >-
    max by (namespace, scaler, metric) (promscaler_metric_capacity_drift_ratio{ {{- $scaler -}} })
    unless on (namespace, scaler) {{ $inactive }}
  summary: {{ printf "The load that a pod of %s carries has changed." $name | quote }}
  description: >-
    The capacity that capacity.auto measures for {{ "{{ $labels.metric }}" }} has changed, most often by a release.
    promscaler explain {{ $name }} has the values and the start of the oldest pod.
- alert: PromscalerStateDegraded
  expr: >-
    {{ include "promscaler.inState" (list $scaler `state="WriteFailed"`) }} unless {{ $patchFails }}
  summary: {{ printf "The state of %s cannot be stored: no scale-down." $name | quote }}
  description: >-
    promscaler doctor shows which of the ConfigMaps promscaler-state-00 to -15 is missing, forbidden or damaged, and prints
    the fix.
- alert: PromscalerTargetNotReached
  expr: >-
    {{ include "promscaler.inState" (list $scaler `state="PodsNotReady"`) }}
  summary: {{ printf "%s has had fewer ready pods than replicas for %s." $name $set.PromscalerTargetNotReached.for | quote }}
  description: >-
    Pods have no node, crash, or do not become ready: more replicas do not help. The condition TargetReached of
    promscaler explain {{ $name }} counts the pods by reason. Check free capacity of the nodes, quotas
    and kubectl describe pod.
- alert: PromscalerConfigProblems
  expr: >-
    max(promscaler_config_problems{ {{- $service -}} }) > 0
    or min(promscaler_config_last_reload_successful{ {{- $service -}} }) == 0
  labels: { namespace: {{ $release | quote }} }
  summary: Scaler documents are rejected.
  description: >-
    The last valid version of each document stays in effect, but after a restart the workloads of these documents are not
    scaled. The log shows file, line and problem; promscaler validate finds problems before a document is applied.
- alert: PromscalerLate
  expr: >-
    sum(increase(promscaler_missed_rounds_total{ {{- $service -}} }[5m])) > 0
    or histogram_quantile(0.99, sum by (le) (rate(promscaler_sync_lateness_seconds_bucket{ {{- $service -}} }[5m]))) > {{ $set.PromscalerLate.threshold }}
  labels: { namespace: {{ $release | quote }} }
  summary: Decisions are late.
  description: >-
    Sync periods start more than {{ $set.PromscalerLate.threshold }} seconds late, or are skipped: scaling reacts that much later. Check cpu
    throttling, memory near its limit, slow queries (promscaler_query_duration_seconds) and a slow API server.
- alert: PromscalerRecordFailing
  # Writes are retried at least every 30 s while they fail.
  expr: >-
    sum(increase(promscaler_record_write_errors_total{ {{- $service -}} }[5m])) > 0
    or sum(increase(promscaler_record_dropped_decisions_total{ {{- $service -}} }[5m])) > 0
  labels: { namespace: {{ $release | quote }} }
  summary: The decision record cannot be written.
  description: >-
    Scaling continues. Decisions wait in memory and are lost when the queue is full or the pod restarts. Check whether the volume of
    record.path is full, slow or read-only; the log has the error.
- alert: PromscalerNotificationsFailing
  expr: >-
    sum by (receiver) (
    increase(promscaler_notifications_failed_total{ {{- $service -}} }[15m])
    + increase(promscaler_notifications_dropped_total{ {{- $service -}} }[15m])
    ) > 0
  labels: { namespace: {{ $release | quote }} }
  summary: {{ "Notifications to {{ $labels.receiver }} are lost." | quote }}
  description: >-
    Scaling continues. The receiver rejects notifications, cannot be reached, or is too slow. The log has the kind of failure;
    promscaler doctor checks whether the receiver can be reached.
- alert: PromscalerPaused
  # Other states may interrupt the state Paused: a pause of scale-downs does not hide them.
  expr: >-
    max by (namespace, scaler) (promscaler_paused{ {{- $scaler -}} }) == 1
    or {{ include "promscaler.inState" (list $scaler `state="Paused"`) }}
  summary: {{ printf "%s has been paused for %s." $name $set.PromscalerPaused.for | quote }}
  description: >-
    The pause may be forgotten. The condition Held of promscaler explain {{ $name }} shows who paused it and why;
    promscaler resume {{ $name }} ends a pause by annotations.
- alert: PromscalerHeld
  expr: >-
    {{ include "promscaler.inState" (list $scaler `severity="held", state!="Paused"`) }}
  summary: {{ printf "%s has been held for %s." $name $set.PromscalerHeld.for | quote }}
  description: >-
    A dry run, equal bounds, a target at 0 replicas, a rejected version of the document or a metric without series may be forgotten.
    promscaler explain {{ $name }} shows which, and what ends it.
{{- end -}}

{{/* URL of the page with a section for each alert. */}}
{{- define "promscaler.runbookUrl" -}}
{{- $page := "docs/guides/alerts.md" -}}
{{- with .Chart.Sources }}{{ $page = printf "%s/blob/main/%s" (first .) $page }}{{ end -}}
{{- default $page .Values.prometheusRule.runbookUrl -}}
{{- end -}}
