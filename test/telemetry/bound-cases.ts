import type { StateName } from '../../src/decision/severity.js';
import { type Json, type RecordOf, decided, outcome } from './state-records.js';

interface Other {
  /** Why a newer version of the document is rejected. */
  readonly rejection?: string;
  /** When the state ends. */
  readonly until?: string;
}

export type StateCase = readonly [
  what: string,
  state: StateName,
  cause: string | null,
  record: RecordOf,
  other?: Other,
];

export function recommended(replicas: number): Json {
  return { state: { recommendations: [{ at: '2025-12-31T23:59:00Z', replicas }] } };
}

/** The states of a scaler with 4 replicas whose recommendation is a bound or beyond it. */
export const BOUND_CASES: readonly StateCase[] = [
  [
    'more than the maximum',
    'AtMaximum',
    '6 recommended, maxReplicas is 4',
    decided({ percent: 90, spec: { maxReplicas: 4 } }),
  ],
  [
    'more than a ceiling',
    'AtMaximum',
    '6 recommended, the ceiling is 5: vacant',
    decided({
      percent: 90,
      spec: { maxReplicasFrom: { query: 'vacant' } },
      snapshot: { maxReplicasFrom: { at: '2025-12-31T23:59:45Z', values: [5] } },
      record: outcome('patched', 5),
    }),
  ],
  [
    'double the maximum, within a stabilization window',
    'AtMaximum',
    '8 recommended, maxReplicas is 4',
    decided({ percent: 120, spec: { maxReplicas: 4 }, snapshot: recommended(9) }),
  ],
  [
    'more than the maximum, which is also as far as one scale-up may go',
    'AtMaximum',
    '12 recommended, maxReplicas is 8',
    decided({ percent: 180, spec: { maxReplicas: 8 }, record: outcome('patched', 8) }),
  ],
  [
    'more than the maximum, which a window for scale-ups also recommends',
    'AtMaximum',
    '12 recommended, maxReplicas is 6',
    decided({
      percent: 180,
      spec: { maxReplicas: 6, behavior: { scaleUp: { stabilizationWindowSeconds: 300 } } },
      snapshot: recommended(6),
      record: outcome('patched', 6),
    }),
  ],
  [
    'less than the minimum, which is also as far as a policy lets the count fall',
    'OK',
    'scaled from 4 to 2',
    decided({
      percent: 10,
      spec: {
        minReplicas: 2,
        behavior: {
          scaleDown: {
            stabilizationWindowSeconds: 0,
            policies: [{ type: 'Pods', value: 2, periodSeconds: 60 }],
          },
        },
      },
      record: outcome('patched', 2),
    }),
  ],
  [
    'less than the maximum, within a stabilization window',
    'Stabilizing',
    '2 recommended, 9 was recommended at 2025-12-31T23:59:00Z and counts for 300 s',
    decided({ percent: 30, spec: { maxReplicas: 4 }, snapshot: recommended(9) }),
    { until: '2026-01-01T00:04:00Z' },
  ],
  [
    'more than equal bounds',
    'Fixed',
    '6 recommended, but minReplicas and maxReplicas are 4',
    decided({ percent: 90, spec: { minReplicas: 4, maxReplicas: 4 } }),
  ],
  [
    'scale-downs that the document disables',
    'Fixed',
    '2 recommended, selectPolicy is Disabled in behavior.scaleDown',
    decided({
      percent: 30,
      spec: { behavior: { scaleDown: { stabilizationWindowSeconds: 0, selectPolicy: 'Disabled' } } },
    }),
  ],
  [
    'equal bounds',
    'AtMinimum',
    '4 recommended, which is the minimum in effect',
    decided({ spec: { minReplicas: 4, maxReplicas: 4 } }),
  ],
  [
    'less than the minimum',
    'AtMinimum',
    '2 recommended, minReplicas is 4',
    decided({ percent: 30, spec: { minReplicas: 4, downscaleStabilizationSeconds: 0 } }),
  ],
  [
    'less than the minimum, within a stabilization window',
    'AtMinimum',
    '2 recommended, minReplicas is 4',
    decided({ percent: 30, spec: { minReplicas: 4 }, snapshot: recommended(4) }),
  ],
  [
    'less than the minimum, as a stabilization window recommends, too',
    'OK',
    'scaled from 4 to 3',
    decided({
      percent: 10,
      spec: { minReplicas: 3 },
      snapshot: recommended(2),
      record: outcome('patched', 3),
    }),
  ],
  [
    'less than the minimum, of a partial value',
    'PartialData',
    '1 recommended, queue: a warning',
    decided({
      spec: {
        minReplicas: 4,
        metrics: [{ external: { metric: { name: 'queue' }, query: 'q', target: { averageValue: 30 } } }],
      },
      snapshot: { samples: [{ at: '2025-12-31T23:59:45Z', values: [30], partial: 'a warning' }] },
    }),
  ],
];
