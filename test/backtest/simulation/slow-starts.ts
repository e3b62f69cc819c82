import { runAll, scoringOf, traceWorkload } from '../../../src/backtest/compare/variant.js';
import type { Assumptions } from '../../../src/backtest/simulation/settings.js';
import { runJobsHere } from '../../support/backtests.js';
import type { Figures } from '../../../src/backtest/compare/figures.js';
import { createLoad, type Load } from '../../../src/backtest/simulation/load.js';
import { countAt } from '../../../src/backtest/simulation/count-steps.js';
import type { Run } from '../../../src/backtest/simulation/run-variant.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import { addSeconds } from '../../../src/units/time.js';
import { scalerOf, T0 } from '../../support/builders.js';
import { ASSUMPTIONS } from '../compare/assumptions.js';

/** Each value applies for so many seconds. */
export function loadOf(parts: readonly (readonly [seconds: number, value: number])[]): Load {
  const starts = parts.map((_, index) =>
    parts.slice(0, index).reduce((time, [seconds]) => addSeconds(time, seconds), T0),
  );
  const end = parts.reduce((time, [seconds]) => addSeconds(time, seconds), T0);
  return createLoad(
    Float64Array.from(starts),
    Float64Array.from(parts, ([, value]) => value),
    end,
  );
}

export async function runOn(
  load: Load,
  scaler: Scaler,
  more: Partial<Assumptions>,
): Promise<{ readonly run: Run; readonly figures: Figures }> {
  const assumptions = { ...ASSUMPTIONS, ...more };
  const workload = traceWorkload(load, assumptions);
  const scoring = scoringOf(load, assumptions);
  const [result] = await runAll([{ name: '', scaler }], {
    workload,
    scoring,
    assumptions,
    runJobs: runJobsHere,
  });
  if (result?.run === undefined || result.run === null) throw new Error(result?.error ?? 'it did not run');
  return result;
}

/** A step from 9.5 to 39.5 pods of load, between two rounds. */
export const STEP = loadOf([
  [608, 9.5],
  [7200, 39.5],
]);
const STEP_AT = addSeconds(T0, 608);

export const CPU_80 = scalerOf({
  scaleTargetRef: { name: 'web' },
  maxReplicas: 100,
  metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 80 } } }],
});

/** The same, with the time in which the simulated pods start and the step for usage at its limit. */
export const CPU_80_WITH_STEP = scalerOf({
  scaleTargetRef: { name: 'web' },
  maxReplicas: 100,
  podStart: {},
  metrics: [
    {
      resource: {
        name: 'cpu',
        target: { averageUtilization: 80 },
        saturation: { served: { query: 'sum(rate(served[1m]))' } },
      },
    },
  ],
});

/** Returns when 40 pods were ready after the step, and the pods that were missing until the end. */
export function recoveryOf({ ready, end }: Run): {
  readonly carriedSeconds: number;
  readonly lostPodMinutes: number;
} {
  const carriedAt = ready.find(({ at, count }) => at >= STEP_AT && count >= 40)?.at ?? Infinity;
  const lost = ready.reduce((sum, { at, count }, index) => {
    const from = Math.max(at, STEP_AT);
    const to = ready[index + 1]?.at ?? end;
    return sum + (Math.max(0, 40 - count) * Math.max(0, to - from)) / 60_000;
  }, 0);
  return { carriedSeconds: (carriedAt - STEP_AT) / 1000, lostPodMinutes: lost };
}

/** What a pod serves per second, of which a rate targets 9. */
export const QUEUE_CAPACITY = 9.4;
/** 8 per second, then 64 for 40 minutes after a ramp of 30 s, then 8: it needs 8 pods. */
export const QUEUE_LOAD = loadOf([
  [187, 8],
  [15, 22],
  [15, 50],
  [2400, 64],
  [360, 8],
]);

function queueScaler(averageValue: number, behavior?: unknown): Scaler {
  const target = { type: 'AverageValue', averageValue };
  const external = { metric: { name: 'queue' }, query: 'sum(queue)', target };
  const metrics = [{ type: 'External', external }];
  return scalerOf({
    ...{ scaleTargetRef: { name: 'web' }, maxReplicas: 100, metrics },
    ...(behavior === undefined ? {} : { behavior }),
  });
}

const ONE_POD_PER_180_S = { scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 180 }] } };

/** Document, and what its query measures. */
export const QUEUE_POLICIES = [
  { name: 'queue depth, AverageValue (HPA, KEDA)', scaler: queueScaler(1), measure: 'depth' },
  { name: 'queue depth, one pod per 180 s', scaler: queueScaler(9, ONE_POD_PER_180_S), measure: 'depth' },
  { name: 'arrival rate', scaler: queueScaler(9), measure: 'load' },
  {
    name: 'rate + backlog drained in 60 s',
    scaler: queueScaler(9),
    measure: `load + 9 * depth / (60 * ${QUEUE_CAPACITY})`,
  },
] as const;

/**
 * Drains the backlog in 60 s, with `podStart` from when the pods are ready on. `capacity`: a query for it, so that what a
 * pod serves is the target.
 */
export function withBacklog(
  podStart: Readonly<Record<string, unknown>> | null,
  { capacity }: { readonly capacity?: { readonly query: string } } = {},
): Scaler {
  const target = { type: 'AverageValue', averageValue: 9 };
  const backlog = { query: 'sum(waiting)', drainSeconds: 60 };
  const ofCapacity = capacity === undefined ? {} : { capacity };
  const external = { metric: { name: 'queue' }, query: 'sum(queue)', target, backlog, ...ofCapacity };
  return scalerOf({
    ...{ scaleTargetRef: { name: 'web' }, maxReplicas: 100, metrics: [{ type: 'External', external }] },
    ...(podStart === null ? {} : { podStart }),
  });
}

export const QUEUE_ASSUMPTIONS = {
  capacity: QUEUE_CAPACITY,
  initialReplicas: 1,
  queue: { mostDepth: Infinity, timeoutSeconds: Infinity },
} as const;

/**
 * Returns the mean over time of the wait that a new arrival would expect: the depth divided by what the ready pods serve.
 * `mean_wait` is a mean over what was served, most of which came while many pods were ready.
 */
export function expectedWait({ queue, ready }: Run, capacity: number): number {
  if (queue === null) return NaN;
  const waits = Array.from(queue.depth, (depth, step) => {
    const at = addSeconds(queue.start, (step + 1) * queue.stepSeconds - 0.001);
    return depth / (Math.max(1, countAt(ready, at)) * capacity);
  });
  return waits.reduce((sum, wait) => sum + wait, 0) / waits.length;
}
