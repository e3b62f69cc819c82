import { oldAfterSeconds, type TargetAge, judgeAges } from '../../prometheus/source/judge-ages.js';
import { maxAgeOf } from '../../prometheus/queries/sample-ages.js';
import { metricQueryText } from '../../prometheus/queries/compile-queries.js';
import {
  type CheckedSelector,
  readIntervals,
  readTargets,
  Unanswered,
} from '../../prometheus/queries/target-ages.js';
import { resourceQuery } from '../../prometheus/data-source/resource-queries.js';
import { selectedRanges } from '../../promql/ranges.js';
import { inSeconds, listSome } from '../../units/format.js';
import { mapAtOnce } from '../../units/semaphore.js';
import type { SourceContext } from './context.js';
import type { Checked, CheckResult, CheckResults } from './check-result.js';
import { usedResources } from './resource-labels.js';
import { isOfResource } from '../../scaler/spec.js';
import { settledTargets } from './settled-targets.js';

/** Limits the checked selectors, because each takes about four queries. */
const MAX_SELECTORS = 40;
const CONCURRENT_SELECTORS = 4;

interface UsedSelector extends CheckedSelector {
  /** Who uses the selector, for messages: a resource, or a scaler with the name of its metric. */
  readonly user: string;
}

type Lag =
  | { readonly kind: 'rejected' | 'empty'; readonly user: string }
  | { readonly kind: 'unknown'; readonly user: string; readonly why: string }
  | ReadLag;

interface ReadLag {
  readonly kind: 'read';
  readonly user: string;
  readonly isRange: boolean;
  /** Why the samples are too old; null: they are new enough. */
  readonly why: string | null;
  /** The highest age in seconds among the targets whose newest sample is within the bound. */
  readonly ageSeconds: number;
  /** The number of targets whose newest sample is older than the bound, or missing. */
  readonly lateTargets: number;
  readonly targets: number;
  readonly boundSeconds: number;
}

/**
 * Checks the age of the newest samples of the metrics. The service checks the age only before a scale-down, and only
 * for the pods of one workload.
 */
export async function checkSampleAge(context: Checked<SourceContext>): Promise<CheckResults> {
  const { source, make } = context;
  const used = usedSelectors(context);
  if (used.length === 0) return make.skipped('no document has a metric whose samples have a maximum age');
  const lags = await mapAtOnce(used.slice(0, MAX_SELECTORS), CONCURRENT_SELECTORS, (selector) =>
    readLag(selector, context),
  );
  const read = lags.flatMap((lag) => (lag.kind === 'read' ? [lag] : []));
  const old = read.filter(({ why }) => why !== null).sort(byLag);
  const [freshest] = read.filter(({ why }) => why === null).sort(byLag);
  const results: CheckResult[] = [];
  const [worst] = old;
  if (worst !== undefined) results.push(make.failed(sayOld(worst, old), fixOld(source.name)));
  const rejected = lags.filter(({ kind }) => kind === 'rejected');
  if (rejected.length > 0)
    results.push(
      make.warning(
        `the server rejects the queries for the age of the samples of ${sayUsers(rejected)}, so promscaler does not notice old samples, and old samples can cause a scale-down`,
        'allow timestamp() and offset at the server, or set freshness on Object and External metrics; ' +
          `prometheus.${source.name}.maxSampleAgeSeconds: 0 accepts samples of any age`,
      ),
    );
  const [unknown] = lags.flatMap((lag) => (lag.kind === 'unknown' ? [lag] : []));
  if (unknown !== undefined)
    results.push(
      make.warning(
        `the age of the samples of ${unknown.user} is unknown: ${unknown.why}`,
        'until the server answers the queries for the age, the metric can scale up but not down',
      ),
    );
  if (results.length > 0) return results;
  if (freshest === undefined)
    return make.skipped(`the data source has no current samples of ${sayUsers(lags)}`);
  const unchecked = used.length - lags.length;
  const rest = unchecked === 0 ? '' : `; ${unchecked} more selectors were not checked`;
  return make.ok(`${sayFresh(freshest)}${rest}`);
}

/** Returns the distinct selectors of the resource queries and of all documents. */
function usedSelectors(context: SourceContext): readonly UsedSelector[] {
  const { source, scalers } = context;
  const found = new Map<string, UsedSelector>();
  const add = (user: string, query: string, maxAgeSeconds: number | null): void => {
    if (maxAgeSeconds === 0) return;
    for (const { selector, rangeSeconds, offsetSeconds } of selectedRanges(query)) {
      const key = `${selector.text} ${rangeSeconds} ${offsetSeconds} ${maxAgeSeconds ?? ''}`;
      if (found.has(key)) continue;
      found.set(key, {
        user,
        text: selector.text,
        rangeSeconds,
        offsetSeconds,
        by: 'by (job, instance)',
        pods: null,
        isOfPods: false,
        isVictoriaMetrics: source.flavor === 'victoriametrics',
        defaultInterval: source.scrapeIntervalSeconds,
        maxAgeSeconds,
        valueAtSeconds: null,
      });
    }
  };
  for (const { resource, namespaces } of usedResources(context))
    add(resource, resourceQuery(source, resource, namespaces) ?? '', source.maxSampleAgeSeconds ?? null);
  for (const scaler of scalers)
    for (const metric of scaler.spec.metrics) {
      if (metric.source !== source.name || isOfResource(metric)) continue;
      const query = metricQueryText(metric, scaler, source) ?? '';
      add(`${metric.name} of ${scaler.key}`, query, maxAgeOf(metric, source));
    }
  return [...found.values()];
}

async function readLag(selector: UsedSelector, { runQuery }: SourceContext): Promise<Lag> {
  const { user, rangeSeconds } = selector;
  try {
    const intervals = await readIntervals(selector, runQuery);
    const read = await readTargets(selector, intervals, runQuery);
    if (read === null) return { kind: 'rejected', user };
    const targets =
      judgeAges(read, selector) === null ? read : await settledTargets(read, selector, runQuery);
    if (targets.length === 0) return { kind: 'empty', user };
    const boundOf = ({ intervalSeconds }: TargetAge): number => oldAfterSeconds(intervalSeconds, selector);
    const fresh = targets.filter((one) => one.ageSeconds !== null && one.ageSeconds <= boundOf(one));
    const [shown] = [...(fresh.length === 0 ? targets : fresh)].sort(
      (one, other) => (other.ageSeconds ?? 0) - (one.ageSeconds ?? 0),
    );
    const intervalSeconds = shown?.intervalSeconds ?? intervals.longest;
    return {
      kind: 'read',
      user,
      isRange: rangeSeconds > 0,
      why: judgeAges(targets, selector),
      ageSeconds: shown?.ageSeconds ?? 0,
      lateTargets: targets.length - fresh.length,
      targets: targets.length,
      boundSeconds: oldAfterSeconds(intervalSeconds, selector),
    };
  } catch (error) {
    if (error instanceof Unanswered) return { kind: 'unknown', user, why: error.message };
    throw error;
  }
}

function byLag(one: ReadLag, other: ReadLag): number {
  return other.ageSeconds / other.boundSeconds - one.ageSeconds / one.boundSeconds;
}

/** Does not print the scrape interval, because the check `scrape-interval` measures it in another way. */
function sayFresh({ user, ageSeconds, lateTargets, targets, boundSeconds }: ReadLag): string {
  const late = lateTargets === 0 ? '' : `; ${lateTargets} of ${targets} targets exceed the limit`;
  return `the newest samples of ${user} are up to ${Math.round(ageSeconds)} s old (limit: ${inSeconds(boundSeconds)})${late}`;
}

function sayOld({ user, why, isRange, boundSeconds }: ReadLag, old: readonly ReadLag[]): string {
  const others = new Set(old.map((one) => one.user));
  others.delete(user);
  const more = others.size === 0 ? '' : `. The same applies to ${listSome([...others])}`;
  const effect = isRange
    ? 'Rates are too low, so the scaler scales up too late'
    : 'The scaler scales up too late';
  return `${user}: ${why ?? ''} (limit: ${inSeconds(boundSeconds)}). ${effect} and does not scale down${more}`;
}

function sayUsers(lags: readonly Lag[]): string {
  return listSome([...new Set(lags.map(({ user }) => user))]);
}

function fixOld(name: string): string {
  return (
    'find the cause of the delay: scrapes (up == 0), remote write (prometheus_remote_storage_samples_pending), recording rules ' +
    '(prometheus_rule_group_iterations_missed_total); if the samples are always this late, add offset to the selector, or set ' +
    `maxSampleAgeSeconds of the metric or of prometheus.${name}`
  );
}
