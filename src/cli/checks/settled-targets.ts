import type { Answer } from '../../prometheus/answers/answer.js';
import {
  type CheckedSelector,
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

/** A target that was scraped within this time, and has no current `up`, was removed. */
const SCRAPED_WITHIN = '10m';

/**
 * Prometheus marks the series of a removed target as stale after the next two scrapes would have taken place, and 10 %
 * of the interval more. Until then, they look late. Source: Prometheus, scrape/scrape.go, endOfRunStaleness.
 */
const MARKED_AFTER_INTERVALS = 2.1;
const SCRAPE_JITTER = 1.1;

/** Adds to `MARKED_AFTER_INTERVALS`: the time in which Prometheus writes the mark. */
const MARGIN_SECONDS = 5;

/** From more failed scrapes within `SCRAPED_WITHIN` on, the target fails now and then, and has not just ended. */
const MOST_FAILED = 2;

/** cAdvisor sets timestamps, so that the series of a deleted container are visible for five minutes more. */
const OF_CADVISOR = /^container_/;

/**
 * Returns the targets without those whose samples are late or missing because a pod has just started or ended, which is
 * no problem of the data source:
 *
 * - The first scrapes of a pod have failed, because it did not listen yet: that is no gap.
 * - The target is not scraped anymore, unlike others of its job.
 * - The last scrape has failed, but not all within two intervals, nor earlier ones: a pod that ends is removed soon.
 * - The target has newer samples of the same metric: its pods of this selector have ended.
 *
 * If no target remains, returns all of them: nothing shows that only pods are the cause.
 */
export async function settledTargets(
  targets: readonly ReadTarget[],
  selector: CheckedSelector,
  runQuery: SourceContext['runQuery'],
): Promise<readonly ReadTarget[]> {
  const old = targets.map((one) => (one.isNew ? { ...one, hasGap: false } : one));
  const suspects = old.filter(
    ({ ageSeconds, intervalSeconds }) => ageSeconds === null || ageSeconds > SCRAPE_JITTER * intervalSeconds,
  );
  const instances = [...new Set(suspects.flatMap(({ labels }) => labels['instance'] ?? []))];
  // With an offset, the marks of the end have been written since.
  if (instances.length === 0 || instances.length > MAX_SUSPECTS || selector.offsetSeconds > 0) return old;
  const isEnded = await readEnded(suspects, {
    selector,
    runQuery,
    matcher: matcherFor('instance', instances),
  });
  const settled = old.filter((one) => !suspects.includes(one) || !isEnded(one));
  return settled.length === 0 ? old : settled;
}

interface Reading {
  readonly selector: CheckedSelector;
  readonly runQuery: SourceContext['runQuery'];
  /** Selects the suspects. */
  readonly matcher: string;
}

/** Returns a function that returns whether the pods of a target have ended. False if the server does not answer. */
async function readEnded(
  suspects: readonly ReadTarget[],
  { selector, runQuery, matcher }: Reading,
): Promise<(target: ReadTarget) => boolean> {
  const { isVictoriaMetrics } = selector;
  const [metric = null] = vectorSelectors(selector.text).map(({ metric }) => metric);
  const jobs = [...new Set(suspects.map(({ labels }) => labels['job'] ?? ''))];
  const longest = Math.max(...suspects.map(({ intervalSeconds }) => intervalSeconds));
  const by = 'by (job, instance)';
  const ofJob = { text: `up{${matcherFor('job', jobs)}}`, by: 'by (job)', isVictoriaMetrics };
  const up = `up{${matcher}}`;
  const failed = `count_over_time(${up}[${SCRAPED_WITHIN}]) - sum_over_time(${up}[${SCRAPED_WITHIN}])`;
  const ofTarget = { text: up, by, isVictoriaMetrics };
  const ofMetric = { text: `${metric ?? ''}{${matcher}}`, by, isVictoriaMetrics };
  const isOfCadvisor = metric !== null && OF_CADVISOR.test(metric);
  const recent = `${Math.ceil(lateAfterSeconds(longest))}s`;
  const found = await Promise.all(
    [
      newestQuery(ofJob, 0),
      newestQuery(ofTarget, 0),
      `max ${by} (last_over_time(${up}[${SCRAPED_WITHIN}]))`,
      `max ${by} (max_over_time(${up}[${recent}]) == 1 and ${failed} <= ${MOST_FAILED})`,
      ...(isOfCadvisor ? [newestQuery(ofMetric, 0)] : []),
    ].map(async (query) => valuesOf(await runQuery(query))),
  );
  if (found.includes(null)) return () => false;
  const [newestOfJob, scraped, known, succeeded, newest] = found;
  return ({ labels, ageSeconds, intervalSeconds }) => {
    const key = scrapedKey(labels);
    const at = scraped?.get(key);
    const last = newestOfJob?.get(scrapedKey({ job: labels['job'] ?? '' }));
    if (last === undefined) return false;
    if (at === undefined) return known?.has(key) === true;
    const behindSeconds = last.value - at.value;
    if (behindSeconds > SCRAPE_JITTER * intervalSeconds)
      return behindSeconds <= MARKED_AFTER_INTERVALS * intervalSeconds + MARGIN_SECONDS;
    if (ageSeconds === null) return succeeded?.has(key) === true;
    const other = newest?.get(key);
    return other !== undefined && other.at - other.value <= lateAfterSeconds(intervalSeconds);
  };
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

function matcherFor(label: string, values: readonly string[]): string {
  return `${label}=~${stringLiteral(values.map(quoteRegex).join('|'))}`;
}
