import type { SnapshotAnswer } from '../../../src/api/answers.js';
import type { ChartPoints } from '../../../src/backtest/history/chart-history.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { type PastRuns, runPast } from '../../../src/dashboard/scaler/what-if/past-runs.js';
import { snapshotToJson } from '../../../src/decision/result/write-json.js';
import { EMPTY_STATE, listUsage, type Pod } from '../../../src/decision/snapshot/snapshot.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import { addSeconds, instantFromMs } from '../../../src/units/time.js';
import { scalerOf } from '../../support/builders.js';

export const END = 1_700_006_400;
export const STEP = 15;

export const CPU = { resource: { name: 'cpu', target: { averageUtilization: 60 } } };
export const RPS = {
  external: { metric: { name: 'rps' }, query: 'sum(rps)', target: { averageValue: '10' } },
};

function podsOf(count: number, request = 1000n): readonly Pod[] {
  const ready = instantFromMs((END - 7200) * 1000);
  return Array.from({ length: count }, (_, index) => ({
    ...{ name: `web-${index}`, phase: 'Running', deleting: false, ready: true },
    ...{ startTime: addSeconds(ready, -30), readyChangedAt: ready, podRequests: null },
    requests: new Map([['app', new Map([['cpu', request]])]]),
  }));
}

export function snapshotOf(scaler: Scaler): SnapshotAnswer {
  const now = instantFromMs(END * 1000);
  const pods = podsOf(4);
  const usage = new Map(pods.map(({ name }) => [name, new Map([['app', 0.5]])]));
  const cpu = { form: 'containers', at: now, partial: null, ...listUsage(usage) } as const;
  return snapshotToJson({
    scaler,
    now,
    target: { specReplicas: 4, statusReplicas: 4 },
    pods,
    samples: scaler.spec.metrics.map(({ type }) =>
      type === 'Resource'
        ? { ...cpu, windowSeconds: 60, learnedIntervalSeconds: STEP }
        : { form: 'values', at: now, partial: null, values: [40] },
    ),
    state: EMPTY_STATE,
  }) as unknown as SnapshotAnswer;
}

export const rpsScaler = (maxReplicas: number): Scaler =>
  scalerOf({ scaleTargetRef: { name: 'web' }, minReplicas: 1, maxReplicas, metrics: [RPS] });

export const cpuScaler = (maxReplicas: number): Scaler =>
  scalerOf({ scaleTargetRef: { name: 'web' }, minReplicas: 1, maxReplicas, metrics: [CPU] });

export interface Story {
  readonly seconds: number;
  readonly replicas?: (second: number) => number;
  readonly cpu?: (second: number) => number | null;
  readonly rps?: (second: number) => number | null;
}

/** The points of each round in the `seconds` before `END`. `cpu` is in percent of a request of one core. */
export function pointsOf({ seconds, replicas = () => 4, cpu, rps }: Story): ChartPoints {
  const at = Array.from({ length: seconds / STEP + 1 }, (_, index) => END - seconds + index * STEP);
  return {
    at,
    currentReplicas: at.map(replicas),
    readyPods: at.map((second) => replicas(second - STEP)),
    metrics: [
      ...(cpu === undefined ? [] : [{ type: 'Resource', metric: 'cpu', value: at.map(cpu) }]),
      ...(rps === undefined ? [] : [{ type: 'External', metric: 'rps', value: at.map(rps) }]),
    ],
  };
}

export const run = async (
  points: ChartPoints,
  applied: Scaler,
  {
    changed = applied,
    from = points.at[0] ?? 0,
    to = Infinity,
  }: { readonly changed?: Scaler; readonly from?: number; readonly to?: number } = {},
): Promise<PastRuns | string> =>
  runPast(
    {
      points: { points, coarseSeconds: 300, note: null },
      snapshot: snapshotOf(applied),
      document: documentOf(changed),
      shown: { from, to },
    },
    { clock: SYSTEM_CLOCK, signal: new AbortController().signal, onProgress: () => undefined },
  );

export function documentOf(scaler: Scaler): unknown {
  return snapshotOf(scaler).scaler;
}

export const known = (runs: PastRuns | string): PastRuns => {
  if (typeof runs === 'string') throw new Error(runs);
  return runs;
};
