import { addSeconds, type Instant, instantFromMs, latest } from '../../units/time.js';
import { BacktestError, type Backtest, type Result, resultOf, scoringOf } from '../compare/variant.js';
import { DEFAULT_POD_START_SECONDS } from '../simulation/load.js';
import { countAt, countsSince, type CountStep, visitCounts } from '../simulation/count-steps.js';
import type { Run } from '../simulation/run-variant.js';
import { type Assumptions, type GivenAssumptions, podStartOf } from '../simulation/settings.js';
import type { Range } from './fetch-series.js';
import { historyWorkload, type MetricHistory } from './history-models.js';
import type { RecordedHistory } from './read-history.js';
import { RAN } from './columns.js';
import { knownSince, knownWarmUpSeconds } from './warm-up.js';

export interface HistoryInput extends Omit<Backtest, 'runJobs'> {
  /** The scored range. It starts with the first recorded value, because the load before it is unknown. */
  readonly range: Range;
  readonly warmUpSeconds: number;
  /** The time of the load from which the capacity was estimated; null: the capacity is known. */
  readonly capacityAt: Instant | null;
  /** The recorded replicas; null: they are unknown. */
  readonly ran: Result | null;
}

/** Returns the input of a back-test from recorded data. Throws `BacktestError` if the capacity of a pod is unknown. */
export function historyInput(
  recorded: Pick<RecordedHistory, 'history' | 'load' | 'loadMetric' | 'podStartSeconds' | 'ran'>,
  { given, range: asked }: { readonly given: GivenAssumptions; readonly range: Range },
): HistoryInput {
  const { load, loadMetric, history } = recorded;
  const range = {
    ...asked,
    start: latest(asked.start, knownSince(load.observed, asked.stepSeconds) ?? asked.start),
  };
  const ran = recorded.ran === null ? null : runSince(recorded.ran, range.start);
  const known = given.capacity ?? load.saturation;
  const estimate =
    known === null && recorded.ran !== null ? estimateCapacity(load, recorded.ran.ready) : null;
  const capacity = known ?? estimate?.capacity ?? null;
  if (capacity === null)
    throw new BacktestError(
      `the load that one pod carries is unknown for metric ${loadMetric.identity}: set --capacity${loadMetric.type === 'Resource' ? ' or --request' : ''}`,
    );
  const warmUpSeconds = given.initialReplicas === null ? knownWarmUpSeconds(load.observed, range) : 0;
  const recordedCount =
    history.replicas.length === 0 ? null : countAt(history.replicas, addSeconds(range.start, -warmUpSeconds));
  const assumptions: Assumptions = {
    ...given,
    capacity,
    initialReplicas: given.initialReplicas ?? recordedCount,
    podStart: given.podStart ?? podStartOf(recorded.podStartSeconds ?? DEFAULT_POD_START_SECONDS),
  };
  const scoring = scoringOf(load.load, assumptions, range);
  return {
    workload: historyWorkload(history, {
      initialReplicas: given.initialReplicas,
      measures: given.measures,
      warmUpSeconds,
      queued: given.queue === null ? null : load.load,
    }),
    scoring,
    assumptions,
    range,
    warmUpSeconds,
    capacityAt: estimate?.at ?? null,
    ran: ran === null ? null : resultOf(RAN, ran, scoring),
  };
}

function runSince(run: Run, start: Instant): Run {
  const counts = { replicas: countsSince(run.replicas, start), ready: countsSince(run.ready, start) };
  return { ...run, start, ...counts, changes: run.changes.filter(({ at }) => at >= start) };
}

/** How many steps a load must last to count as a capacity: a single high value may be due to the times of scrapes. */
const STEPS = 3;

/**
 * Returns the highest load per ready pod that lasted for three steps, and its time; null: there is none. The highest
 * number of ready pods in the last two windows is used, because the value may still contain load of removed pods.
 */
export function estimateCapacity(
  { observed, windowSeconds }: MetricHistory,
  ready: readonly CountStep[],
): { readonly capacity: number; readonly at: Instant } | null {
  const { times, values } = observed.data;
  const perPod = Array.from(values, (value, index) => {
    const at = instantFromMs(times[index] ?? 0);
    let most = 0;
    visitCounts(ready, { from: addSeconds(at, -2 * windowSeconds - 60), to: addSeconds(at, 60) }, (count) => {
      most = Math.max(most, count);
    });
    return most === 0 || !(value > 0) ? 0 : value / most;
  });
  let best: { readonly capacity: number; readonly at: Instant } | null = null;
  for (let end = STEPS; end <= perPod.length; end += 1) {
    const capacity = Math.min(...perPod.slice(end - STEPS, end));
    if (capacity > (best?.capacity ?? 0)) best = { capacity, at: instantFromMs(times[end - STEPS] ?? 0) };
  }
  return best;
}
