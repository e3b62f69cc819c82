/** Metrics of the service have the scraped namespace `ops`, metrics of a scaler have its own. */
export const service = (name: string, more = ''): string =>
  `${name}{job="rel-promscaler",namespace="ops"${more}}`;
export const condition = (type: string, status: string, reason: string, scaler = 'web'): string =>
  `promscaler_condition{job="rel-promscaler",namespace="shop",scaler="${scaler}",type="${type}",status="${status}",reason="${reason}"}`;

export interface Case {
  /** Selector -> values, one per minute, in the notation of promtool. */
  readonly series: Readonly<Record<string, string>>;
  readonly at: string;
  /** The `$labels` of the alert; null: no alert. */
  readonly fires: Readonly<Record<string, string>> | null;
}

export const WEB = { namespace: 'shop', scaler: 'web' };
const OPS = { namespace: 'ops' };
const during = (selector: string, minute: string, fires: Case['fires'] = null): Case => ({
  series: { [selector]: '1x60' },
  at: minute,
  fires,
});
const of = (name: string): string => `${name}{job="rel-promscaler",namespace="shop",scaler="web"}`;
const on = (pod: string, series: string): string => series.replace('}', `,pod="${pod}"}`);
const NO_METRIC = condition('ScalingActive', 'False', 'FailedGetResourceMetric');
const dryRun = of('promscaler_dry_run');
const upPaused = of('promscaler_scale_up_paused');
/** `selector` would fire, but another series says that it must not. */
const quietly = (selector: string, silencer: string): Case => ({
  series: { [selector]: '1x60', [silencer]: '1x60' },
  at: '30m',
  fires: null,
});

/** Bounds 2 and 10 unless set. `more` is a further series of 1. */
function counts(
  values: { readonly recommended: number; readonly current: number; readonly min?: number },
  minute: string,
  fires: Case['fires'] = null,
  more?: string,
): Case {
  const { recommended, current, min = 2 } = values;
  const all = { recommended, current, min, max: 10 };
  const series = Object.entries(all).map(([name, value]): [string, string] => [
    of(`promscaler_${name}_replicas`),
    `${value}x60`,
  ]);
  return {
    series: { ...Object.fromEntries(series), ...(more === undefined ? {} : { [more]: '1x60' }) },
    at: minute,
    fires,
  };
}

const leader = service('promscaler_leader', ',pod="a"');
const standby = service('promscaler_leader', ',pod="b"');
const missed = service('promscaler_missed_rounds_total');
const errors = service('promscaler_query_errors_total', ',source="default",reason="timeout"');
const queries = service('promscaler_queries_total', ',source="default"');
const late = (le: string): string => service('promscaler_sync_lateness_seconds_bucket', `,le="${le}"`);
const recordErrors = service('promscaler_record_write_errors_total');
const recordDropped = service('promscaler_record_dropped_decisions_total');
const failed = (receiver: string): string =>
  service('promscaler_notifications_failed_total', `,receiver="${receiver}"`);
const dropped = (receiver: string): string =>
  service('promscaler_notifications_dropped_total', `,receiver="${receiver}"`);
const healthy = { [failed('pager')]: '0x60', [dropped('pager')]: '0x60' };

/** Alert -> situation -> whether it fires. */
export const CASES: Readonly<Record<string, Readonly<Record<string, Case>>>> = {
  PromscalerNotWorking: {
    'no metrics for 5 minutes': { series: {}, at: '5m', fires: OPS },
    'no metrics for 4 minutes': { series: {}, at: '4m', fires: null },
    'two standbys': { series: { [leader]: '0x60', [standby]: '0x60' }, at: '5m', fires: OPS },
    'a leader next to a standby': {
      series: { [leader]: '1x60', [standby]: '0x60' },
      at: '30m',
      fires: null,
    },
    'a hand-over with 2 minutes between': {
      series: { [leader]: '1x9 0x60', [standby]: '0x11 1x60' },
      at: '20m',
      fires: null,
    },
    'a leader of another namespace alone': {
      series: { 'promscaler_leader{job="rel-promscaler",namespace="other"}': '1x60' },
      at: '5m',
      fires: OPS,
    },
  },
  PromscalerWithoutMetrics: {
    'no value for 10 minutes': during(
      condition('ScalingActive', 'False', 'FailedGetResourceMetric'),
      '10m',
      WEB,
    ),
    'no value for 9 minutes': during(condition('ScalingActive', 'False', 'FailedGetResourceMetric'), '9m'),
    'one reason after the other': {
      series: {
        [condition('ScalingActive', 'False', 'FailedGetResourceMetric')]: '1x5 _x60',
        [condition('ScalingActive', 'False', 'FailedGetPodsMetric')]: '_x6 1x60',
      },
      at: '10m',
      fires: WEB,
    },
    'a fallback in use': during(condition('ScalingActive', 'True', 'FallbackActive'), '10m', WEB),
    'a workload that a person has set to 0': during(
      condition('ScalingActive', 'False', 'ScalingDisabled'),
      '30m',
    ),
    'a value': during(condition('ScalingActive', 'True', 'ValidMetricFound'), '30m'),
    'a scaler in dry run': quietly(NO_METRIC, dryRun),
    'a pause of both directions': quietly(NO_METRIC, upPaused),
    'a pause of scale-downs': { ...quietly(NO_METRIC, of('promscaler_paused')), at: '10m', fires: WEB },
    'a value that came back after 8 minutes': {
      series: {
        [condition('ScalingActive', 'False', 'FailedGetResourceMetric')]: '1x8 _x60',
        [condition('ScalingActive', 'True', 'ValidMetricFound')]: '_x9 1x60',
      },
      at: '30m',
      fires: null,
    },
  },
  PromscalerSourceFailing: {
    'all queries': {
      series: { [errors]: '0+60x60', [queries]: '0+60x60' },
      at: '30m',
      fires: { source: 'default' },
    },
    'half of them': { series: { [errors]: '0+30x60', [queries]: '0+60x60' }, at: '30m', fires: null },
    'all of them for 5 minutes': {
      series: { [errors]: '0+60x5 300x60', [queries]: '0+60x60' },
      at: '13m',
      fires: null,
    },
  },
  PromscalerCannotScale: {
    'a target that is gone': during(condition('AbleToScale', 'False', 'FailedGetScale'), '10m', WEB),
    'a patch that is refused': during(condition('AbleToScale', 'False', 'FailedUpdateScale'), '10m', WEB),
    'a scaler in dry run': quietly(condition('AbleToScale', 'False', 'FailedGetScale'), dryRun),
    'a pause of both directions': quietly(condition('AbleToScale', 'False', 'FailedGetScale'), upPaused),
    'a forbidden window': during(condition('AbleToScale', 'False', 'BackoffDownscale'), '30m'),
    'a dry run that outlived its HPA': {
      ...quietly(condition('Held', 'True', 'NoAutoscaler'), dryRun),
      fires: WEB,
    },
    'a dry run': during(condition('Held', 'True', 'DryRun'), '30m'),
    'a target that is gone for 9 minutes': during(condition('AbleToScale', 'False', 'FailedGetScale'), '9m'),
    'a scaler that is removed': {
      series: { [condition('AbleToScale', 'False', 'FailedGetScale')]: '1x20 stale' },
      at: '21m',
      fires: null,
    },
    'a leader that hands over meanwhile': {
      series: {
        [on('a', condition('AbleToScale', 'False', 'FailedGetScale'))]: '1x5 stale',
        [on('b', condition('AbleToScale', 'False', 'FailedGetScale'))]: '_x5 1x60',
      },
      at: '10m',
      fires: WEB,
    },
  },
  PromscalerConflict: {
    'another autoscaler': during(condition('Held', 'True', 'ConflictingScaler'), '10m', WEB),
    'a webhook that changes it': during(condition('Held', 'True', 'ScaleOverridden'), '10m', WEB),
    'another client that sets the replicas': during(of('promscaler_conflicting_writer'), '10m', WEB),
    'another autoscaler for 9 minutes': during(condition('Held', 'True', 'ConflictingScaler'), '9m'),
    'a dry run next to an HPA': during(condition('Held', 'True', 'DryRun'), '30m'),
    'a second document in dry run': quietly(condition('Held', 'True', 'ConflictingScaler'), dryRun),
  },
  PromscalerAtMaximum: {
    'a recommendation above the maximum': counts({ recommended: 12, current: 10 }, '15m', WEB),
    'the same for 14 minutes': counts({ recommended: 12, current: 10 }, '14m'),
    'a workload that needs exactly its maximum': counts({ recommended: 10, current: 10 }, '30m'),
    'a workload that waits at its maximum for a scale-down': counts({ recommended: 4, current: 10 }, '30m'),
    'equal bounds': counts({ recommended: 12, current: 10, min: 10 }, '30m'),
    'a dry run': counts({ recommended: 12, current: 10 }, '30m', null, dryRun),
    'a pause': counts({ recommended: 12, current: 10 }, '30m', null, upPaused),
    'a load that exceeds it now and then': {
      series: {
        ...counts({ recommended: 12, current: 10 }, '').series,
        [of('promscaler_recommended_replicas')]: '12x9 10 12x9 10 12x9 10',
      },
      at: '30m',
      fires: null,
    },
    'a scaler that is removed': {
      series: Object.fromEntries(
        Object.entries(counts({ recommended: 12, current: 10 }, '').series).map(([name, values]) => [
          name,
          values.replace('x60', 'x20 stale'),
        ]),
      ),
      at: '21m',
      fires: null,
    },
  },
  PromscalerScaleUpHeld: {
    'a recommendation above the current count': counts({ recommended: 8, current: 5 }, '15m', WEB),
    'the same for 14 minutes': counts({ recommended: 8, current: 5 }, '14m'),
    'a scale-up that follows': {
      series: {
        ...counts({ recommended: 8, current: 5 }, '').series,
        [of('promscaler_current_replicas')]: '5x9 8x60',
      },
      at: '30m',
      fires: null,
    },
    'a scale-down that waits': counts({ recommended: 2, current: 5 }, '30m'),
    'a workload at its maximum': counts({ recommended: 12, current: 10 }, '30m'),
    'a dry run': counts({ recommended: 8, current: 5 }, '30m', null, dryRun),
    'a pause of scale-ups': counts({ recommended: 8, current: 5 }, '30m', null, upPaused),
    'a pause of scale-downs': counts({ recommended: 8, current: 5 }, '15m', WEB, of('promscaler_paused')),
  },
  PromscalerCeilingUnknown: {
    'a query without a value': {
      series: { [of('promscaler_max_replicas_from_failing')]: '1x60' },
      at: '10m',
      fires: WEB,
    },
    'the same for 9 minutes': {
      series: { [of('promscaler_max_replicas_from_failing')]: '1x60' },
      at: '9m',
      fires: null,
    },
    'a query with a value': {
      series: { [of('promscaler_max_replicas_from_failing')]: '0x60' },
      at: '30m',
      fires: null,
    },
  },
  PromscalerCapacityChanged: {
    'a pod that carries 80 %': {
      series: { [of('promscaler_metric_capacity_drift_ratio').replace('}', ',metric="rps"}')]: '0.8x60' },
      at: '5m',
      fires: { ...WEB, metric: 'rps' },
    },
    'the same for 4 minutes': {
      series: { [of('promscaler_metric_capacity_drift_ratio').replace('}', ',metric="rps"}')]: '0.8x60' },
      at: '4m',
      fires: null,
    },
    'no drift': { series: { [of('promscaler_metric_measured_capacity')]: '5x60' }, at: '30m', fires: null },
  },
  PromscalerStateDegraded: {
    'state that cannot be stored': during(condition('Held', 'True', 'StateDegraded'), '5m', WEB),
    'for 4 minutes': during(condition('Held', 'True', 'StateDegraded'), '4m'),
    'a pause': during(condition('Held', 'True', 'Paused'), '30m'),
  },
  PromscalerTargetNotReached: {
    'pods without a node': during(condition('TargetReached', 'False', 'Unschedulable'), '15m', WEB),
    'for 14 minutes': during(condition('TargetReached', 'False', 'Unschedulable'), '14m'),
    'pods that crash': during(condition('TargetReached', 'False', 'NotReady'), '15m', WEB),
    'pods that start': during(condition('TargetReached', 'False', 'Starting'), '30m'),
    'a rollout that a person has paused': during(condition('TargetReached', 'False', 'RolloutPaused'), '30m'),
    'a dry run': quietly(condition('TargetReached', 'False', 'NotReady'), dryRun),
    'all pods ready': during(condition('TargetReached', 'True', 'Reached'), '30m'),
  },
  PromscalerConfigProblems: {
    'one problem': during(service('promscaler_config_problems'), '5m', OPS),
    'one problem for 4 minutes': during(service('promscaler_config_problems'), '4m'),
    'documents that could not be read': {
      series: { [service('promscaler_config_last_reload_successful')]: '0x60' },
      at: '5m',
      fires: OPS,
    },
    'documents that only the standby could read': {
      series: {
        [service('promscaler_config_last_reload_successful', ',pod="a"')]: '0x60',
        [service('promscaler_config_last_reload_successful', ',pod="b"')]: '1x60',
      },
      at: '5m',
      fires: OPS,
    },
    neither: {
      series: {
        [service('promscaler_config_problems')]: '0x60',
        [service('promscaler_config_last_reload_successful')]: '1x60',
      },
      at: '30m',
      fires: null,
    },
  },
  PromscalerLate: {
    'a round skipped each minute': { series: { [missed]: '0+1x60' }, at: '30m', fires: OPS },
    'one round skipped': { series: { [missed]: '0x10 1x60' }, at: '20m', fires: null },
    'every round 5 to 10 s late': {
      series: { [late('5')]: '0x60', [late('10')]: '0+4x60', [late('+Inf')]: '0+4x60' },
      at: '30m',
      fires: OPS,
    },
    'every round up to 5 s late': {
      series: { [late('5')]: '0+4x60', [late('10')]: '0+4x60', [late('+Inf')]: '0+4x60' },
      at: '30m',
      fires: null,
    },
  },
  PromscalerRecordFailing: {
    'a write that fails every 30 s': { series: { [recordErrors]: '0+2x60' }, at: '30m', fires: OPS },
    'a decision lost each minute': { series: { [recordDropped]: '0+1x60' }, at: '30m', fires: OPS },
    'a disk that is full for 4 minutes': {
      series: { [recordErrors]: '0x9 0+2x4 8x60' },
      at: '20m',
      fires: null,
    },
    'no failure': { series: { [recordErrors]: '3x60', [recordDropped]: '7x60' }, at: '30m', fires: null },
    'a record of another release': {
      series: { 'promscaler_record_write_errors_total{job="rel-promscaler",namespace="other"}': '0+2x60' },
      at: '30m',
      fires: null,
    },
  },
  PromscalerNotificationsFailing: {
    'a receiver that rejects each': {
      series: { [failed('slack')]: '0+1x60', [dropped('slack')]: '0x60', ...healthy },
      at: '30m',
      fires: { receiver: 'slack', ...OPS },
    },
    'a full queue': {
      series: { [failed('slack')]: '0x60', [dropped('slack')]: '0+5x60', ...healthy },
      at: '30m',
      fires: { receiver: 'slack', ...OPS },
    },
    'one that is lost now': {
      series: { [failed('slack')]: '0x20 1x60', [dropped('slack')]: '0x60' },
      at: '25m',
      fires: null,
    },
    'one that was lost 5 minutes ago': {
      series: { [failed('slack')]: '0x20 1x60', [dropped('slack')]: '0x60' },
      at: '27m',
      fires: { receiver: 'slack', ...OPS },
    },
    'receivers that accept them': { series: healthy, at: '30m', fires: null },
  },
  PromscalerPaused: {
    'a pause of a day': { series: { [of('promscaler_paused')]: '1x1500' }, at: '24h', fires: WEB },
    'a pause of 23 hours': { series: { [of('promscaler_paused')]: '1x1500' }, at: '23h', fires: null },
    'no pause': { series: { [of('promscaler_paused')]: '0x1500' }, at: '25h', fires: null },
  },
};
