import { stringLiteral } from '../../promql/quoting.js';
import { hasMatcher, type VectorSelector, withMatcher } from '../../promql/vector-selectors.js';
import type { Answer, RunQuery } from '../answers/answer.js';
import { type Labels, selectSeries } from '../answers/columns.js';
import type { LabelSelector } from '../../scaler/spec.js';
import type { FailureReason } from '../../units/failure.js';
import { allowedGapSeconds, type TargetAge } from '../source/judge-ages.js';

/** A target whose scrapes fail still counts as a target of a selector if it had samples within this time. */
const SEEN_SECONDS = 3600;
const SEEN_STEP_SECONDS = 120;

/**
 * In VictoriaMetrics, a new sample can be invisible to queries for this many seconds. Measured with version 1.145: 1 to
 * 3 s.
 */
const VISIBLE_SECONDS = 3;

/**
 * Maximum age of a value whose sample ages are still read. An older value means that the host was suspended, because no
 * cycle takes this long.
 */
const MAX_SINCE_VALUE_SECONDS = 120;

const INTERVAL_STEPS = 60;
/** A shorter interval is ignored: the samples have timestamps of their own instead of the scrape times. */
const MIN_INTERVAL_SECONDS = 0.1;
/** The scrape interval of a selector without a range is inferred from the samples of this many seconds. */
const INTERVAL_SECONDS = 600;

/** After one of these failures, the same query would always fail: this server does not provide ages. */
const REFUSED: ReadonlySet<FailureReason> = new Set([
  'bad_query',
  'execution',
  'unauthorized',
  'too_large',
  'bad_answer',
]);

/**
 * Thrown if there is no answer now but a later check may succeed: the time limit has passed, the source does not
 * answer, or the value is too old.
 */
export class Unanswered extends Error {}

export interface CheckedSelector {
  readonly text: string;
  readonly rangeSeconds: number;
  readonly offsetSeconds: number;
  /** The `by` clause with the labels that identify a target. */
  readonly by: string;
  /**
   * The pods whose series are included; null: all series. Series without the label `pod` are included unless
   * `isOfPodsOnly`.
   */
  readonly pods: ReadonlySet<string> | null;
  readonly isOfPodsOnly?: boolean;
  /**
   * Whether the query returns a value for each existing pod. If so, the rate of a pod that is younger than the range is
   * too low, and no removed pod compensates for it.
   */
  readonly isOfPods: boolean;
  /**
   * Whether the server is VictoriaMetrics. There, `timestamp` also returns series that have ended, and a rate begins at
   * the last sample before its range.
   */
  readonly isVictoriaMetrics: boolean;
  /** The scrape interval in seconds that is assumed while none is known. */
  readonly defaultInterval: number;
  readonly maxAgeSeconds: number | null;
  /** Unix time in seconds at which the server evaluated the value; null: now. */
  readonly valueAtSeconds: number | null;
}

/**
 * Adds a matcher for the pods that match `pattern`. Returns a selector unchanged if it has no matcher for `namespace`,
 * or already one for `pod`.
 */
export function ofPodsOnly(selector: VectorSelector, pattern: string): string {
  return hasMatcher(selector, 'namespace') && !hasMatcher(selector, 'pod')
    ? withMatcher(selector, `pod=~${stringLiteral(pattern)}`)
    : selector.text;
}

type MeasuredSelector = Pick<
  CheckedSelector,
  'text' | 'rangeSeconds' | 'offsetSeconds' | 'by' | 'isVictoriaMetrics' | 'defaultInterval'
>;

/** Returns the scrape interval of each job of a selector; empty if no job has two samples at different times. */
export async function readIntervals(selector: MeasuredSelector, runQuery: RunQuery): Promise<Intervals> {
  return intervalsOf(readAll(await runQuery(intervalQuery(selector))) ?? [], selector.defaultInterval);
}

function intervalQuery({
  text,
  rangeSeconds,
  offsetSeconds,
  by,
  isVictoriaMetrics,
}: MeasuredSelector): string {
  const span = rangeSeconds > 0 ? 2 * rangeSeconds : INTERVAL_SECONDS;
  const step = Math.max(1, Math.ceil(span / INTERVAL_STEPS));
  // In VictoriaMetrics, the function `changes` would also count the first sample of a series as a change.
  const changes = isVictoriaMetrics ? 'changes_prometheus' : 'changes';
  const times = `max ${by} (timestamp(${text}${offset(offsetSeconds)}))[${duration(span)}:${step}s]`;
  return `quantile by (job) (0.5, (max_over_time(${times}) - min_over_time(${times})) / (${changes}(${times}) > 0))`;
}

export interface Intervals {
  readonly byJob: ReadonlyMap<string, number>;
  readonly longest: number;
}

function intervalsOf(series: readonly Read[], unknown: number): Intervals {
  const byJob = new Map<string, number>();
  for (const { labels, value } of series)
    if (value >= MIN_INTERVAL_SECONDS && Number.isFinite(value)) byJob.set(labels['job'] ?? '', value);
  return { byJob, longest: byJob.size === 0 ? unknown : Math.max(...byJob.values()) };
}

export interface ReadTarget extends TargetAge {
  /** The labels that identify the target; empty: the range has samples, but the selector has no live target. */
  readonly labels: Labels;
  /** Whether the target is known to have no samples in the hour before the range. */
  readonly isNew: boolean;
}

/** Returns the targets whose samples a selector reads; null: the server rejects the queries. */
export async function readTargets(
  selector: CheckedSelector,
  intervals: Intervals,
  runQuery: RunQuery,
): Promise<readonly ReadTarget[] | null> {
  const { rangeSeconds, offsetSeconds, isOfPods, isVictoriaMetrics } = selector;
  const { byJob, longest } = intervals;
  const gap = allowedGapSeconds(rangeSeconds, longest);
  const [ends, failed] = await Promise.all([
    readEnds(selector, gap, runQuery),
    runQuery(failingQuery(rangeSeconds)),
  ]);
  if (ends === null) return null;
  const { newest: live, start, before } = ends;
  const failing = new Set((readAll(failed) ?? []).map(({ labels }) => scrapedKey(labels)));
  const withoutStart = lacking(live, start, offsetSeconds + rangeSeconds);
  const withoutBefore = lacking(live, before, offsetSeconds + rangeSeconds + gap);
  const isLacking = withoutStart.size > 0 || withoutBefore.size > 0;
  const isAsked = live.length === 0 || isLacking || mayFail(live, failing);
  const read = isAsked ? await readSeen(selector, runQuery) : null;
  const seen = new Map((read ?? []).map(({ labels }) => [targetKey(labels), labels]));
  const delay = isVictoriaMetrics ? VISIBLE_SECONDS : 0;
  const ageOf = ({ at, value }: Read): number => Math.max(0, at - offsetSeconds - value - delay);
  const ofValue = await readOfValue(live, selector, runQuery);
  const targets = live.map((one): ReadTarget => {
    const isSeen = seen.has(targetKey(one.labels));
    const isOlder = failing.has(scrapedKey(one.labels)) || isSeen;
    return {
      labels: one.labels,
      isNew: read !== null && !isSeen,
      ageSeconds: Math.max(ageOf(one), ageOf(ofValue.get(targetKey(one.labels)) ?? one)),
      intervalSeconds: byJob.get(one.labels['job'] ?? '') ?? longest,
      hasGap: isOlder && (withoutStart.has(one) || withoutBefore.has(one)),
      isYoung: withoutStart.has(one) && !isOlder && isOfPods,
    };
  });
  for (const { labels } of live) seen.delete(targetKey(labels));
  for (const labels of seen.values())
    if (failing.has(scrapedKey(labels)))
      targets.push({ ...NO_FLAGS, labels, ageSeconds: null, intervalSeconds: longest });
  const isEmpty = targets.length === 0 && rangeSeconds > 0;
  return isEmpty && (await hasSamples(selector, runQuery))
    ? [{ ...NO_FLAGS, labels: {}, ageSeconds: rangeSeconds, intervalSeconds: longest }]
    : targets;
}

const NO_FLAGS = { isNew: false, hasGap: false, isYoung: false } as const;

interface Ends {
  readonly newest: readonly Read[];
  /** The newest samples in the first `gap` seconds of the range; null: not needed, or the server rejects the query. */
  readonly start: readonly Read[] | null;
  /**
   * The newest samples before the range; null: not needed, the server rejects the query, or it is not VictoriaMetrics.
   */
  readonly before: readonly Read[] | null;
}

/** Label that marks the samples of `start` and `before` in the shared answer. */
const MARK = 'promscaler_start';

/**
 * Returns the newest samples at the end and at the start of the range, by one query. If the server rejects this query,
 * for example because the answer exceeds its limit of series, sends a separate query for each. Null: the query for the
 * end of the range is rejected, too.
 */
async function readEnds(selector: CheckedSelector, gap: number, runQuery: RunQuery): Promise<Ends | null> {
  const { rangeSeconds, offsetSeconds, isVictoriaMetrics } = selector;
  const newestOnly = newestQuery(selector, offsetSeconds);
  if (gap >= rangeSeconds) {
    const newest = readCounted(await runQuery(newestOnly), selector);
    return newest === null ? null : { newest, start: null, before: null };
  }
  const startOnly = newestQuery(selector, offsetSeconds + rangeSeconds - gap);
  const beforeOnly = isVictoriaMetrics ? newestQuery(selector, offsetSeconds + rangeSeconds) : null;
  const marked = [startOnly, ...(beforeOnly === null ? [] : [beforeOnly])].map(
    (query, index) => `label_replace(${query}, "${MARK}", "${index + 1}", "", "")`,
  );
  const all = readCounted(await runQuery([newestOnly, ...marked].join(' or ')), selector);
  if (all !== null) {
    const withMark = (mark: string | undefined): readonly Read[] =>
      all.filter(({ labels }) => labels[MARK] === mark);
    const before = beforeOnly === null ? null : withMark('2');
    return { newest: withMark(undefined), start: withMark('1'), before };
  }
  const newest = readCounted(await runQuery(newestOnly), selector);
  if (newest === null) return null;
  const start = readCounted(await runQuery(startOnly), selector);
  return {
    newest,
    start,
    before: beforeOnly === null ? null : readCounted(await runQuery(beforeOnly), selector),
  };
}

export function newestQuery(
  { text, by, isVictoriaMetrics }: Pick<CheckedSelector, 'text' | 'by' | 'isVictoriaMetrics'>,
  seconds: number,
): string {
  const selected = `${text}${offset(seconds)}`;
  return `max ${by} (timestamp(${selected})${isVictoriaMetrics ? ` and ${selected}` : ''})`;
}

/**
 * Returns the newest sample of each target when the value was evaluated; empty if no target has a later sample. A
 * server that was suspended may evaluate the value before it scrapes again.
 */
async function readOfValue(
  live: readonly Read[],
  selector: CheckedSelector,
  runQuery: RunQuery,
): Promise<ReadonlyMap<string, Read>> {
  const { valueAtSeconds, offsetSeconds } = selector;
  const [first] = live;
  if (valueAtSeconds === null || first === undefined) return new Map();
  const since = first.at - valueAtSeconds;
  const isLater = live.some(({ value }) => value > valueAtSeconds - offsetSeconds);
  if (since <= 0 || !isLater) return new Map();
  if (since > MAX_SINCE_VALUE_SECONDS)
    throw new Unanswered(`the value was evaluated ${Math.round(since)} s ago`);
  // The shift is in whole seconds, so that scalers share the query. One second is added for the time that the query
  // takes.
  const shift = Math.ceil(since) + 1;
  const read = readCounted(await runQuery(newestQuery(selector, offsetSeconds + shift)), selector) ?? [];
  return new Map(read.map((one) => [targetKey(one.labels), { ...one, at: one.at - shift }]));
}

/**
 * Returns the targets that have no sample in the given seconds before the evaluation; empty if `read` is null
 * (unknown).
 */
function lacking(live: readonly Read[], read: readonly Read[] | null, seconds: number): ReadonlySet<Read> {
  if (read === null) return new Set();
  const recent = read.filter(({ value, at }) => value >= at - seconds);
  const keys = new Set(recent.map(({ labels }) => targetKey(labels)));
  return new Set(live.filter(({ labels }) => !keys.has(targetKey(labels))));
}

/**
 * Returns a query for the targets whose scrapes fail now, or failed within a range. Removed targets are excluded,
 * because their last scrapes usually failed before Prometheus noticed the removal.
 */
function failingQuery(rangeSeconds: number): string {
  const up = rangeSeconds === 0 ? 'up' : `min_over_time(up[${duration(rangeSeconds)}]) and up`;
  return `min by (job, instance) (${up}) == 0`;
}

/** Returns whether scrapes fail for any target of these jobs, because that target may belong to the selector. */
function mayFail(targets: readonly Read[], failing: ReadonlySet<string>): boolean {
  const jobs = new Set(targets.map(({ labels }) => labels['job'] ?? ''));
  return [...failing].some((key) => jobs.has(key.slice(0, key.indexOf('\n'))));
}

/** Returns the targets that had samples in the hour before the range; null: the server rejects the query. */
async function readSeen(selector: CheckedSelector, runQuery: RunQuery): Promise<readonly Read[] | null> {
  const { text, rangeSeconds, offsetSeconds, by } = selector;
  const window = `[${SEEN_SECONDS}s:${SEEN_STEP_SECONDS}s]${offset(offsetSeconds + rangeSeconds)}`;
  return readCounted(await runQuery(`max ${by} (max_over_time(timestamp(${text})${window}))`), selector);
}

/** Returns whether the range contains samples, which is possible even if the selector has no live targets. */
async function hasSamples(selector: CheckedSelector, runQuery: RunQuery): Promise<boolean> {
  const { text, rangeSeconds, offsetSeconds, by } = selector;
  const samples = `count_over_time(${text}[${duration(rangeSeconds)}]${offset(offsetSeconds)})`;
  return (readCounted(await runQuery(`max ${by} (${samples})`), selector) ?? []).length > 0;
}

interface Read {
  readonly labels: Labels;
  readonly value: number;
  /** Unix time of the evaluation in seconds. */
  readonly at: number;
}

/** Returns the series that belong to the selected pods. Returns null or throws like `readAll`. */
function readCounted(answer: Answer, { pods, isOfPodsOnly }: CheckedSelector): readonly Read[] | null {
  if (pods === null) return readAll(answer);
  if (isOfPodsOnly !== true)
    return readAll(answer)?.filter(({ labels }) => isCounted(labels['pod'] ?? '', pods)) ?? null;
  return readAll(answer, [{ key: 'pod', operator: 'In', values: [...pods] }]);
}

function isCounted(pod: string, pods: ReadonlySet<string>): boolean {
  return pod === '' || pods.has(pod);
}

/**
 * Returns the series of an answer that match the selector; null: the server rejects the query. Throws `Unanswered` if a
 * later query may succeed.
 */
function readAll(answer: Answer, selector: LabelSelector = []): readonly Read[] | null {
  switch (answer.class) {
    case 'missing':
      return [];
    case 'invalid':
      return null;
    case 'failed':
      if (REFUSED.has(answer.reason)) return null;
      throw new Unanswered(answer.message);
    case 'value':
    case 'partial':
      return selectSeries(answer.series, selector).map(({ labels, value }) => ({
        labels,
        value,
        at: answer.evaluatedAt / 1000,
      }));
    default:
      return answer satisfies never;
  }
}

/** Identifies the target that was scraped, which may expose series of several pods. */
export function scrapedKey(labels: Labels): string {
  return `${labels['job'] ?? ''}\n${labels['instance'] ?? ''}`;
}

function targetKey(labels: Labels): string {
  return `${scrapedKey(labels)}\n${labels['pod'] ?? ''}`;
}

function offset(seconds: number): string {
  return seconds === 0 ? '' : ` offset ${duration(seconds)}`;
}

/** Returns a duration in milliseconds, a unit that every server accepts. */
export function duration(seconds: number): string {
  return `${Math.round(seconds * 1000)}ms`;
}
