import { isByNamespace } from '../data-source/resource-queries.js';
import { podsPattern } from '../../promql/pods-pattern.js';
import { type SelectedRange, selectedRanges } from '../../promql/ranges.js';
import { hasMatcher, withoutMatcher } from '../../promql/vector-selectors.js';
import { isOfResource, isOfTotal, type MetricSpec, type Scaler } from '../../scaler/spec.js';
import type { Clock } from '../../units/clock.js';
import { RecentMap } from '../../units/recent-map.js';
import type { Answer, RunQuery } from '../answers/answer.js';
import type { SourceConfig } from '../data-source/source-config.js';
import { judgeAges } from '../source/judge-ages.js';
import { metricChecks, metricQueryText } from './compile-queries.js';
import {
  type CheckedSelector,
  type Intervals,
  ofPodsOnly,
  readIntervals,
  readTargets,
  Unanswered,
} from './target-ages.js';

/** Checks how old the samples are on which the values of one data source are based. */
export interface SampleAges {
  /**
   * Returns why the value of a metric may be based on old samples. Null: the value is not based on old samples, or the
   * age cannot be checked. Never rejects.
   */
  readonly check: (
    checked: CheckedMetric,
    runQuery: (query: string, seconds: number) => Promise<Answer>,
  ) => Promise<string | null>;
}

export interface CheckedMetric {
  readonly scaler: Scaler;
  readonly metric: MetricSpec;
  readonly config: SourceConfig;
  /** The names of the target's pods. Series of other pods do not count. */
  readonly pods: ReadonlySet<string>;
  /** Unix time in seconds at which the server evaluated the value; null: unknown. */
  readonly valueAtSeconds: number | null;
  /** Time limit of all queries together. */
  readonly seconds: number;
  /** Whether a result of the last minute may be used, because the decision is not applied. */
  readonly mayBeKept: boolean;
}

/**
 * Limits the checked selectors of a metric. Each selector takes two queries; selectors with the same range share one of
 * these.
 */
const MAX_SELECTORS = 8;

const INTERVAL_KEPT_MS = 600_000;

const KEPT_MS = 60_000;
/**
 * If samples were old, they are not checked again for this time: all scalers of the source may have old samples,
 * because the source is overloaded.
 */
const OLD_KEPT_MS = 30_000;

const MAYBE_OLD =
  'the value may be based on old samples: the samples were old at the last check, and newer ones have arrived since';

/**
 * If more than `APART` workloads of a namespace are checked within `AT_ONCE_MS`, one query reads all pods of the
 * namespace, which costs Prometheus less than a query for each workload.
 */
const APART = 3;
const AT_ONCE_MS = 5000;
/**
 * If the longest scrape interval exceeds the shortest by more than this factor, each workload is queried separately:
 * the longest interval determines the allowed gap, which would be too long for the other workloads.
 */
const MAX_SPREAD = 1.2;

export function createSampleAges(clock: Clock): SampleAges {
  const kept = new RecentMap<string, { readonly atMs: number; readonly why: string | null }>();
  const intervals = new RecentMap<string, { readonly atMs: number; readonly learned: Intervals }>();
  const checks = new RecentMap<string, { readonly sinceMs: number; readonly count: number }>();

  /** Counts a check of this selector. Returns whether more than `APART` checks of it began within `AT_ONCE_MS`. */
  const isShared = (whole: string): boolean => {
    const nowMs = clock.monotonicMs();
    const last = checks.get(whole, clock.now());
    const current =
      last !== undefined && nowMs - last.sinceMs < AT_ONCE_MS ? last : { sinceMs: nowMs, count: 0 };
    checks.set(whole, { ...current, count: current.count + 1 }, clock.now());
    return current.count >= APART;
  };

  const intervalsOf = async (selector: CheckedSelector, runQuery: RunQuery): Promise<Intervals> => {
    const nowMs = clock.monotonicMs();
    const key = `${selector.text} ${selector.rangeSeconds}`;
    const known = intervals.get(key, clock.now());
    if (known !== undefined && nowMs - known.atMs < INTERVAL_KEPT_MS) return known.learned;
    const learned = await readIntervals(selector, runQuery);
    if (learned.byJob.size > 0) intervals.set(key, { atMs: nowMs, learned }, clock.now());
    return learned;
  };

  const checkSelector = async (selector: CheckedSelector, runQuery: RunQuery): Promise<Verdict> => {
    const interval = await intervalsOf(selector, runQuery);
    const shortest = Math.min(...interval.byJob.values());
    if (selector.isOfPodsOnly === true && interval.longest > MAX_SPREAD * shortest) return UNKNOWN;
    const targets = await readTargets(selector, interval, runQuery);
    if (targets === null) return UNKNOWN;
    const { rangeSeconds, maxAgeSeconds } = selector;
    return { isKnown: targets.length > 0, why: judgeAges(targets, { rangeSeconds, maxAgeSeconds }) };
  };

  const checkNow = async (checked: CheckedMetric, runQuery: RunQuery): Promise<string | null> => {
    const { metric, scaler, config } = checked;
    const { backlog = '' } = metricChecks(metric, scaler)?.queries ?? {};
    const queries = [metricQueryText(metric, scaler, config) ?? '', backlog];
    const selected = queries.flatMap(selectedRanges).slice(0, MAX_SELECTORS);
    const verdicts = await Promise.all(
      selected.map(async (one) => {
        const selector = selectorOf(one, checked);
        const whole = wholeOf(one, selector, checked);
        if (whole !== null && isShared(`${whole.text} ${whole.rangeSeconds}`)) {
          const shared = await checkSelector({ ...whole, isOfPodsOnly: true }, runQuery);
          // Without a result, this workload is queried alone: the namespace may have too many series for the source.
          if (shared.isKnown) return shared;
        }
        const verdict = await checkSelector(selector, runQuery);
        // Without a result, the whole selector is checked, because the pod label may have another name.
        return verdict.isKnown || whole?.text !== one.selector.text
          ? verdict
          : checkSelector(whole, runQuery);
      }),
    );
    return verdicts.find(({ why }) => why !== null)?.why ?? null;
  };

  return {
    check: async (checked, runWithin) => {
      const { scaler, metric, seconds, mayBeKept } = checked;
      if (maxAgeOf(metric, checked.config) === 0) return null;
      const startMs = clock.monotonicMs();
      const key = `${scaler.key}\n${metric.type}\n${metric.identity}`;
      const last = kept.get(key, clock.now());
      const age = last === undefined ? Infinity : startMs - last.atMs;
      if (last !== undefined && (last.why === null ? mayBeKept && age < KEPT_MS : age < OLD_KEPT_MS))
        return last.why;
      const runQuery: RunQuery = (query) => {
        const left = seconds - (clock.monotonicMs() - startMs) / 1000;
        if (left < 0.1) throw new Unanswered('no time was left to query the age');
        return runWithin(query, left);
      };
      try {
        const why = await checkNow(checked, runQuery);
        kept.set(key, { atMs: startMs, why }, clock.now());
        // A sample that arrives late has the timestamp of its scrape: the server does not report whether it arrived
        // before the value was evaluated.
        return why ?? (last !== undefined && last.why !== null ? MAYBE_OLD : null);
      } catch (error) {
        if (error instanceof Unanswered) return `the age of its samples is unknown: ${error.message}`;
        throw error;
      }
    },
  };
}

/**
 * Returns the maximum sample age in seconds that the document or the config sets; 0: the age is not checked; null: the
 * limit follows from the scrape interval and the range.
 */
export function maxAgeOf(metric: MetricSpec, config: SourceConfig): number | null {
  const own = 'maxSampleAgeSeconds' in metric ? metric.maxSampleAgeSeconds : undefined;
  return own ?? config.maxSampleAgeSeconds ?? null;
}

interface Verdict {
  /** Whether the server has targets for the selector. */
  readonly isKnown: boolean;
  readonly why: string | null;
}

const UNKNOWN: Verdict = { isKnown: false, why: null };

function selectorOf(
  { selector, rangeSeconds, offsetSeconds }: SelectedRange,
  { metric, scaler, config, pods, valueAtSeconds }: CheckedMetric,
): CheckedSelector {
  const isTotal = isOfTotal(metric);
  const { kind, name } = scaler.spec.scaleTargetRef;
  const isMerged = isOfResource(metric) && isByNamespace(config, metric.name);
  return {
    text: isMerged ? ofPodsOnly(selector, podsPattern(kind, name)) : selector.text,
    rangeSeconds,
    offsetSeconds,
    by: isTotal ? 'by (job, instance)' : 'by (job, instance, pod)',
    pods: isTotal ? null : pods,
    isOfPods: metric.type === 'Pods',
    isVictoriaMetrics: config.flavor === 'victoriametrics',
    defaultInterval: config.scrapeIntervalSeconds,
    maxAgeSeconds: maxAgeOf(metric, config),
    valueAtSeconds,
  };
}

/**
 * Returns the selector without its matcher for pods, so that it selects all pods of the namespace; null: the selector
 * is not limited to a namespace and to the pods of the workload.
 */
function wholeOf(
  { selector }: SelectedRange,
  ofWorkload: CheckedSelector,
  { scaler }: CheckedMetric,
): CheckedSelector | null {
  if (!hasMatcher(selector, 'namespace')) return null;
  if (ofWorkload.text !== selector.text) return { ...ofWorkload, text: selector.text };
  const { kind, name } = scaler.spec.scaleTargetRef;
  const pattern = podsPattern(kind, name);
  const ofPods = selector.matchers.find(
    ({ label, operator, value }) => label === 'pod' && operator === '=~' && value === pattern,
  );
  return ofPods === undefined ? null : { ...ofWorkload, text: withoutMatcher(selector, ofPods) };
}
