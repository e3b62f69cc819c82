import type { OverviewRow } from '../../../src/api/answers.js';
import { after, rowOf, stateOf } from './answers.js';

function waveOf(least: number, most: number, shift: number): readonly number[] {
  const middle = (least + most) / 2;
  return Array.from({ length: 24 }, (_, at) =>
    Math.round(middle + ((most - least) / 2) * Math.sin((at + shift) / 4)),
  );
}

function cpu(value: number): OverviewRow['metric'] {
  return { name: 'cpu', unit: 'percent', value, target: 60 };
}

/** A small fleet in which something happens, ordered by namespace and name. */
export const SHOWCASE: readonly OverviewRow[] = [
  rowOf({
    namespace: 'billing',
    name: 'invoices',
    current: 6,
    desired: 6,
    metric: cpu(38),
    state: stateOf('Stabilizing', {
      cause: '4 recommended, 6 was recommended 2 min ago, which counts for 300 s',
      until: after(180),
    }),
    replicas: waveOf(3, 9, 9),
  }),
  rowOf({
    namespace: 'billing',
    name: 'payments',
    current: 12,
    desired: 12,
    max: 12,
    metric: cpu(81),
    state: stateOf('AtMaximum', { cause: '17 recommended, maxReplicas is 12' }),
    replicas: [...waveOf(4, 12, 14).slice(0, 16), 12, 12, 12, 12, 12, 12, 12, 12],
    changedAt: after(-2400),
  }),
  rowOf({
    namespace: 'data',
    name: 'etl',
    kind: 'StatefulSet',
    current: 3,
    desired: 3,
    metric: null,
    state: stateOf('NoData', { cause: 'no series for queue_length' }),
    replicas: waveOf(2, 4, 2),
    changedAt: after(-8000),
  }),
  rowOf({
    namespace: 'data',
    name: 'indexer',
    current: 9,
    desired: 9,
    max: 40,
    metrics: 2,
    metric: { name: 'queue_length', unit: 'average', value: 29, target: 30 },
    replicas: waveOf(4, 14, 1),
  }),
  rowOf({
    namespace: 'search',
    name: 'api',
    current: 14,
    desired: 18,
    max: 60,
    metric: { name: 'http_requests_per_second', unit: 'average', value: 128, target: 100 },
    state: stateOf('OK', { cause: 'scaled from 14 to 18' }),
    replicas: waveOf(5, 14, 22),
    changedAt: after(-4),
  }),
  rowOf({
    namespace: 'search',
    name: 'suggest',
    current: 5,
    desired: 5,
    metric: cpu(57),
    state: stateOf('Paused', { cause: 'by annotation; deploy freeze' }),
    replicas: waveOf(5, 5, 0),
    changedAt: after(-70_000),
  }),
  rowOf({
    namespace: 'shop',
    name: 'cart',
    current: 8,
    desired: 8,
    metric: cpu(61),
    replicas: waveOf(3, 9, 5),
  }),
  rowOf({ name: 'web', current: 7, desired: 7, metric: cpu(44), replicas: waveOf(4, 11, 13), max: 12 }),
];
