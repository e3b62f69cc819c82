import type { Answer } from '../../prometheus/answers/answer.js';
import {
  type CheckedSelector,
  duration,
  newestQuery,
  type ReadTarget,
  scrapedKey,
} from '../../prometheus/queries/target-ages.js';
import { lateAfterSeconds } from '../../prometheus/source/judge-ages.js';
import { quoteRegex, stringLiteral } from '../../promql/quoting.js';
import { vectorSelectors } from '../../promql/vector-selectors.js';
import type { SourceContext } from './context.js';

/** Limits the length of the queries. If more targets are suspect, the cause is not that a few pods have ended. */
const MAX_SUSPECTS = 100;

/**
 * The scrapes of the last ten minutes are read. To find the end of a target, the scrapes in the range of the query are
 * read as well, for at most an hour.
 */
const SCRAPED_WITHIN_SECONDS = 600;
const MAX_RANGE_SECONDS = 3600;
const STEP_SECONDS = 15;

/**
 * Prometheus writes the staleness markers of a removed target after the next two scrapes would have taken place, plus
 * 10 % of the interval. Until then, the samples look late. Source: Prometheus, scrape/scrape.go, endOfRunStaleness.
 */
const MARKED_AFTER_INTERVALS = 2.1;
const SCRAPE_JITTER = 1.1;

/** Added to `MARKED_AFTER_INTERVALS`: the time in which Prometheus writes the staleness markers. */
const MARGIN_SECONDS = 5;

/** A target with more failed scrapes than this within `SCRAPED_WITHIN_SECONDS` is flaky; it has not just ended. */
const MOST_FAILED = 2;

/**
 * cAdvisor sets timestamps, so Prometheus writes no staleness markers: the series of a deleted container stay visible
 * for five minutes.
 */
const OF_CADVISOR = /^container_/;

const BY = 'by (job, instance)';

/**
 * Drops targets whose late or missing samples come from pods that have just ended, because such samples are no problem
 * of the data source. A target is dropped in these cases:
 *
 * - Prometheus does not scrape the target anymore, but still scrapes others.
 * - The last scrape has failed, but a recent scrape has succeeded and few have failed: the pod is shutting down.
 * - The target has newer samples of the same metric, which is of cAdvisor: its pods of this selector have ended.
 *
 * Keeps new targets, without their gap, because the first scrapes of a pod fail until the pod listens. If no target is
 * left, returns the targets whose last scrape has failed, because nothing shows that only pods are the cause.
 */
export async function settledTargets(
  targets: readonly ReadTarget[],
  selector: CheckedSelector,
  runQuery: SourceContext['runQuery'],
): Promise<readonly ReadTarget[]> {
  const known = targets.map((one) => (one.isNew ? { ...one, hasGap: false } : one));
  // With an offset, the range ends in the past, so Prometheus has already written the staleness markers.
  if (selector.offsetSeconds > 0) return known;
  const old = await namedTargets(known, selector, runQuery);
  const suspects = old.filter(
    ({ ageSeconds, intervalSeconds }) => ageSeconds === null || ageSeconds > SCRAPE_JITTER * intervalSeconds,
  );
  const instances = [...new Set(suspects.flatMap(({ labels }) => labels['instance'] ?? []))];
  if (instances.length === 0 || instances.length > MAX_SUSPECTS) return known;
  const matcher = `instance=~${stringLiteral(instances.map(quoteRegex).join('|'))}`;
  const endOf = await readEnds(suspects, { selector, runQuery, matcher });
  const settled = old.filter((one) => !suspects.includes(one) || endOf(one) === null);
  return settled.length === 0 ? suspects.filter((one) => endOf(one) !== 'removed') : settled;
}

/**
 * If `targets` is a single target without labels, which represents all targets, returns the targets that have samples
 * in the range instead.
 */
async function namedTargets(
  targets: readonly ReadTarget[],
  { text, rangeSeconds }: CheckedSelector,
  runQuery: SourceContext['runQuery'],
): Promise<readonly ReadTarget[]> {
  const [first] = targets;
  if (first === undefined || Object.keys(first.labels).length > 0) return targets;
  const found = await runQuery(`count ${BY} (count_over_time(${text}[${duration(rangeSeconds)}]))`);
  return found.class === 'value' ? found.series.map(({ labels }) => ({ ...first, labels })) : targets;
}

interface Reading {
  readonly selector: CheckedSelector;
  readonly runQuery: SourceContext['runQuery'];
  /** Selects the suspects. */
  readonly matcher: string;
}

/**
 * How a target ends: `removed`: it is not scraped anymore. `failing`: its last scrape has failed, as when its pod shuts
 * down.
 */
type End = 'removed' | 'failing';

/**
 * Returns a function that returns how a target ends; null: nothing shows that it ends, or the server does not answer.
 */
async function readEnds(
  suspects: readonly ReadTarget[],
  { selector, runQuery, matcher }: Reading,
): Promise<(target: ReadTarget) => End | null> {
  const { isVictoriaMetrics } = selector;
  const metric = vectorSelectors(selector.text)[0]?.metric ?? null;
  const longest = Math.max(...suspects.map(({ intervalSeconds }) => intervalSeconds));
  const up = `up{${matcher}}`;
  const scrapes = `${up}[${duration(SCRAPED_WITHIN_SECONDS)}]`;
  const failed = `count_over_time(${scrapes}) - sum_over_time(${scrapes})`;
  const ofMetric = { text: `${metric ?? ''}{${matcher}}`, by: BY, isVictoriaMetrics };
  const isOfCadvisor = metric !== null && OF_CADVISOR.test(metric);
  const recent = `${Math.ceil(lateAfterSeconds(longest))}s`;
  const found = await Promise.all(
    [
      newestQuery({ text: 'up', by: '', isVictoriaMetrics }, 0),
      newestQuery({ text: up, by: BY, isVictoriaMetrics }, 0),
      markedQuery(up, selector, longest),
      `max ${BY} (max_over_time(${up}[${recent}]) == 1 and ${failed} <= ${MOST_FAILED})`,
      ...(isOfCadvisor ? [newestQuery(ofMetric, 0)] : []),
    ].map(async (query) => valuesOf(await runQuery(query))),
  );
  if (found.includes(null)) return () => null;
  const [newestOfAll, scraped, marked, succeeded, newest] = found;
  const last = newestOfAll?.get(scrapedKey({}));
  return ({ labels, ageSeconds, intervalSeconds }) => {
    const key = scrapedKey(labels);
    const at = scraped?.get(key);
    if (last === undefined) return null;
    if (at === undefined) return marked?.has(key) === true ? 'removed' : null;
    const behindSeconds = last.value - at.value;
    if (behindSeconds > SCRAPE_JITTER * intervalSeconds)
      return behindSeconds <= markedAfterSeconds(intervalSeconds) ? 'removed' : null;
    if (ageSeconds === null) return succeeded?.has(key) === true ? 'failing' : null;
    const other = newest?.get(key);
    return other !== undefined && other.at - other.value <= lateAfterSeconds(intervalSeconds)
      ? 'removed'
      : null;
  };
}

function markedAfterSeconds(intervalSeconds: number): number {
  return MARKED_AFTER_INTERVALS * intervalSeconds + MARGIN_SECONDS;
}

/**
 * Returns a query for the series that have ended with a staleness marker. Prometheus shows a series without a marker
 * for five minutes after its last sample. VictoriaMetrics counts the markers.
 */
function markedQuery(
  up: string,
  { rangeSeconds, isVictoriaMetrics }: CheckedSelector,
  longestInterval: number,
): string {
  const seconds = Math.min(MAX_RANGE_SECONDS, Math.max(SCRAPED_WITHIN_SECONDS, rangeSeconds));
  if (isVictoriaMetrics) return `max ${BY} (stale_samples_over_time(${up}[${duration(seconds)}]) > 0)`;
  const steps = `[${duration(seconds)}:${duration(STEP_SECONDS)}]`;
  const shown = `max_over_time((time() + 0 * ${up})${steps}) - max_over_time(timestamp(${up})${steps})`;
  return `max ${BY} (${shown} <= ${markedAfterSeconds(longestInterval) + STEP_SECONDS})`;
}

interface Value {
  readonly value: number;
  /** Unix time of the evaluation in seconds. */
  readonly at: number;
}

/** Returns the values by target; null: there is no answer. */
function valuesOf(answer: Answer): ReadonlyMap<string, Value> | null {
  if (answer.class === 'missing') return new Map();
  if (answer.class !== 'value' && answer.class !== 'partial') return null;
  const at = answer.evaluatedAt / 1000;
  return new Map(answer.series.map(({ labels, value }) => [scrapedKey(labels), { value, at }]));
}
