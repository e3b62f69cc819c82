/** A metric in `/metrics`. The `buckets` of a histogram are in the unit that its name states. */
export interface MetricRow {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
  /** `full`: the metric is not exposed with `metrics.detail: summary`. */
  readonly detail?: 'full';
}

/** The values of `metrics.detail` in the service config. */
export type MetricsDetail = 'full' | 'summary';

const SCALER = ['namespace', 'scaler'] as const;
const METRIC = [...SCALER, 'metric', 'type'] as const;
const REQUEST = ['verb', 'resource', 'code'] as const;

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
const ROUND_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** Metrics of scalers. At each scrape, they are read from the last record of each scaler. */
export const SCALER_METRICS = {
  state: gauge(
    'promscaler_scaler_state',
    'Current state of a scaler and its severity, as the labels of a single series with the value 1.',
    [...SCALER, 'state', 'severity'],
  ),
  currentReplicas: gauge(
    'promscaler_current_replicas',
    'Replicas of the target when the last decision was taken.',
  ),
  desiredReplicas: gauge(
    'promscaler_desired_replicas',
    'Desired replicas of the last decision, or the count that a pause keeps.',
  ),
  recommendedReplicas: gauge(
    'promscaler_recommended_replicas',
    'Largest proposal of the metrics, before any limit.',
  ),
  minReplicas: gauge('promscaler_min_replicas', 'Minimum number of replicas in effect.'),
  maxReplicas: gauge('promscaler_max_replicas', 'Maximum number of replicas in effect.'),
  readyPods: inFull(
    gauge('promscaler_ready_pods', 'Pods of the target that are ready, without pods that are terminating.'),
  ),
  metricValue: inFull(
    gauge(
      'promscaler_metric_value',
      'Current value of a metric in the unit of its target (percent, cores, bytes or the unit of the query).',
      METRIC,
    ),
  ),
  metricTarget: inFull(
    gauge(
      'promscaler_metric_target',
      'Target of a metric (percent of the requests for a utilization, otherwise the unit of the query).',
      METRIC,
    ),
  ),
  metricCapacity: gauge(
    'promscaler_metric_measured_capacity',
    'Measured load that one pod carries, in the unit of the query.',
    METRIC,
  ),
  metricCapacityDrift: gauge(
    'promscaler_metric_capacity_drift_ratio',
    'Measured capacity of a pod divided by the capacity measured on earlier days; the series exists only while the two differ by more than 10 percent.',
    METRIC,
  ),
  saturationStep: gauge(
    'promscaler_saturation_step_replicas',
    'Replicas that a saturation step proposes for usage at the limits; without such a step, there is no series.',
  ),
  ceiling: gauge(
    'promscaler_max_replicas_from',
    'Ceiling of scale-ups from the query of maxReplicasFrom; while the query has no value, its last value is used.',
  ),
  ceilingFailing: gauge(
    'promscaler_max_replicas_from_failing',
    'Whether the query of maxReplicasFrom has no value (1) or has a value (0).',
  ),
  metricProposal: inFull(
    gauge('promscaler_metric_proposal_replicas', 'Replicas that a single metric proposes.', METRIC),
  ),
  pods: inFull(
    gauge(
      'promscaler_pods',
      'Pods of the target by group, as classified for the first metric that uses pods.',
      [...SCALER, 'group'],
    ),
  ),
  limited: gauge(
    'promscaler_limited',
    'Whether a limit changes the result of the decision (1 while it does).',
    [...SCALER, 'limit'],
  ),
  limitEnd: inFull(
    gauge('promscaler_limit_end_timestamp_seconds', 'When a limit ends, in seconds since 1970.', [
      ...SCALER,
      'limit',
    ]),
  ),
  condition: gauge(
    'promscaler_condition',
    'Current condition of a scaler (1 for the current status and reason).',
    [...SCALER, 'type', 'status', 'reason'],
  ),
  rescales: {
    name: 'promscaler_rescales_total',
    type: 'counter',
    help: 'Changes of replicas that the API server has accepted.',
    labels: [...SCALER, 'direction'],
  },
  lastRescale: gauge(
    'promscaler_last_rescale_timestamp_seconds',
    'When the last change in a direction was made, in seconds since 1970.',
    [...SCALER, 'direction'],
  ),
  paused: gauge(
    'promscaler_paused',
    'Whether scaling is paused by the document or by an annotation of the target.',
  ),
  dryRun: gauge(
    'promscaler_dry_run',
    'Whether the scaler is in dry run: decisions are reported, but nothing is patched.',
  ),
  forecastReplicas: gauge(
    'promscaler_forecast_replicas',
    'Replicas that the forecast proposes for the expected load; without a proposal, there is no series.',
  ),
  reactiveReplicas: gauge(
    'promscaler_reactive_replicas',
    'Replicas that the target would have without its forecast.',
  ),
  forecastSpent: gauge(
    'promscaler_forecast_spent_percent',
    'Replicas that the forecast has added in the last 3 days, or would have added in mode Observe, in percent of the replicas without the forecast.',
  ),
  forecastShort: gauge(
    'promscaler_forecast_short_pod_seconds',
    'Pod-seconds that the load of the last 3 days needed beyond the replicas without the forecast.',
  ),
  forecastPrevented: gauge(
    'promscaler_forecast_prevented_pod_seconds',
    'Part of promscaler_forecast_short_pod_seconds that the forecast has prevented, or would have prevented in mode Observe.',
  ),
  recommendationSaving: gauge(
    'promscaler_recommendation_saving_ratio',
    'Share of the pod-hours that the recommended change of the document saves in a back-test (negative if the change needs more); without a recommended change, there is no series.',
  ),
  shadowDifference: gauge(
    'promscaler_shadow_difference_replicas',
    'Desired replicas of promscaler minus those of the HPA, for scalers in dry run next to an HPA.',
  ),
} as const satisfies Readonly<Record<string, MetricRow>>;

export const SERVICE_METRICS = {
  syncDuration: histogram(
    'promscaler_sync_duration_seconds',
    'Time from the start of a cycle of one scaler to its end.',
    { buckets: ROUND_SECONDS },
  ),
  syncLateness: histogram(
    'promscaler_sync_lateness_seconds',
    'Delay between the time at which a round was due and its start.',
    { buckets: ROUND_SECONDS },
  ),
  internalErrors: counter(
    'promscaler_internal_errors_total',
    'Defects of promscaler that the service survived: failed cycles and queries, and unhandled rejections.',
  ),
  missedRounds: counter(
    'promscaler_missed_rounds_total',
    'Rounds that were skipped; scalers with the same syncPeriodSeconds share a round.',
  ),
  recorded: counter('promscaler_recorded_decisions_total', 'Decisions written to the decision record.'),
  recordDropped: counter(
    'promscaler_record_dropped_decisions_total',
    'Decisions that are missing in the decision record, because its file could not be written or was written too slowly.',
  ),
  recordErrors: counter('promscaler_record_write_errors_total', 'Failed writes to the decision record.'),
  queries: counter('promscaler_queries_total', 'Queries sent to a data source.', ['source']),
  queryDuration: histogram('promscaler_query_duration_seconds', 'Time from a query to its answer.', {
    labels: ['source'],
    buckets: REQUEST_SECONDS,
  }),
  queryErrors: counter('promscaler_query_errors_total', 'Queries that failed.', ['source', 'reason']),
  answerSeries: counter(
    'promscaler_answer_series_total',
    'Series in answers, by whether their labels were known from the last answer to the same query or had to be read.',
    ['source', 'labels'],
  ),
  overLimitQueries: counter(
    'promscaler_over_limit_queries_total',
    'Queries that were not sent because their namespace exceeded a limit of the data source; other namespaces have no series.',
    ['source', 'namespace'],
  ),
  historyQueries: counter(
    'promscaler_history_queries_total',
    'Range queries sent to a data source for charts of the dashboard and for forecasts.',
    ['source'],
  ),
  historyQueryErrors: counter(
    'promscaler_history_query_errors_total',
    'Range queries for charts and forecasts that failed.',
    ['source', 'reason'],
  ),
  sourceClock: service(
    'promscaler_source_clock_ahead_seconds',
    'Seconds by which the clock of a data source is ahead of the clock of promscaler (negative: behind).',
    ['source'],
  ),
  sourceDuplicates: service(
    'promscaler_source_duplicate_series',
    'Copies of the most duplicated series of a data source at the last check (1: no duplicates).',
    ['source'],
  ),
  kubernetesRequests: counter(
    'promscaler_kubernetes_requests_total',
    'Requests to the API server (code is the HTTP status or the kind of failure).',
    REQUEST,
  ),
  kubernetesDuration: histogram(
    'promscaler_kubernetes_request_duration_seconds',
    'Time from a request to the API server to its answer, excluding the lifetime of a watch.',
    { labels: REQUEST, buckets: REQUEST_SECONDS },
  ),
  reloads: counter('promscaler_config_reloads_total', 'Reloads of the scaler documents.'),
  lastReloadSuccessful: service(
    'promscaler_config_last_reload_successful',
    'Whether the last reload found no error in the scaler documents (1) or some (0).',
  ),
  problems: service('promscaler_config_problems', 'Errors in the scaler documents at the last reload.'),
  leader: service('promscaler_leader', 'Whether this replica is the leader (1) or a standby (0).'),
  notificationsSent: counter(
    'promscaler_notifications_sent_total',
    'Notifications that a receiver has accepted.',
    ['receiver'],
  ),
  notificationsFailed: counter(
    'promscaler_notifications_failed_total',
    'Notifications that a receiver has not accepted, after all retries.',
    ['receiver'],
  ),
  notificationsDropped: counter(
    'promscaler_notifications_dropped_total',
    'Notifications that were not sent because the queue of their receiver was full.',
    ['receiver'],
  ),
  buildInfo: service('promscaler_build_info', 'Always 1, with the running version as a label.', ['version']),
} as const satisfies Readonly<Record<string, MetricRow>>;

/** All metrics of promscaler, without those of the Node.js process. */
export const METRIC_TABLE: readonly MetricRow[] = [
  ...Object.values(SCALER_METRICS),
  ...Object.values(SERVICE_METRICS),
];

type Row<T extends MetricRow['type']> = MetricRow & { readonly type: T };

function gauge(name: string, help: string, labels: readonly string[] = SCALER): Row<'gauge'> {
  return { name, type: 'gauge', help, labels };
}

function inFull(row: MetricRow): MetricRow {
  return { ...row, detail: 'full' };
}

export function isInSummary({ detail }: MetricRow): boolean {
  return detail === undefined;
}

function service(name: string, help: string, labels: readonly string[] = []): Row<'gauge'> {
  return gauge(name, help, labels);
}

function counter(name: string, help: string, labels: readonly string[] = []): Row<'counter'> {
  return { name, type: 'counter', help, labels };
}

function histogram(
  name: string,
  help: string,
  shape: { readonly labels?: readonly string[]; readonly buckets: readonly number[] },
): Row<'histogram'> {
  return { name, type: 'histogram', help, labels: shape.labels ?? [], buckets: shape.buckets };
}
