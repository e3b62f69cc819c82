import { STATES, type StateName } from '../../src/decision/severity.js';

/** Metrics of the service have the scraped namespace `ops`, metrics of a scaler have its own. */
const service = (name: string, more = ''): string => `${name}{job="rel-promscaler",namespace="ops"${more}}`;
const condition = (type: string, status: string, reason: string, scaler = 'web'): string =>
  `promscaler_condition{job="rel-promscaler",namespace="shop",scaler="${scaler}",type="${type}",status="${status}",reason="${reason}"}`;

const inState = (state: StateName): string =>
  `promscaler_scaler_state{job="rel-promscaler",namespace="shop",scaler="web",state="${state}",severity="${STATES[state]}"}`;

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
/** `selector` would fire, but another series says that it must not. */
const quietly = (selector: string, silencer: string): Case => ({
  series: { [selector]: '1x60', [silencer]: '1x60' },
  at: '30m',
  fires: null,
});

const patchFails = condition('AbleToScale', 'False', 'FailedUpdateScale');
const drift = of('promscaler_metric_capacity_drift_ratio').replace('}', ',metric="rps"}');
const ceilingFails = of('promscaler_max_replicas_from_failing');

/** A scaler in a state for an hour. */
export function counts(
  state: StateName,
  { recommended, current }: { readonly recommended: number; readonly current: number },
  minute: string,
  fires: Case['fires'] = null,
): Case {
  return {
    series: {
      [of('promscaler_recommended_replicas')]: `${recommended}x60`,
      [of('promscaler_current_replicas')]: `${current}x60`,
      [inState(state)]: '1x60',
    },
    at: minute,
    fires,
  };
}

/** Two states that take turns, each for 5 minutes. A scrape without the series of a state marks it as stale. */
const inTurn = (one: StateName, other: StateName, minute: string, fires: Case['fires'] = null): Case => ({
  series: {
    [inState(one)]: '1x4 stale _x4 1x4 stale _x4 1x4 stale',
    [inState(other)]: '_x5 1x4 stale _x4 1x4 stale _x4 1x4',
  },
  at: minute,
  fires,
});

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
    'no value for 10 minutes': during(inState('NoData'), '10m', WEB),
    'no value for 9 minutes': during(inState('NoData'), '9m'),
    'a pause of both directions': during(inState('Paused'), '30m'),
    'a value that came back after 8 minutes': {
      series: { [inState('NoData')]: '1x8 stale', [inState('OK')]: '_x9 1x60' },
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
  PromscalerCannotFollow: {
    'pods that crash, then no value, in turn': inTurn('PodsNotReady', 'NoData', '20m', WEB),
    'the same for a minute less': inTurn('PodsNotReady', 'NoData', '19m'),
    'no value, then OK, in turn': inTurn('NoData', 'OK', '29m'),
    'no value': during(inState('NoData'), '30m'),
    'no value for 20 minutes, then the maximum': {
      series: { [inState('NoData')]: '1x20 stale', [inState('AtMaximum')]: '_x21 1x60' },
      at: '36m',
      fires: null,
    },
    'a scaler that is removed': {
      series: {
        [inState('NoData')]: '1x4 stale _x4 1x4 stale _x4 1x4 stale',
        [inState('PodsNotReady')]: '_x5 1x4 stale _x4 1x4 stale',
      },
      at: '25m',
      fires: null,
    },
  },
  PromscalerCannotScale: {
    'a target that is gone': during(inState('NoTarget'), '10m', WEB),
    'a target that is gone for 9 minutes': during(inState('NoTarget'), '9m'),
    'a document that was never valid': during(inState('Invalid'), '10m', WEB),
    'a dry run that outlived its HPA': during(inState('NoAutoscaler'), '10m', WEB),
    'a patch that is refused': {
      series: { [inState('WriteFailed')]: '1x60', [patchFails]: '1x60' },
      at: '10m',
      fires: WEB,
    },
    'state that cannot be stored': during(inState('WriteFailed'), '30m'),
    'a target that is gone, then a document that is invalid, in turn': inTurn(
      'NoTarget',
      'Invalid',
      '10m',
      WEB,
    ),
    'a dry run': during(inState('DryRun'), '30m'),
    'a forbidden window': during(inState('Backoff'), '30m'),
    'a scaler that is removed': { series: { [inState('NoTarget')]: '1x20 stale' }, at: '21m', fires: null },
    'a leader that hands over meanwhile': {
      series: {
        [on('a', inState('NoTarget'))]: '1x5 stale',
        [on('b', inState('NoTarget'))]: '_x5 1x60',
      },
      at: '10m',
      fires: WEB,
    },
  },
  PromscalerConflict: {
    'another autoscaler, webhook or client': during(inState('Conflict'), '15m', WEB),
    'the same for 14 minutes': during(inState('Conflict'), '14m'),
    'a dry run next to an HPA': during(inState('DryRun'), '30m'),
  },
  PromscalerAtMaximum: {
    'a recommendation above the maximum': counts('AtMaximum', { recommended: 12, current: 10 }, '15m', WEB),
    'the same for 14 minutes': counts('AtMaximum', { recommended: 12, current: 10 }, '14m'),
    'a workload that needs exactly its maximum': counts('OK', { recommended: 10, current: 10 }, '30m'),
    'equal bounds': counts('Fixed', { recommended: 12, current: 10 }, '30m'),
    'a pause': counts('Paused', { recommended: 12, current: 10 }, '30m'),
    'a load that exceeds it now and then': {
      series: {
        ...counts('AtMaximum', { recommended: 12, current: 10 }, '').series,
        [inState('AtMaximum')]: '1x8 stale 1x8 stale 1x8',
        [inState('OK')]: '_x9 1 stale _x8 1 stale',
      },
      at: '29m',
      fires: null,
    },
    'a scaler that is removed': {
      series: Object.fromEntries(
        Object.entries(counts('AtMaximum', { recommended: 12, current: 10 }, '').series).map(
          ([name, values]) => [name, values.replace('x60', 'x20 stale')],
        ),
      ),
      at: '21m',
      fires: null,
    },
  },
  PromscalerScaleUpHeld: {
    'a pause, and a load that needs more': counts('Paused', { recommended: 8, current: 5 }, '15m', WEB),
    'the same for 14 minutes': counts('Paused', { recommended: 8, current: 5 }, '14m'),
    'equal bounds, and a load that needs more': counts('Fixed', { recommended: 8, current: 5 }, '15m', WEB),
    'a pause, and a load that needs less': counts('Paused', { recommended: 2, current: 5 }, '30m'),
    'a pause without a recommendation': during(inState('Paused'), '30m'),
    'a policy': counts('RateLimited', { recommended: 8, current: 5 }, '30m'),
    'a workload at its maximum': counts('AtMaximum', { recommended: 12, current: 10 }, '30m'),
    'a dry run': counts('DryRun', { recommended: 8, current: 5 }, '30m'),
  },
  PromscalerCeilingUnknown: {
    'a query without a value': during(ceilingFails, '10m', WEB),
    'the same for 9 minutes': during(ceilingFails, '9m'),
    'a query with a value': { series: { [ceilingFails]: '0x60' }, at: '30m', fires: null },
    'a pause': quietly(ceilingFails, inState('Paused')),
    'a dry run': quietly(ceilingFails, inState('DryRun')),
  },
  PromscalerCapacityChanged: {
    'a pod that carries 80 %': { series: { [drift]: '0.8x60' }, at: '5m', fires: { ...WEB, metric: 'rps' } },
    'the same for 4 minutes': { series: { [drift]: '0.8x60' }, at: '4m', fires: null },
    'no drift': { series: { [of('promscaler_metric_measured_capacity')]: '5x60' }, at: '30m', fires: null },
    'a dry run': quietly(drift, inState('DryRun')),
  },
  PromscalerStateDegraded: {
    'state that cannot be stored': during(inState('WriteFailed'), '5m', WEB),
    'for 4 minutes': during(inState('WriteFailed'), '4m'),
    'a patch that is refused': quietly(inState('WriteFailed'), patchFails),
    'a pause': during(inState('Paused'), '30m'),
  },
  PromscalerTargetNotReached: {
    'pods without a node': during(inState('PodsNotReady'), '15m', WEB),
    'for 14 minutes': during(inState('PodsNotReady'), '14m'),
    'pods that start': during(inState('Starting'), '30m'),
    'a rollout that a person has paused': during(inState('Paused'), '30m'),
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
    'a pause of a day': { series: { [inState('Paused')]: '1x1500' }, at: '24h', fires: WEB },
    'a pause of 23 hours': { series: { [inState('Paused')]: '1x1500' }, at: '23h', fires: null },
    'a pause of scale-downs, which the maximum interrupts': {
      series: {
        [of('promscaler_paused')]: '1x1500',
        [inState('Paused')]: '1x700 stale _x98 1x800',
        [inState('AtMaximum')]: '_x701 1x98 stale',
      },
      at: '24h',
      fires: WEB,
    },
    'no pause': {
      series: { [of('promscaler_paused')]: '0x1500', [inState('OK')]: '1x1500' },
      at: '25h',
      fires: null,
    },
  },
  PromscalerHeld: {
    'a dry run of a day': { series: { [inState('DryRun')]: '1x1500' }, at: '24h', fires: WEB },
    'a dry run of 23 hours': { series: { [inState('DryRun')]: '1x1500' }, at: '23h', fires: null },
    'equal bounds, then a rejected version': {
      series: { [inState('Fixed')]: '1x700 stale', [inState('Rejected')]: '_x701 1x800' },
      at: '24h',
      fires: WEB,
    },
    'a pause': { series: { [inState('Paused')]: '1x1500' }, at: '25h', fires: null },
    'a workload at its minimum': { series: { [inState('AtMinimum')]: '1x1500' }, at: '25h', fires: null },
  },
};
