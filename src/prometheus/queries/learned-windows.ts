import { joinPatterns, podsPatternOf } from '../../promql/pods-pattern.js';
import { selectedRanges } from '../../promql/ranges.js';
import { isOfResource, type Scaler } from '../../scaler/spec.js';
import type { Clock } from '../../units/clock.js';
import { windowOfInterval } from '../../units/bounds.js';
import type { RunQuery } from '../answers/answer.js';
import { resourceQuery, takesWindow } from '../data-source/resource-queries.js';
import type { SourceConfig } from '../data-source/source-config.js';
import { ofPodsOnly, readIntervals, Unanswered } from './target-ages.js';

/**
 * Determines the windows of resource queries. If the config sets no window, the window follows the scrape interval of
 * the series, which a query for a few workloads reads every two minutes.
 */
export interface LearnedWindows {
  /** Returns the data sources with the windows for a new round: the same map object until a window changes. */
  readonly sources: () => ReadonlyMap<string, SourceConfig>;
  /** If a reading is due, reads the scrape interval of a data source in the background. Never throws. */
  readonly learn: (
    /** The data source with the queries of the round. */
    config: SourceConfig,
    given: { readonly scalers: () => Iterable<Scaler>; readonly runQuery: RunQuery },
  ) => void;
}

const READ_MS = 120_000;
/**
 * The time until a second reading if the first one found another interval. Only a confirmed interval counts, because
 * scrapes may have failed during the first reading.
 */
const CONFIRM_MS = 15_000;
/** The pause between readings that find no interval. It is doubled after each of them, up to `MOST_RETRY_MS`. */
const RETRY_MS = 15_000;
/**
 * A longer pause would delay decisions for new pods: they use the default window of 120 s until an interval is known.
 */
const MOST_RETRY_MS = 60_000;

/** Workloads whose series one reading compares: enough to cover several nodes, few enough to be cheap. */
const READ_WORKLOADS = 8;

/** The range that a reading passes to `readIntervals`, which looks at the samples of twice this time. */
const READ_RANGE_SECONDS = 60;

interface Learned {
  intervalSeconds: number | null;
  /** The interval of the last reading if it differs from `intervalSeconds` and is not confirmed yet; otherwise null. */
  found: number | null;
  nextMs: number;
  retryMs: number;
  isReading: boolean;
  readings: number;
}

export function createLearnedWindows(parts: {
  readonly sources: ReadonlyMap<string, SourceConfig>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly onFault: (error: unknown) => void;
}): LearnedWindows {
  const { clock, onFault } = parts;
  let current = parts.sources;
  const states = new Map<string, Learned>();

  const set = (name: string, intervalSeconds: number): void => {
    const config = current.get(name);
    if (config === undefined) return;
    current = new Map(current).set(name, withInterval(config, intervalSeconds));
  };

  const note = (name: string, state: Learned, seconds: number | null): void => {
    const nowMs = clock.monotonicMs();
    if (seconds === null) {
      state.nextMs = nowMs + (state.intervalSeconds === null ? state.retryMs : READ_MS);
      state.retryMs = Math.min(MOST_RETRY_MS, 2 * state.retryMs);
      return;
    }
    state.retryMs = RETRY_MS;
    state.nextMs = nowMs + READ_MS;
    const known = state.intervalSeconds;
    if (known !== null && isNear(seconds, known)) {
      state.found = null;
    } else if (known !== null && state.found === null) {
      state.found = seconds;
      state.nextMs = nowMs + CONFIRM_MS;
    } else {
      state.intervalSeconds = usualInterval(Math.max(seconds, state.found ?? 0));
      state.found = null;
      if (state.intervalSeconds !== known) set(name, state.intervalSeconds);
    }
  };

  return {
    sources: () => current,
    learn: (config, { scalers, runQuery }) => {
      const { name } = config;
      if (config.learnedIntervalSeconds === undefined) return;
      const state = states.get(name) ?? {
        intervalSeconds: null,
        found: null,
        nextMs: -Infinity,
        retryMs: RETRY_MS,
        isReading: false,
        readings: 0,
      };
      states.set(name, state);
      if (state.isReading || clock.monotonicMs() < state.nextMs) return;
      const users = someOf(usersOfWindow(config, scalers()), state.readings);
      if (users.length === 0) return;
      state.isReading = true;
      state.readings += 1;
      readInterval(config, users, runQuery)
        .then((seconds) => note(name, state, seconds))
        .catch(onFault)
        .finally(() => (state.isReading = false));
    },
  };
}

/** Returns a data source with the window for its series; unchanged if the config sets it or no interval is found. */
export async function learnWindow(
  config: SourceConfig,
  scalers: Iterable<Scaler>,
  runQuery: RunQuery,
): Promise<SourceConfig> {
  if (config.learnedIntervalSeconds === undefined) return config;
  const users = someOf(usersOfWindow(config, scalers), 0);
  const seconds = users.length === 0 ? null : await readInterval(config, users, runQuery);
  return seconds === null ? config : withInterval(config, usualInterval(seconds));
}

function withInterval(config: SourceConfig, intervalSeconds: number): SourceConfig {
  return {
    ...config,
    resourceWindowSeconds: windowOfInterval(intervalSeconds),
    learnedIntervalSeconds: intervalSeconds,
  };
}

interface WindowUser {
  readonly scaler: Scaler;
  readonly resources: readonly string[];
}

/** Returns the scalers that have metrics with the window of this data source in their resource query. */
function usersOfWindow(config: SourceConfig, scalers: Iterable<Scaler>): readonly WindowUser[] {
  const users: WindowUser[] = [];
  for (const scaler of scalers) {
    const resources = scaler.spec.metrics
      .filter(
        (metric) => isOfResource(metric) && metric.source === config.name && takesWindow(config, metric.name),
      )
      .map(({ name }) => name);
    if (resources.length > 0) users.push({ scaler, resources });
  }
  return users;
}

/** Returns `READ_WORKLOADS` workloads that are evenly spread over the list. Each reading selects other workloads. */
function someOf(users: readonly WindowUser[], reading: number): readonly WindowUser[] {
  const step = Math.max(1, Math.floor(users.length / READ_WORKLOADS));
  return users.filter((_, index) => index % step === reading % step).slice(0, READ_WORKLOADS);
}

/** Returns the longest interval in seconds between samples of these workloads; null: no interval was found. */
async function readInterval(
  config: SourceConfig,
  users: readonly WindowUser[],
  runQuery: RunQuery,
): Promise<number | null> {
  const namespaces = [...new Set(users.map(({ scaler }) => scaler.namespace))];
  const pods = joinPatterns(
    users.map(({ scaler: { spec } }) => podsPatternOf(spec.scaleTargetRef.kind, spec.scaleTargetRef.name)),
  );
  try {
    let longest: number | null = null;
    for (const resource of new Set(users.flatMap(({ resources }) => resources))) {
      const ofPods = await longestOf(config, { resource, namespaces, pods }, runQuery);
      // Without a result, queries all pods of one namespace, because the pod label may have another name.
      const seconds =
        ofPods ??
        (await longestOf(config, { resource, namespaces: namespaces.slice(0, 1), pods: null }, runQuery));
      if (seconds !== null) longest = Math.max(longest ?? 0, seconds);
    }
    return longest;
  } catch (error) {
    if (error instanceof Unanswered) return null;
    throw error;
  }
}

async function longestOf(
  config: SourceConfig,
  given: { readonly resource: string; readonly namespaces: readonly string[]; readonly pods: string | null },
  runQuery: RunQuery,
): Promise<number | null> {
  const query = resourceQuery(config, given.resource, given.namespaces) ?? '';
  let longest: number | null = null;
  for (const { selector, rangeSeconds, offsetSeconds } of selectedRanges(query)) {
    if (rangeSeconds !== config.resourceWindowSeconds) continue;
    const { byJob } = await readIntervals(
      {
        text: given.pods === null ? selector.text : ofPodsOnly(selector, given.pods),
        rangeSeconds: READ_RANGE_SECONDS,
        offsetSeconds,
        by: 'by (job, instance, pod)',
        isVictoriaMetrics: config.flavor === 'victoriametrics',
        defaultInterval: 0,
      },
      runQuery,
    );
    for (const seconds of byJob.values()) longest = Math.max(longest ?? 0, seconds);
  }
  return longest;
}

/** An interval is rounded up to one of these, so that all replicas of promscaler use the same window. */
const USUAL_SECONDS = [5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300];
/** An interval that exceeds a usual one by at most this share is rounded down to it, because scrapes vary slightly. */
const ROUNDED_SHARE = 0.05;
/**
 * If the interval is within this share of a limit of the rounding, the known window stays, so that it does not change
 * back and forth.
 */
const NEAR_SHARE = 0.03;

function usualInterval(seconds: number): number {
  const usual = USUAL_SECONDS.find((one) => seconds <= one * (1 + ROUNDED_SHARE));
  return usual ?? Math.ceil(seconds / 60) * 60;
}

function isNear(seconds: number, interval: number): boolean {
  return (
    usualInterval(seconds * (1 - NEAR_SHARE)) <= interval &&
    interval <= usualInterval(seconds * (1 + NEAR_SHARE))
  );
}
