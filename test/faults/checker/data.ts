import type { DecisionRecord, QueryRecord } from '../simulation/log.js';
import { type MetricPlan, SCRAPE_SECONDS, type WorkloadPlan } from '../simulation/scenario.js';
import {
  clockSlackMs,
  type History,
  holdSecondsOf,
  isBoundCorrection,
  rulesOf,
  startHoldSecondsOf,
  targetOf,
  type Write,
} from './history.js';
import { describeWrite, type Found, type Invariant } from './violation.js';

const CACHE_MS = 180_000;
const DAY_MS = 86_400_000;
/** Between a query and its answer. */
const MOMENT_MS = 500;
const LONGEST_HOLD_MS = 960_000;
/** Older answers are no longer compared, from a quarter of an hour on. */
const COMPARED_MS = 600_000;
/** In two rounds of the longest sync period, a process has compared the targets. */
const SETTLED_MS = 61_000;
/** Less than the exact need because of rounded percentages, tolerance and the pods of the last rate window. */
const NEED_SHARE = 0.87;

function lowerings(history: History): readonly Write[] {
  return history.writes.filter((write) => write.to < write.from && !isBoundCorrection(history, write));
}

/**
 * Returns the answers to a metric's query that the decisions of a scaler had before a write, those of the write last.
 */
function answersTo(history: History, write: Write, metric: MetricPlan): readonly QueryRecord[] {
  const own = history.byProcess.get(write.process);
  const fromMs = write.decidedMs - LONGEST_HOLD_MS;
  const asked = within(own?.queries ?? [], { fromMs, toMs: write.decidedMs, timeOf: ({ sentMs }) => sentMs });
  const answers = asked.filter(
    ({ query, answeredMs }) =>
      query.includes(metric.query) && answeredMs !== null && answeredMs <= write.decidedMs,
  );
  const timeOf = ({ atMs }: DecisionRecord): number => atMs;
  const decisions = within(own?.decisions.get(write.scaler) ?? [], { fromMs, toMs: write.decidedMs, timeOf });
  // Decisions with a change were reported only after it, when others had queried again.
  const times = [...decisions.filter(({ action }) => action === 'none').map(timeOf), write.decidedMs];
  return times
    .map((ms) => answers.findLast(({ answeredMs }) => (answeredMs ?? 0) <= ms))
    .filter((answer) => answer !== undefined);
}

/** Returns the records between two times; records are in order. */
function within<T>(
  records: readonly T[],
  span: { readonly fromMs: number; readonly toMs: number; readonly timeOf: (record: T) => number },
): readonly T[] {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const record = records[middle];
    if (record !== undefined && span.timeOf(record) < span.fromMs) low = middle + 1;
    else high = middle;
  }
  const some: T[] = [];
  for (
    let record = records[low];
    record !== undefined && span.timeOf(record) <= span.toMs;
    record = records[(low += 1)]
  )
    some.push(record);
  return some;
}

const onlyValues: Invariant = {
  id: 'I2',
  text: 'no scale-down while a metric of the decision has no full value of current samples, or has not had values for long enough',
  check: (history) =>
    lowerings(history).flatMap((write): readonly Found[] => {
      const { plan } = targetOf(history, write.scaler);
      const doubts = [
        ...plan.metrics.flatMap((metric) => doubtsOf(history, write, { metric, plan })),
        ...capacityDoubts(history, write, plan),
      ];
      return doubts.map((doubt) => ({
        atMs: write.atMs,
        message: `${describeWrite(write)}: ${doubt}`,
        scaler: write.scaler,
        process: write.process,
      }));
    }),
};

/** What a pod carries is measured by each process, stored for the next one, and known for a day. */
function capacityDoubts(history: History, write: Write, { autoQuery }: WorkloadPlan): readonly string[] {
  if (autoQuery === undefined) return [];
  const fromMs = write.decidedMs - DAY_MS;
  const span = { fromMs, toMs: write.decidedMs };
  const isKnown = [...history.byProcess.values()].some(({ queries }) =>
    within(queries, { ...span, timeOf: ({ sentMs }) => sentMs }).some(
      ({ query, answer }) => answer === 'value' && query.includes(autoQuery),
    ),
  );
  return isKnown ? [] : ['the capacity of a pod was not read within a day'];
}

function doubtsOf(
  history: History,
  write: Write,
  {
    metric,
    plan,
  }: { readonly metric: MetricPlan; readonly plan: Pick<WorkloadPlan, 'name' | 'syncPeriodSeconds'> },
): readonly string[] {
  const answers = answersTo(history, write, metric);
  const last = answers.at(-1);
  if (last === undefined) return [`${metric.query} was never answered`];
  if (last.answer !== 'value') return [`the last answer to ${metric.query} was ${last.answer}`];
  if (last.old.includes(plan.name) && !hasSecondServer(history, metric, write))
    return [`the last answer to ${metric.query} was based on old samples`];
  const holdMs = holdSecondsOf(metric, plan.syncPeriodSeconds) * 1000;
  const slackMs = clockSlackMs(history, write.decidedMs - holdMs, write.atMs) + MOMENT_MS;
  const sinceMs = write.decidedMs - holdMs + slackMs;
  const recent = answers.filter(({ answeredMs }) => (answeredMs ?? 0) > sinceMs);
  const broken = recent.find(({ answer }) => answer !== 'value' && answer !== 'failed');
  if (broken !== undefined)
    return [
      `${metric.query} was ${broken.answer} ${Math.round((write.atMs - broken.sentMs) / 1000)} s before`,
    ];
  const short = recent.find(
    ({ storeLostMs }) => storeLostMs !== null && isLossFound(history, write.process, metric, storeLostMs),
  );
  if (short !== undefined) {
    const seconds = Math.round((write.atMs - short.sentMs) / 1000);
    return [`a store was missing from the answer to ${metric.query} ${seconds} s before`];
  }
  const start = history.processes.find(({ name }) => name === write.process);
  const startHoldMs = startHoldSecondsOf(history, metric, plan.syncPeriodSeconds) * 1000;
  if (start !== undefined && write.decidedMs - start.startMs < startHoldMs - slackMs)
    return [`its process is younger than the hold of ${metric.query}`];
  const young = recent.find(
    ({ serverStartMs, answeredMs }) =>
      serverStartMs !== null &&
      (answeredMs ?? 0) - serverStartMs < holdMs - slackMs &&
      (history.tellsStart || isFound(history, { process: write.process, metric, startMs: serverStartMs })),
  );
  const isUnclear = history.faults.some(
    (fault) =>
      fault.kind === 'source' &&
      fault.source === metric.source &&
      ['second-replica', 'slow', 'hang'].includes(fault.what.mode) &&
      fault.startMs < write.atMs &&
      fault.endMs > sinceMs,
  );
  // Which of two servers answers, or reports its start, is random; a slow one may not report it in time.
  if (young === undefined || isUnclear) return [];
  return [`the server that answered ${metric.query} was younger than its hold`];
}

/**
 * Returns whether a process must have detected that a server which does not report its start had lost its data by then:
 * it compares with earlier answers (algorithm.md, section 4).
 */
function isFound(
  history: History,
  {
    process,
    metric,
    startMs,
  }: { readonly process: string; readonly metric: MetricPlan; readonly startMs: number },
): boolean {
  const wasEmptied = history.faults.some(
    (fault) =>
      fault.kind === 'source' &&
      fault.source === metric.source &&
      fault.what.mode === 'emptied' &&
      Math.abs(fault.startMs - startMs) < MOMENT_MS,
  );
  if (!wasEmptied) return false;
  const span = { fromMs: startMs - COMPARED_MS, toMs: startMs - MOMENT_MS };
  const before = within(history.byProcess.get(process)?.queries ?? [], {
    ...span,
    timeOf: ({ sentMs }) => sentMs,
  });
  return before.some(({ source, answer }) => source === metric.source && answer === 'value');
}

/**
 * Returns whether a process must have detected that a store is missing since then: it had values of it before, and no
 * other fault of the source hid the loss.
 */
function isLossFound(history: History, process: string, metric: MetricPlan, lostMs: number): boolean {
  const isHidden = history.faults.some(
    (fault) =>
      fault.kind === 'source' &&
      fault.source === metric.source &&
      fault.what.mode !== 'store-lost' &&
      fault.startMs < lostMs + SETTLED_MS &&
      fault.endMs > lostMs - COMPARED_MS,
  );
  if (isHidden) return false;
  const span = { fromMs: lostMs - COMPARED_MS, toMs: lostMs - SETTLED_MS };
  const before = within(history.byProcess.get(process)?.queries ?? [], {
    ...span,
    timeOf: ({ sentMs }) => sentMs,
  });
  return before.some(({ source, answer }) => source === metric.source && answer === 'value');
}

const trueLoad: Invariant = {
  id: 'I3',
  text: 'no scale-down unless the true load allowed it within window and lag, and never below the need of the whole window',
  check: (history) =>
    lowerings(history).flatMap((write): readonly Found[] => {
      const target = targetOf(history, write.scaler);
      const { downStabilization } = rulesOf(target.plan);
      const lagMs = lagSeconds(target.plan) * 1000;
      const windowMs = downStabilization * 1000;
      const { least } = target.load.extremes(write.decidedMs - windowMs - lagMs, write.decidedMs);
      const at = { atMs: write.atMs, scaler: write.scaler, process: write.process };
      if (downStabilization === 0 && (isHoled(history, write) || wasLowered(history, write, lagMs)))
        return [];
      if (write.to < least * NEED_SHARE - 1)
        return [{ ...at, message: `${describeWrite(write)}, the load needed at least ${least.toFixed(1)}` }];
      const lasting = lastingNeed(history, write, { windowMs, lagMs });
      if (write.to >= lasting * NEED_SHARE - 1) return [];
      return [
        { ...at, message: `${describeWrite(write)}, ${lasting.toFixed(1)} were needed within the window` },
      ];
    }),
};

/**
 * Returns whether data is too low for a moment without any sign in the answers: of two servers behind one address, one
 * has no history, and the other one may answer the queries for the age of its samples. A stabilization or a confirmation
 * protects against that; a document without one does not, and `validate` reports that.
 */
function isHoled(history: History, write: Write): boolean {
  const { metrics } = targetOf(history, write.scaler).plan;
  return metrics.some((metric) => hasSecondServer(history, metric, write));
}

/**
 * Returns whether another writer has lowered the count while the pods that are left still had their share of the load of
 * before in their samples. The HPA's rule multiplies that share by the new count. A stabilization keeps the higher
 * recommendation of before; a document without one does not.
 */
function wasLowered(history: History, write: Write, lagMs: number): boolean {
  const { name } = targetOf(history, write.scaler).plan;
  return history.faults.some(
    (fault) =>
      fault.kind === 'cluster' &&
      fault.target === name &&
      (fault.what.mode === 'foreign-write' || fault.what.mode === 'foreign-storm') &&
      fault.what.factor < 1 &&
      fault.startMs < write.decidedMs &&
      (fault.what.mode === 'foreign-storm' ? fault.endMs : fault.startMs) > write.decidedMs - lagMs,
  );
}

function hasSecondServer(
  history: History,
  { source, windowSeconds }: MetricPlan,
  { decidedMs }: Write,
): boolean {
  return history.faults.some(
    (fault) =>
      fault.kind === 'source' &&
      fault.what.mode === 'second-replica' &&
      fault.source === source &&
      fault.startMs < decidedMs &&
      fault.endMs + windowSeconds * 1000 + MOMENT_MS + 30_000 > decidedMs,
  );
}

function lagSeconds(plan: {
  readonly metrics: readonly MetricPlan[];
  readonly syncPeriodSeconds: number;
}): number {
  const { metrics, syncPeriodSeconds } = plan;
  return (
    Math.max(...metrics.map((metric) => metric.windowSeconds + ageSeconds(metric))) +
    2 * syncPeriodSeconds +
    5
  );
}

/** Returns how old the newest samples may be: a rate over them is a tenth too low, a gauge misses one scrape. */
function ageSeconds({ windowSeconds }: MetricPlan): number {
  if (windowSeconds === 0) return 2 * SCRAPE_SECONDS + 5;
  return Math.max(SCRAPE_SECONDS, windowSeconds / 10 + SCRAPE_SECONDS / 2);
}

/**
 * Returns the highest need that lasted long enough to be detected, within the stabilization; 0 if it could not be
 * detected.
 */
function lastingNeed(
  history: History,
  write: Write,
  { windowMs, lagMs }: { readonly windowMs: number; readonly lagMs: number },
): number {
  const { load, plan } = targetOf(history, write.scaler);
  // Pods at their limits do not show it.
  if (plan.metrics.some(({ kind }) => kind === 'served')) return 0;
  const startMs = write.decidedMs - windowMs;
  const start = history.processes.find(({ name }) => name === write.process)?.startMs ?? 0;
  const isDisturbed =
    start > startMs - 60_000 ||
    history.faults.some(
      (fault) =>
        fault.startMs < write.atMs &&
        fault.endMs > startMs - lagMs &&
        (fault.kind !== 'source' || plan.metrics.some(({ source }) => source === fault.source)),
    );
  if (isDisturbed) return 0;
  let most = 0;
  for (let ms = startMs; ms + lagMs < write.decidedMs; ms += 15_000)
    most = Math.max(most, load.extremes(ms, ms + lagMs).least);
  return most;
}

const freshCache: Invariant = {
  id: 'I19',
  text: 'no scale-down based on watched state older than 180 s',
  check: (history) =>
    lowerings(history).flatMap((write): readonly Found[] => {
      const { plan } = targetOf(history, write.scaler);
      const heard = history.byProcess.get(write.process)?.heard;
      return ['pods', 'deployments'].flatMap((resource): readonly Found[] => {
        const times = heard?.get(resource) ?? [];
        const last = times.findLast((ms) => ms <= write.decidedMs) ?? Number.NEGATIVE_INFINITY;
        if (write.decidedMs - last <= CACHE_MS + plan.syncPeriodSeconds * 1000) return [];
        const seconds = Math.round((write.decidedMs - last) / 1000);
        const message = `${describeWrite(write)}, ${seconds} s after the last news of ${resource}`;
        return [{ atMs: write.atMs, message, scaler: write.scaler, process: write.process }];
      });
    }),
};

export const DATA_INVARIANTS: readonly Invariant[] = [onlyValues, trueLoad, freshCache];
