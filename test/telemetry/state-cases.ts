import { buildCondition } from '../../src/decision/result/condition.js';
import { BOUND_CASES, recommended, type StateCase } from './bound-cases.js';
import { CONFLICT_CASES } from './conflict-cases.js';
import { DRY_RUN_CASES, NO_SERIES } from './dry-run-cases.js';
import { type Json, decided, outcome, paused, unread } from './state-records.js';

const cpu = { resource: { name: 'cpu', target: { averageUtilization: 60 } } };

function queue(fields: Json = {}): Json {
  return { external: { metric: { name: 'queue' }, query: 'q', target: { averageValue: 30 }, ...fields } };
}

const at = '2025-12-31T23:59:45Z';
const RECENT = '4 was recommended at 2025-12-31T23:59:00Z and counts for 300 s';

/** Each state at least once, and what could be taken for another one. */
export const STATE_CASES: readonly StateCase[] = [
  ['calm', 'OK', null, decided({})],
  ['scaled', 'OK', 'scaled from 4 to 6', decided({ percent: 83, record: outcome('patched', 6) })],
  ['its maximum is enough', 'OK', null, decided({ spec: { maxReplicas: 4 } })],
  ...BOUND_CASES,
  [
    'set to 0 by a person',
    'Fixed',
    'the target was set to 0 replicas',
    decided({ snapshot: { target: { specReplicas: 0 }, pods: [] } }),
  ],
  [
    'at 0 without load',
    'Asleep',
    '0 recommended',
    decided({
      spec: { minReplicas: 0, metrics: [queue({ activation: { above: 5 } })] },
      snapshot: { target: { specReplicas: 0 }, pods: [], samples: [{ at, values: [0] }] },
    }),
  ],
  [
    'at 0 without a value',
    'NoData',
    'queue: no series; without a value, no metric starts the workload from 0 replicas',
    decided({
      spec: { minReplicas: 0, metrics: [queue()] },
      snapshot: { target: { specReplicas: 0 }, pods: [], ...NO_SERIES },
    }),
  ],
  ['no series', 'NoData', 'cpu: no series', decided({ snapshot: NO_SERIES })],
  [
    'at 0 without series, which the document reads as 0',
    'NoSeries',
    '0 recommended; queue: no series, read as 0; without series, no metric starts the workload from 0 replicas',
    decided({
      spec: { minReplicas: 0, metrics: [queue({ onMissing: 'zero' })] },
      snapshot: { target: { specReplicas: 0 }, pods: [], ...NO_SERIES },
    }),
  ],
  [
    'at 0 without series of one metric, and the other is 0',
    'NoSeries',
    '0 recommended; queue: no series, read as 0',
    decided({
      spec: { minReplicas: 0, metrics: [queue({ metric: { name: 'other' } }), queue({ onMissing: 'zero' })] },
      snapshot: {
        target: { specReplicas: 0 },
        pods: [],
        samples: [{ at, values: [0] }, ...NO_SERIES.samples],
      },
    }),
  ],
  [
    'at 0 because of NaN, which the document reads as 0',
    'Asleep',
    '0 recommended; queue: the value is NaN, read as 0',
    decided({
      spec: { minReplicas: 0, metrics: [queue({ onNaN: 'zero' })] },
      snapshot: {
        target: { specReplicas: 0 },
        pods: [],
        samples: [{ error: 'the value is NaN', kind: 'nan' }],
      },
    }),
  ],
  [
    'no series, which the document reads as 0',
    'NoSeries',
    '0 recommended, minReplicas is 1; queue: no series, read as 0',
    decided({
      spec: { minReplicas: 1, metrics: [queue({ onMissing: 'zero' })] },
      snapshot: { target: { specReplicas: 1 }, ...NO_SERIES },
    }),
  ],
  [
    'NaN of two metrics, which the document reads as 0, in a dry run',
    'DryRun',
    'would scale from 4 to 2; queue: the value is NaN, read as 0 (and 1 more metric)',
    decided({
      spec: {
        dryRun: true,
        metrics: [queue({ onNaN: 'zero' }), queue({ metric: { name: 'other' }, onMissing: 'zero' })],
      },
      snapshot: { samples: [{ error: 'the value is NaN', kind: 'nan' }, ...NO_SERIES.samples] },
      record: { dryRun: true, outcome: { kind: 'dry-run', from: 4, to: 2, message: '' } },
    }),
  ],
  [
    'no series of one metric, and the other wants more',
    'NoData',
    'queue: no series',
    decided({
      spec: { metrics: [queue({ metric: { name: 'other' } }), queue()] },
      snapshot: {
        samples: [
          { at, values: [240] },
          { error: 'no series', kind: 'missing' },
        ],
      },
    }),
  ],
  [
    'no series of two metrics',
    'NoData',
    'cpu and queue: no series',
    decided({
      spec: { metrics: [cpu, queue()] },
      snapshot: { samples: [...NO_SERIES.samples, ...NO_SERIES.samples] },
    }),
  ],
  [
    'a fallback',
    'NoData',
    'cpu: no series; the fallback proposes 5 replicas',
    decided({ spec: { fallback: { afterSeconds: 0, replicas: 5 } }, snapshot: NO_SERIES }),
  ],
  [
    'a partial value',
    'PartialData',
    '1 recommended, queue: a warning',
    decided({
      spec: { metrics: [queue()] },
      snapshot: { samples: [{ at, values: [30], partial: 'a warning' }] },
    }),
  ],
  [
    'a stabilization window',
    'Stabilizing',
    `2 recommended, ${RECENT}`,
    decided({ percent: 30, snapshot: recommended(4) }),
    { until: '2026-01-01T00:04:00Z' },
  ],
  [
    'the last replica within cooldownSeconds',
    'Stabilizing',
    'cooldownSeconds keeps the last replica (queue is 3, not above its activation threshold of 5)',
    decided({
      spec: { minReplicas: 0, cooldownSeconds: 300, metrics: [queue({ activation: { above: 5 } })] },
      snapshot: {
        target: { specReplicas: 1 },
        samples: [{ at, values: [3] }],
        state: { recommendations: [], inactiveSince: '2025-12-31T23:59:00Z' },
      },
    }),
    { until: '2026-01-01T00:04:00Z' },
  ],
  [
    'the last replica after cooldownSeconds, which is removed',
    'OK',
    'scaled from 1 to 0',
    decided({
      spec: { minReplicas: 0, cooldownSeconds: 60, metrics: [queue({ activation: { above: 5 } })] },
      snapshot: {
        target: { specReplicas: 1 },
        samples: [{ at, values: [3] }],
        state: { recommendations: [], inactiveSince: '2025-12-31T23:59:00Z' },
      },
      record: { outcome: { kind: 'patched', from: 1, to: 0, message: '' } },
    }),
  ],
  [
    'a recovery hold',
    'Stabilizing',
    '2 recommended, cpu has just returned',
    decided({
      percent: 30,
      spec: { downscaleStabilizationSeconds: 0 },
      snapshot: {
        state: {
          recommendations: [],
          holdScaleDownUntil: '2026-01-01T00:01:00Z',
          holdReason: 'cpu has just returned',
        },
      },
    }),
    { until: '2026-01-01T00:01:00Z' },
  ],
  [
    'one step at most',
    'RateLimited',
    '20 recommended, the scale-up limit allows 4 more replicas at once',
    decided({ percent: 300, spec: { maxReplicas: 30 } }),
  ],
  [
    'a forbidden window',
    'Backoff',
    '6 recommended, the upscale forbidden window lasts until 2026-01-01T00:03:00Z',
    decided({
      percent: 83,
      spec: { upscaleForbiddenWindowSeconds: 300 },
      snapshot: { state: { recommendations: [], lastScaleUp: '2025-12-31T23:58:00Z' } },
    }),
    { until: '2026-01-01T00:03:00Z' },
  ],
  ...CONFLICT_CASES,
  [
    'a pause',
    'Paused',
    'by annotation; deploy freeze',
    decided({ percent: 83, record: { ...outcome('paused', 6), ...paused({}) } }),
    { until: '2026-01-01T02:00:00Z' },
  ],
  [
    'a pause at a fixed count in dry run',
    'Paused',
    'by annotation; would be kept at 9 without the dry run; kept at 9 for the sale',
    decided({
      record: {
        ...outcome('dry-run', 9, 'spec.dryRun is true'),
        ...paused({
          until: null,
          replicas: 9,
          annotated: { direction: 'both', until: null },
          notes: ['would be kept at 9 without the dry run', 'kept at 9 for the sale'],
        }),
        dryRun: true,
      },
    }),
  ],
  [
    'a pause, without data',
    'Paused',
    'spec.paused is true; NoData: cpu: no series',
    decided({
      snapshot: NO_SERIES,
      record: paused({ until: null, annotated: null, notes: ['spec.paused is true'] }),
    }),
  ],
  [
    'a pause of scale-downs',
    'Paused',
    'scale-down is paused by annotation',
    decided({
      record: paused({
        direction: 'scale-down',
        until: null,
        annotated: { direction: 'scale-down', until: null },
        notes: [],
      }),
    }),
  ],
  [
    'a pause of scale-ups, at the maximum',
    'Paused',
    'scale-up is paused by annotation; AtMaximum: 6 recommended, maxReplicas is 4',
    decided({
      percent: 90,
      spec: { maxReplicas: 4 },
      record: paused({
        direction: 'scale-up',
        until: null,
        annotated: { direction: 'scale-up', until: null },
        notes: [],
      }),
    }),
  ],
  [
    'a pause of scale-downs, at the maximum',
    'AtMaximum',
    '6 recommended, maxReplicas is 4',
    decided({ percent: 90, spec: { maxReplicas: 4 }, record: paused({ direction: 'scale-down' }) }),
  ],
  ...DRY_RUN_CASES,
  [
    'a rejected version',
    'Rejected',
    'spec.metric: unknown field',
    decided({}),
    { rejection: 'unknown field' },
  ],
  [
    'a rejected version, without data',
    'NoData',
    'cpu: no series; the newest version of the document is rejected: spec.metric: unknown field',
    decided({ snapshot: NO_SERIES }),
    { rejection: 'unknown field' },
  ],
  [
    'no target',
    'NoTarget',
    'deployments.apps "web" not found',
    unread({
      type: 'AbleToScale',
      status: 'False',
      reason: 'FailedGetScale',
      message: 'deployments.apps "web" not found',
    }),
  ],
  [
    'a rejected change',
    'WriteFailed',
    'exceeded quota',
    decided({
      percent: 83,
      conditions: [buildCondition('AbleToScale', 'FailedUpdateScale', 'exceeded quota')],
      record: outcome('failed', 6, 'exceeded quota'),
    }),
  ],
  [
    'no place for its state',
    'WriteFailed',
    'configmaps is forbidden',
    decided({
      conditions: [
        buildCondition(
          'Held',
          'StateDegraded',
          'configmaps is forbidden: promscaler does not scale down, and more',
        ),
      ],
    }),
  ],
  [
    'pods without a node, and so without data',
    'PodsNotReady',
    '1 of 4 pods are ready: 3 unschedulable because of cpu',
    decided({
      snapshot: NO_SERIES,
      conditions: [
        buildCondition(
          'TargetReached',
          'Unschedulable',
          '1 of 4 pods are ready: 3 unschedulable because of cpu',
        ),
      ],
    }),
  ],
  [
    'starting pods',
    'Starting',
    '1 of 4 pods are ready: 3 not ready',
    decided({
      conditions: [buildCondition('TargetReached', 'Starting', '1 of 4 pods are ready: 3 not ready')],
    }),
  ],
  [
    'a paused rollout',
    'Paused',
    '1 of 4 pods are ready: 3 not created; spec.paused of the target is true',
    decided({
      conditions: [
        buildCondition(
          'TargetReached',
          'RolloutPaused',
          '1 of 4 pods are ready: 3 not created; spec.paused of the target is true',
        ),
      ],
    }),
  ],
  [
    'a target that changed meanwhile',
    'Pending',
    'the target has 5 replicas now',
    decided({ percent: 83, record: outcome('conflict', 6, 'the target has 5 replicas now') }),
  ],
  [
    'a first decision without metrics',
    'Pending',
    'no metric has been evaluated yet',
    decided({ spec: { minReplicas: 5 }, record: outcome('patched', 5) }),
  ],
];
