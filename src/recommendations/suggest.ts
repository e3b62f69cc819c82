import { BacktestError, checkDemand, checkRounds, type RunJobs } from '../backtest/compare/variant.js';
import { recommend } from '../backtest/compare/recommend.js';
import { changedVariant } from '../backtest/compare/sweep.js';
import { parseThreshold, type Threshold } from '../backtest/compare/threshold.js';
import type { Fetching, Range } from '../backtest/history/fetch-series.js';
import { historyInput } from '../backtest/history/history-input.js';
import { readHistory } from '../backtest/history/read-history.js';
import { statedPodStart, type GivenAssumptions } from '../backtest/simulation/settings.js';
import { fieldChanges, mergePatch } from '../scaler/field-changes.js';
import type { Scaler } from '../scaler/spec.js';
import { RECOMMEND_CONDITION, NO_CHANGE, type Recommendation } from '../telemetry/recommendation.js';
import { formatSeconds } from '../units/format.js';
import { secondsBetween } from '../units/time.js';

export type Suggestion = Omit<Recommendation, 'at' | 'stepSeconds'>;

/** Limits the rounds of a run, because the search simulates half of the history some hundred times. */
const MOST_ROUNDS = 100_000;
/** Limits the metrics, because the history of each metric takes about 4 MB of memory. */
const MOST_METRICS = 10;
/** Minimum length of the history: settings are searched on one half, and confirmed and scored on the other. */
const LEAST_HISTORY_SECONDS = 2 * 86_400;

/**
 * Returns the recommendation that `backtest --recommend` would make with its defaults, within the limits above. Throws
 * `BacktestError` if the document cannot be back-tested.
 */
export async function suggest(
  scaler: Scaler,
  {
    range: asked,
    sources,
    runJobs,
  }: {
    readonly range: Range;
    readonly sources: ReadonlyMap<string, Fetching>;
    readonly runJobs: RunJobs;
  },
): Promise<Suggestion> {
  const variant = { name: scaler.key, scaler };
  const { metrics } = scaler.spec;
  if (metrics.length > MOST_METRICS)
    throw new BacktestError(`the document has ${metrics.length} metrics, must have at most ${MOST_METRICS}`);
  checkRounds([variant], asked, MOST_ROUNDS);
  const recorded = await readHistory([scaler], {
    range: asked,
    request: null,
    capacity: null,
    usageAtCapacityPercent: 100,
    sources,
  });
  const { scrapeIntervalSeconds, resourceWindowSeconds } = recorded.source;
  const podStart = statedPodStart([variant]);
  const given = { ...NOTHING_GIVEN, podStart, scrapeIntervalSeconds, resourceWindowSeconds };
  const { range, ...input } = historyInput(recorded, { given, range: asked });
  const { start: from, end: to } = range;
  const nothing = (reason: string): Suggestion => ({ from, to, reason, ...NO_CHANGE });
  const knownSeconds = secondsBetween(from, to);
  if (knownSeconds < LEAST_HISTORY_SECONDS)
    return nothing(
      `the history of ${formatSeconds(knownSeconds)} is too short: at least ${formatSeconds(LEAST_HISTORY_SECONDS)} are needed`,
    );
  checkDemand(input.scoring);
  const found = await recommend(variant, [readCondition()], { ...input, runJobs });
  const [current, changed] = found.results;
  if (current?.figures === null) throw new BacktestError(current.error);
  const { change, saving, reason } = found;
  if (change === null || saving === null || current === undefined) return nothing(reason);
  if (changed === undefined || changed.figures === null || !Number.isFinite(saving.percent))
    return nothing('the load is known for too few parts of the history');
  const proposed = changedVariant(scaler, change);
  if ('error' in proposed) throw new BacktestError(proposed.error);
  const [before, after] = [scaler.document.spec, proposed.scaler.document.spec];
  return {
    from,
    to,
    reason,
    changes: fieldChanges(before, after, 'spec'),
    patch: JSON.stringify({ spec: mergePatch(before, after) }),
    saving,
    thetaU: { current: current.figures.thetaU, proposed: changed.figures.thetaU },
  };
}

/** The assumptions of the `backtest` command if none of their options is given. */
const NOTHING_GIVEN: Omit<GivenAssumptions, 'podStart' | 'scrapeIntervalSeconds' | 'resourceWindowSeconds'> =
  {
    capacity: null,
    queue: null,
    measures: new Map(),
    usageAtCapacityPercent: 100,
    maxReplicasFrom: null,
    initialReplicas: null,
    pricePerPodHour: null,
  };

function readCondition(): Threshold {
  const condition = parseThreshold(RECOMMEND_CONDITION, { allowsDocument: true });
  if (typeof condition === 'string') throw new Error(condition);
  return condition;
}
