import { createHash } from 'node:crypto';
import type { RecommendationsConfig } from '../config/resolve-service-config.js';
import type { Range } from '../backtest/history/fetch-series.js';
import { warmUpOf } from '../backtest/history/warm-up.js';
import type { HistorySource } from '../prometheus/queries/open-source.js';
import { readCron } from '../schedules/cron.js';
import { changeText } from '../scaler/field-changes.js';
import type { Scaler } from '../scaler/spec.js';
import { NO_CHANGE, type Recommendation } from '../telemetry/recommendation.js';
import { onAbort } from '../units/abort.js';
import { type Clock, createAlarm } from '../units/clock.js';
import type { Log } from '../units/log.js';
import { addSeconds, type Instant, multipleBefore } from '../units/time.js';
import { type BackTestResult, runBackTest } from './back-test.js';

export interface RecommendationPorts {
  readonly config: RecommendationsConfig;
  readonly clock: Clock;
  readonly log: Log;
  readonly historyOf: (source: string) => HistorySource | null;
  readonly isFailing: (source: string) => boolean;
  /** Stores a recommendation. Returns false if the recommendation is obsolete, because the document has changed. */
  readonly keep: (scaler: Scaler, recommendation: Recommendation) => boolean;
  /** Called with a recommended change that differs from the last published change. */
  readonly publish: (scaler: Scaler, message: string) => void;
  /** Records an Event about a published change. Rejects if the target cannot be read. */
  readonly sendEvent: (scaler: Scaler, message: string, signal: AbortSignal) => Promise<void>;
  /** Runs a back-test. Default: in a worker thread. */
  readonly backTest?: typeof runBackTest | undefined;
}

export interface Recommendations {
  /** Sets the documents of this replica. If a document has changed, its back-test is stopped. */
  readonly setScalers: (scalers: readonly Scaler[]) => void;
  /** Back-tests the documents, one at a time, until `signal` is aborted. Never rejects. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** How often the service checks whether a back-test is due. */
const CHECK_MS = 10_000;
/** Minimum time until the next back-test if one has no result because of a failed query. */
const REST_MS = 900_000;
/** Time limit of a query, which reads up to 4,000 points of each series. */
const TIMEOUT_MS = 10_000;
const MOST_STEPS = 45_000;

interface Entry {
  readonly scaler: Scaler;
  /** Delay of this back-test after the scheduled start, so that the back-tests are spread over the night. */
  readonly offsetMs: number;
  /** The scheduled start at which this version of the document was last back-tested; null: never. */
  night: Instant | null;
  /** The patch that was last published, and the patch that was last recorded as an Event. */
  published: string | null;
  announced: string | null;
}

export function createRecommendations(ports: RecommendationPorts): Recommendations {
  const { config, clock, log, backTest = runBackTest } = ports;
  const nights = readCron(config.schedule, config.timeZone);
  const spreadMs = config.spreadMinutes * 60_000;
  const alarm = createAlarm(clock);
  let entries = new Map<string, Entry>();
  let restUntilMs = -Infinity;
  let running: { readonly scaler: Scaler; readonly stop: AbortController } | null = null;
  /** The last back-test. The next back-test waits for it, because a stopped back-test may take a while to end. */
  let last: Promise<unknown> = Promise.resolve();

  /** Returns the document to back-test next: the due document with the oldest back-test; null: none is due. */
  const next = (now: Instant): { readonly entry: Entry; readonly night: Instant } | null => {
    const night = nights.atOrBefore(now);
    if (night === null || now >= night + spreadMs || clock.monotonicMs() < restUntilMs) return null;
    let first: Entry | null = null;
    for (const entry of entries.values()) {
      if (entry.night === night || now < night + entry.offsetMs || !isReachable(entry.scaler)) continue;
      if (first === null || isBefore(entry, first)) first = entry;
    }
    return first === null ? null : { entry: first, night };
  };

  const isReachable = ({ spec }: Scaler): boolean => !sourcesOf(spec).some(ports.isFailing);

  const test = async (entry: Entry, signal: AbortSignal): Promise<void> => {
    const { scaler } = entry;
    const stop = new AbortController();
    const stopped = AbortSignal.any([signal, stop.signal]);
    const sources = sourcesOf(scaler.spec).flatMap((name) => ports.historyOf(name) ?? []);
    const range = rangeOf(scaler, sources, { days: config.days, now: clock.now() });
    const failures: string[] = [];
    const work = backTest(scaler, range, {
      clock,
      sources: sources.map((source) => source.config),
      queryRange: async (name, query, ended) => {
        const source = ports.historyOf(name);
        if (source === null || ports.isFailing(name))
          return { class: 'failed', reason: 'canceled', message: `data source ${name} does not answer` };
        const answer = await source.queryRange(query, { timeoutMs: TIMEOUT_MS, signal: ended });
        if (answer.class === 'failed' && answer.reason !== 'canceled') failures.push(answer.reason);
        return answer;
      },
      cpuPercent: config.cpuPercent,
      signal: stopped,
    });
    last = work.catch(() => undefined);
    running = { scaler, stop };
    const result = await unlessAborted(work, stopped).finally(() => (running = null));
    if (result === null) return;
    if (failures.length > 0 && !('suggestion' in result)) restUntilMs = clock.monotonicMs() + REST_MS;
    if ('why' in result) log.debug('no recommendation', { scaler: scaler.key, why: result.why });
    const recommendation = recommendationOf(result, range, clock.now());
    if (ports.keep(scaler, recommendation)) await announce(entry, recommendation, signal);
  };

  const announce = async (
    entry: Entry,
    { patch, changes, reason }: Recommendation,
    signal: AbortSignal,
  ): Promise<void> => {
    if (patch === null) return;
    const message = `${changes.map(changeText).join(', ')}: ${reason}`;
    if (patch !== entry.published) ports.publish(entry.scaler, message);
    entry.published = patch;
    if (!config.events || patch === entry.announced) return;
    try {
      await ports.sendEvent(entry.scaler, message, signal);
      entry.announced = patch;
    } catch (error) {
      log.warn('failed to write Event for a recommendation: the target cannot be read', {
        scaler: entry.scaler.key,
        error,
      });
    }
  };

  return {
    setScalers: (scalers) => {
      const before = entries;
      entries = new Map(
        scalers.map((scaler) => {
          const known = before.get(scaler.key);
          return [scaler.key, known?.scaler === scaler ? known : newEntry(scaler, spreadMs)];
        }),
      );
      if (running !== null && entries.get(running.scaler.key)?.scaler !== running.scaler)
        running.stop.abort();
    },
    run: async (signal) => {
      // Back-tests everything again, because recommendations are removed when the replica loses its leadership.
      for (const entry of entries.values()) entry.night = null;
      const hasEnded = (): boolean => signal.aborted;
      while (!hasEnded()) {
        await unlessAborted(last, signal);
        const due = hasEnded() ? null : next(clock.now());
        if (due === null) {
          await alarm.sleep(CHECK_MS, signal);
          continue;
        }
        due.entry.night = due.night;
        try {
          await test(due.entry, signal);
        } catch (error) {
          log.error('back-test failed: internal error', { scaler: due.entry.scaler.key, error });
        }
      }
    },
  };
}

/**
 * Returns the result, or null as soon as `signal` is aborted, so that the end of a leadership does not wait for a
 * back-test.
 */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  let forget = (): void => undefined;
  const aborted = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null);
    else forget = onAbort(signal, () => resolve(null));
  });
  return Promise.race([work, aborted]).finally(() => forget());
}

function newEntry(scaler: Scaler, spreadMs: number): Entry {
  const hash = createHash('sha256').update(scaler.key).digest().readUInt32BE();
  return {
    scaler,
    offsetMs: Math.floor((hash / 2 ** 32) * spreadMs),
    night: null,
    published: null,
    announced: null,
  };
}

function isBefore(one: Entry, other: Entry): boolean {
  const [night, otherNight] = [one.night ?? 0, other.night ?? 0];
  return night === otherNight ? one.offsetMs < other.offsetMs : night < otherNight;
}

function sourcesOf({ metrics, maxReplicasFrom }: Scaler['spec']): readonly string[] {
  const names = [...metrics, maxReplicasFrom].flatMap((queried) => queried?.source ?? []);
  return [...new Set(names)];
}

/** Returns a range whose step is the scrape interval, or a multiple of it for fewer steps. */
function rangeOf(
  scaler: Scaler,
  sources: readonly HistorySource[],
  { days, now }: { readonly days: number; readonly now: Instant },
): Range {
  const seconds = days * 86_400;
  const interval = Math.max(1, ...sources.map(({ config }) => config.scrapeIntervalSeconds));
  const stepSeconds = interval * Math.ceil(seconds / interval / MOST_STEPS);
  const end = multipleBefore(now, stepSeconds);
  const warmUpSeconds = warmUpOf([scaler], stepSeconds);
  return { start: addSeconds(end, -seconds), end, stepSeconds, warmUpSeconds };
}

function recommendationOf(
  result: NonNullable<BackTestResult>,
  { start, end, stepSeconds }: Range,
  at: Instant,
): Recommendation {
  if ('suggestion' in result) return { ...result.suggestion, stepSeconds, at };
  return { ...NO_CHANGE, from: start, to: end, stepSeconds, reason: result.why, at };
}
