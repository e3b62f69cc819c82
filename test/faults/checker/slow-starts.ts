import type { QueryRecord } from '../simulation/log.js';
import { type History, isBoundCorrection, type Target, targetOf, type Write } from './history.js';
import { describeWrite, type Found, type Invariant } from './violation.js';

/** The default of `saturation.factor`. */
const FACTOR = 2;
/** A recommendation of this time ago may count: the stabilization, the window of the query and two rounds. */
const REMEMBERED_MS = 450_000;

/** Returns the raises of workloads whose pods have limits. */
function limitedRaises(history: History): readonly Write[] {
  return history.writes.filter((write) => {
    const { metrics } = targetOf(history, write.scaler).plan;
    const isLimited = metrics.some(({ kind }) => kind === 'served');
    return isLimited && write.to > write.from && !isBoundCorrection(history, write);
  });
}

/** Returns the most pods that were ready at some time within a span. */
function mostReady({ ready }: Target, fromMs: number, toMs: number): number {
  let most = 0;
  ready.forEach(({ atMs, ready: count }, index) => {
    const endMs = ready[index + 1]?.atMs ?? Infinity;
    if (atMs <= toMs && endMs >= fromMs) most = Math.max(most, count);
  });
  return most;
}

const noCompounding: Invariant = {
  id: 'I34',
  text: 'a step for usage at its limit asks for at most twice the ready pods: pods that start do not count',
  check: (history) =>
    limitedRaises(history).flatMap((write): readonly Found[] => {
      const target = targetOf(history, write.scaler);
      const ready = mostReady(target, write.decidedMs - REMEMBERED_MS, write.atMs);
      if (write.to <= Math.max(target.plan.minReplicas, FACTOR * ready)) return [];
      const message = `${describeWrite(write)}, ${ready} pods were ready`;
      return [{ atMs: write.atMs, message, scaler: write.scaler, process: write.process }];
    }),
};

const withinCeiling: Invariant = {
  id: 'I35',
  text: 'a scale-up ends at the value of maxReplicasFrom, at its last value while the query has none',
  check: (history) =>
    history.writes.flatMap((write): readonly Found[] => {
      const { plan, ceilingAt } = targetOf(history, write.scaler);
      if (plan.ceilingQuery === undefined || write.to <= write.from) return [];
      if (isBoundCorrection(history, write)) return [];
      const known = answersTo(history, write, plan.ceilingQuery).map(({ answeredMs }) =>
        ceilingAt(answeredMs ?? 0),
      );
      // A process without an answer may know a stored one.
      if (known.length === 0 || write.to <= Math.max(...known)) return [];
      const message = `${describeWrite(write)}, the ceiling was ${known.join(' or ')}`;
      return [{ atMs: write.atMs, message, scaler: write.scaler, process: write.process }];
    }),
};

/** Returns the last two values that the process had read: the answers of a round may come after a decision. */
function answersTo(history: History, write: Write, query: string): readonly QueryRecord[] {
  return (history.byProcess.get(write.process)?.queries ?? [])
    .filter(
      (record) =>
        record.answer === 'value' &&
        record.query.includes(query) &&
        record.answeredMs !== null &&
        record.answeredMs <= write.decidedMs,
    )
    .slice(-2);
}

export const SLOW_START_INVARIANTS: readonly Invariant[] = [noCompounding, withinCeiling];
