import { buildCondition } from '../../src/decision/result/condition.js';
import type { StateCase } from './bound-cases.js';
import { NO_SERIES, OTHER } from './dry-run-cases.js';
import { conflictWith } from './record-builder.js';
import { decided, paused } from './state-records.js';

const WRITER = conflictWith(['kubectl']);

/** States of scalers whose replicas another autoscaler, a webhook or another client also sets. */
export const CONFLICT_CASES: readonly StateCase[] = [
  [
    'another autoscaler',
    'Conflict',
    'HorizontalPodAutoscaler shop/web scales the same target',
    decided({
      conditions: [
        buildCondition(
          'Held',
          'ConflictingScaler',
          'HorizontalPodAutoscaler shop/web scales the same target; promscaler patches nothing until only one autoscaler has this target',
        ),
      ],
      record: { otherScaler: { ...OTHER, kind: 'HorizontalPodAutoscaler', name: 'web' } },
    }),
  ],
  [
    'a webhook',
    'Conflict',
    '6 replicas were requested, but the server set 4',
    decided({
      percent: 83,
      conditions: [
        buildCondition(
          'Held',
          'ScaleOverridden',
          '6 replicas were requested, but the server set 4; promscaler does not repeat the request',
        ),
      ],
    }),
  ],
  [
    'another client, at the maximum',
    'Conflict',
    'kubectl changed spec.replicas 3 times, last at 2026-01-01T00:00:00Z',
    decided({ percent: 90, spec: { maxReplicas: 4 }, record: { conflictingWriter: WRITER } }),
    { until: '2026-01-01T00:10:00Z' },
  ],
  [
    'another client, without data',
    'NoData',
    'cpu: no series',
    decided({ snapshot: NO_SERIES, record: { conflictingWriter: WRITER } }),
  ],
  [
    'an HPA on the target of a paused scaler',
    'Conflict',
    'HorizontalPodAutoscaler shop/web scales the same target; scaling is paused by annotation until 2026-01-01T02:00:00Z; deploy freeze',
    decided({
      conditions: [
        buildCondition(
          'Held',
          'ConflictingScaler',
          'HorizontalPodAutoscaler shop/web scales the same target; promscaler patches nothing until only one autoscaler has this target',
        ),
      ],
      record: { otherScaler: { ...OTHER, kind: 'HorizontalPodAutoscaler', name: 'web' }, ...paused({}) },
    }),
  ],
];
