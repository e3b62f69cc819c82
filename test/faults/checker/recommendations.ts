import { formatTime } from '../simulation/faults.js';
import type { BackTestRecord } from '../simulation/log.js';
import { type History, plansWithin } from './history.js';
import type { Found, Invariant } from './violation.js';

const HOUR_MS = 3_600_000;
/** A changed document is used from the next round on. */
const SETTLE_MS = 60_000;
/** An answer of the API server, or of a Lease, is this late. */
const LATE_MS = 15_000;

const ownDocument: Invariant = {
  id: 'I36',
  text: 'a decision uses the bounds of its document, whatever a back-test has recommended',
  check: (history) =>
    history.records.flatMap((record): readonly Found[] => {
      if (record.kind !== 'decision') return [];
      const { scaler, atMs, process, bounds } = record;
      const plans = plansWithin(history, scaler, atMs - SETTLE_MS, atMs);
      const isOwn = ({ minReplicas, maxReplicas }: (typeof plans)[number]): boolean =>
        bounds[0] === minReplicas && bounds[1] === maxReplicas;
      if (plans.length === 0 || plans.some(isOwn)) return [];
      const message = `${process} decided ${scaler} within ${bounds.join(' to ')} at ${formatTime(atMs)}`;
      return [{ atMs, message, scaler, process }];
    }),
};

const oneAtATime: Invariant = {
  id: 'I37',
  text: 'a process runs one back-test at a time, and one of a document a night',
  check: (history) =>
    withEarlier(history).flatMap(([one, earlier]): readonly Found[] => {
      const { atMs, scaler, process } = one;
      const own = earlier.filter((other) => other.process === process);
      const last = own.findLast((other) => other.scaler === scaler && nightOf(other) === nightOf(one));
      const isAgain = last !== undefined && !isRenewed(history, one, last.atMs);
      const under = own.find(({ endedMs }) => endedMs > atMs);
      if (!isAgain && under === undefined) return [];
      const why = under === undefined ? 'twice in a night' : `while it back-tests ${under.scaler}`;
      const message = `${process} back-tests ${scaler} at ${formatTime(atMs)} ${why}`;
      return [{ atMs, message, scaler, process }];
    }),
};

const onceAmongAll: Invariant = {
  id: 'I38',
  text: 'two processes never back-test a document at the same time',
  check: (history) =>
    withEarlier(history).flatMap(([{ atMs, scaler, process }, earlier]): readonly Found[] => {
      const other = earlier.find(
        (before) =>
          before.scaler === scaler &&
          before.process !== process &&
          before.endedMs > atMs + LATE_MS &&
          !isStopped(history, before.process, atMs),
      );
      if (other === undefined) return [];
      const message = `${process} back-tests ${scaler} at ${formatTime(atMs)}, and ${other.process} until ${formatTime(other.endedMs)}`;
      return [{ atMs, message, scaler, process }];
    }),
};

interface BackTest extends BackTestRecord {
  /** When it ended, was stopped, or its process was killed. */
  readonly endedMs: number;
}

/** Returns each back-test with those that began before it. */
function withEarlier(history: History): readonly (readonly [BackTest, readonly BackTest[]])[] {
  const ends = new Map(history.processes.map(({ name, endMs }) => [name, endMs ?? history.durationMs]));
  const all = history.records.flatMap((record) => {
    if (record.kind !== 'back-test') return [];
    const latestMs = ends.get(record.process) ?? history.durationMs;
    return [{ ...record, endedMs: Math.min(record.endedMs ?? latestMs, latestMs) }];
  });
  return all.map((one, index) => [one, all.slice(0, index)]);
}

/** A night begins each hour. */
function nightOf({ atMs }: BackTestRecord): number {
  return Math.floor(atMs / HOUR_MS);
}

/** Another version of the document, another term, or a wall clock that was set begin a night again. */
function isRenewed(history: History, { scaler, atMs }: BackTestRecord, sinceMs: number): boolean {
  return (
    history.isElected ||
    history.documents.some(
      (change) => change.scaler === scaler && change.atMs > sinceMs && change.atMs <= atMs,
    ) ||
    history.faults.some(
      ({ kind, what, startMs, endMs }) =>
        kind === 'cluster' && what.mode === 'clock-jump' && startMs <= atMs && endMs >= sinceMs - HOUR_MS,
    )
  );
}

/** A process that is stopped, or whose machine is, stops its back-test when it continues. */
function isStopped({ faults, processes }: History, process: string, atMs: number): boolean {
  const replica = processes.find(({ name }) => name === process)?.replica;
  return faults.some(
    (fault) =>
      fault.kind === 'cluster' &&
      ['stopped', 'suspended'].includes(fault.what.mode) &&
      (fault.replica === replica || fault.what.mode === 'suspended') &&
      fault.startMs <= atMs &&
      fault.endMs + LATE_MS >= atMs,
  );
}

export const RECOMMENDATION_INVARIANTS: readonly Invariant[] = [ownDocument, oneAtATime, onceAmongAll];
