import { buildCondition } from '../../src/decision/result/condition.js';
import type { StateCase } from './bound-cases.js';
import { decided, outcome, unread } from './state-records.js';

export const OTHER = { kind: 'Scaler', namespace: 'shop', name: 'other' };
export const NO_SERIES = { samples: [{ error: 'no series', kind: 'missing' }] };

/** States of scalers that are in dry run. */
export const DRY_RUN_CASES: readonly StateCase[] = [
  [
    'a dry run',
    'DryRun',
    'would scale from 4 to 6; HorizontalPodAutoscaler shop/web has 5 desired replicas',
    decided({
      percent: 83,
      record: {
        ...outcome('dry-run', 6),
        dryRun: true,
        shadow: { beside: 'HorizontalPodAutoscaler shop/web', theirReplicas: 5, difference: 1 },
      },
    }),
  ],
  [
    'a dry run at the maximum, next to an HPA',
    'DryRun',
    'AtMaximum: 6 recommended, maxReplicas is 4; HorizontalPodAutoscaler shop/web has 5 desired replicas',
    decided({
      percent: 90,
      spec: { maxReplicas: 4 },
      record: {
        dryRun: true,
        shadow: { beside: 'HorizontalPodAutoscaler shop/web', theirReplicas: 5, difference: -1 },
      },
    }),
  ],
  [
    'a dry run next to the HPA of a ScaledObject',
    'DryRun',
    'would keep 4 replicas; the HPA of ScaledObject shop/web has 5 desired replicas',
    decided({
      record: { dryRun: true, shadow: { beside: 'ScaledObject shop/web', theirReplicas: 5, difference: -1 } },
    }),
  ],
  [
    'a dry run next to another document',
    'DryRun',
    'would keep 4 replicas; Scaler shop/other has the same target',
    decided({ record: { dryRun: true, otherScaler: OTHER } }),
  ],
  [
    'a dry run with a rejected version',
    'DryRun',
    'would keep 4 replicas; the newest version of the document is rejected: spec.metric: unknown field',
    decided({ record: { dryRun: true } }),
    { rejection: 'unknown field' },
  ],
  [
    'a dry run that outlived the HPA that it was made from',
    'NoAutoscaler',
    'nothing scales deployment shop/web: HorizontalPodAutoscaler shop/web no longer scales it',
    decided({
      record: {
        dryRun: true,
        conditions: [
          buildCondition(
            'Held',
            'NoAutoscaler',
            'nothing scales deployment shop/web: HorizontalPodAutoscaler shop/web no longer scales it; spec.dryRun is true',
          ),
        ],
      },
    }),
  ],
  [
    'a dry run next to an HPA without a count',
    'NoAutoscaler',
    'nothing scales deployment shop/web: HorizontalPodAutoscaler shop/web has no desired replicas: FailedGetResourceMetric: no metrics',
    decided({
      record: {
        dryRun: true,
        otherScaler: {
          kind: 'HorizontalPodAutoscaler',
          namespace: 'shop',
          name: 'web',
          whyNoCount: 'FailedGetResourceMetric: no metrics',
        },
        conditions: [
          buildCondition(
            'Held',
            'NoAutoscaler',
            'nothing scales deployment shop/web: HorizontalPodAutoscaler shop/web has no desired replicas: FailedGetResourceMetric: no metrics; spec.dryRun is true',
          ),
        ],
      },
    }),
  ],
  [
    'a dry run without a target',
    'NoTarget',
    'deployments.apps "web" not found',
    unread(
      {
        type: 'AbleToScale',
        status: 'False',
        reason: 'FailedGetScale',
        message: 'deployments.apps "web" not found',
      },
      { dryRun: true },
    ),
  ],
  [
    'a dry run without data',
    'DryRun',
    'NoData: cpu: no series',
    decided({ snapshot: NO_SERIES, record: { dryRun: true } }),
  ],
  [
    'a dry run without data of a container',
    'DryRun',
    'NoData: app/cpu: no series',
    decided({
      spec: {
        metrics: [
          { containerResource: { container: 'app', name: 'cpu', target: { averageUtilization: 60 } } },
        ],
      },
      snapshot: NO_SERIES,
      record: { dryRun: true },
    }),
  ],
];
