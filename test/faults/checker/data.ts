import type { QueryRecord } from '../world/log.js';
import type { MetricPlan } from '../world/scenario.js';
import {
  type History,
  holdSecondsOf,
  isBoundCorrection,
  rulesOf,
  targetOf,
  type Write,
} from './history.js';
import { describeWrite, type Found, type Invariant } from './violation.js';

const CACHE_MS = 180_000;
const TIME_SLACK_MS = 2000;
const LONGEST_HOLD_MS = 960_000;
/** Below the exact need by rounding of percents, by tolerance and by the pods of the last rate window. */
const NEED_SHARE = 0.87;

function lowerings(history: History): readonly Write[] {
  return history.writes.filter((write) => write.to < write.from && !isBoundCorrection(history, write));
}

/** The answers to a metric's query that can have to do with a write, in their order. */
function answersTo(history: History, { process, decidedMs }: Write, metric: MetricPlan): readonly QueryRecord[] {
  const queries = history.byProcess.get(process)?.queries ?? [];
  return within(queries, decidedMs - LONGEST_HOLD_MS, decidedMs).filter(
    ({ query, answeredMs }) => answeredMs !== null && query.includes(metric.query),
  );
}

/** Those sent between two times. */
function within(queries: readonly QueryRecord[], fromMs: number, toMs: number): readonly QueryRecord[] {
  let low = 0;
  let high = queries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((queries[middle]?.sentMs ?? 0) < fromMs) low = middle + 1;
    else high = middle;
  }
  const some: QueryRecord[] = [];
  for (let query = queries[low]; query !== undefined && query.sentMs <= toMs; query = queries[(low += 1)])
    some.push(query);
  return some;
}

const onlyValues: Invariant = {
  id: 'I2',
  text: 'no lowering while a metric of the decision was no plain value, or its values had not come for long enough',
  check: (history) =>
    lowerings(history).flatMap((write): readonly Found[] => {
      const { plan } = targetOf(history, write.scaler);
      const doubts = plan.metrics.flatMap((metric) => doubtsOf(history, write, { metric, plan }));
      return doubts.map((doubt) => ({
        atMs: write.atMs,
        message: `${describeWrite(write)}: ${doubt}`,
        scaler: write.scaler,
        process: write.process,
      }));
    }),
};

function doubtsOf(
  history: History,
  write: Write,
  { metric, plan }: { readonly metric: MetricPlan; readonly plan: { readonly syncPeriodSeconds: number } },
): readonly string[] {
  const answers = answersTo(history, write, metric).filter(
    ({ answeredMs }) => (answeredMs ?? 0) <= write.decidedMs + TIME_SLACK_MS / 2,
  );
  const last = answers.at(-1);
  if (last === undefined) return [`${metric.query} was never answered`];
  if (last.answer !== 'value') return [`the last answer to ${metric.query} was ${last.answer}`];
  const holdMs = holdSecondsOf(metric, plan.syncPeriodSeconds) * 1000;
  const sinceMs = write.decidedMs - holdMs + TIME_SLACK_MS;
  const recent = answers.filter(({ answeredMs }) => (answeredMs ?? 0) > sinceMs);
  const broken = recent.find(({ answer }) => answer !== 'value' && answer !== 'failed');
  if (broken !== undefined)
    return [`${metric.query} was ${broken.answer} ${Math.round((write.atMs - broken.sentMs) / 1000)} s before`];
  const start = history.processes.find(({ name }) => name === write.process);
  if (start !== undefined && write.decidedMs - start.startMs < holdMs - TIME_SLACK_MS)
    return [`its process is younger than the hold of ${metric.query}`];
  if (!history.tellsStart) return [];
  const young = recent.find(
    ({ serverStartMs, answeredMs }) => serverStartMs !== null && (answeredMs ?? 0) - serverStartMs < holdMs - TIME_SLACK_MS,
  );
  const isPair = history.faults.some(
    (fault) =>
      fault.kind === 'source' &&
      fault.source === metric.source &&
      fault.what.mode === 'second-replica' &&
      fault.startMs < write.atMs &&
      fault.endMs > sinceMs,
  );
  // Which of two servers says its start, and which one answers, is chance: only I3 can judge that.
  if (young === undefined || isPair) return [];
  return [`the server that answered ${metric.query} was younger than its hold`];
}

const trueLoad: Invariant = {
  id: 'I3',
  text: 'no lowering unless the true load allowed it within window and lag, and none below what it was all through the window',
  check: (history) =>
    lowerings(history).flatMap((write): readonly Found[] => {
      const target = targetOf(history, write.scaler);
      const { downStabilization } = rulesOf(target.plan);
      const lagMs = lagSeconds(target.plan) * 1000;
      const windowMs = downStabilization * 1000;
      const { least } = target.load.extremes(write.decidedMs - windowMs - lagMs, write.decidedMs);
      const at = { atMs: write.atMs, scaler: write.scaler, process: write.process };
      if (write.to < least * NEED_SHARE - 1)
        return [{ ...at, message: `${describeWrite(write)}, the load needed at least ${least.toFixed(1)}` }];
      const lasting = lastingNeed(history, write, { windowMs, lagMs });
      if (write.to >= lasting * NEED_SHARE - 1) return [];
      return [{ ...at, message: `${describeWrite(write)}, ${lasting.toFixed(1)} were needed within the window` }];
    }),
};

function lagSeconds(plan: { readonly metrics: readonly MetricPlan[]; readonly syncPeriodSeconds: number }): number {
  return Math.max(...plan.metrics.map(({ windowSeconds }) => windowSeconds)) + 15 + 2 * plan.syncPeriodSeconds + 5;
}

/** The most that was needed for as long as it takes to be seen, within the stabilization; 0 where it could not be seen. */
function lastingNeed(
  history: History,
  write: Write,
  { windowMs, lagMs }: { readonly windowMs: number; readonly lagMs: number },
): number {
  const { load, plan } = targetOf(history, write.scaler);
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
  text: 'no lowering by what was watched longer than 180 s ago',
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
