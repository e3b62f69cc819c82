import {
  clockSlackMs,
  type History,
  isBoundCorrection,
  plansWithin,
  rulesOf,
  targetOf,
  type Write,
} from './history.js';
import { describeWrite, type Found, type Invariant } from './violation.js';

type Direction = 'up' | 'down';

function directionOf({ from, to }: Write): Direction {
  return to > from ? 'up' : 'down';
}

/**
 * Returns the gap for the window of the later write: from the decision of the earlier one. Its answer, and its effect,
 * may have been much later.
 */
function gapMs(earlier: Write, later: Write): number {
  return later.atMs - earlier.begunMs;
}

const sameDirection: Invariant = {
  id: 'I4',
  text: 'two writes in a direction are at least its window apart, across processes, restarts, crashes and leaders',
  check: (history) =>
    windowBreaches(history, (earlier, later) => directionOf(earlier) === directionOf(later)),
};

const oppositeDirection: Invariant = {
  id: 'I5',
  text: 'if windows start at any change, a write also respects the window after a write in the other direction',
  check: (history) =>
    windowBreaches(
      history,
      (earlier, later, isSinceAny) => isSinceAny && directionOf(earlier) !== directionOf(later),
    ),
};

function windowBreaches(
  history: History,
  isMeasured: (earlier: Write, later: Write, isSinceAny: boolean) => boolean,
): readonly Found[] {
  return history.targets.flatMap(({ scaler }) => {
    const writes = history.writes.filter(
      (write) => write.scaler === scaler && !isBoundCorrection(history, write),
    );
    return writes.flatMap((later, index): readonly Found[] => {
      const [plan] = plansWithin(history, scaler, later.decidedMs, later.decidedMs);
      if (plan === undefined) return [];
      const { upWindow, downWindow, isSinceAny } = rulesOf(plan);
      const windowSeconds = directionOf(later) === 'up' ? upWindow : downWindow;
      if (windowSeconds === 0) return [];
      const earlier = writes.slice(0, index).findLast((write) => isMeasured(write, later, isSinceAny));
      if (earlier === undefined) return [];
      const slackMs = clockSlackMs(history, earlier.decidedMs, later.atMs);
      if (gapMs(earlier, later) >= windowSeconds * 1000 - slackMs) return [];
      const message = `${describeWrite(later)}, ${Math.round(gapMs(earlier, later) / 1000)} s after ${describeWrite(earlier)}; the window is ${windowSeconds} s`;
      return [{ atMs: later.atMs, message, scaler, process: later.process }];
    });
  });
}

const stepLimit: Invariant = {
  id: 'I23',
  text: 'each write respects the policies of behavior; without behavior, it sets at most max(4, twice the count)',
  check: (history) =>
    history.writes.flatMap((write): readonly Found[] => {
      const { plan } = targetOf(history, write.scaler);
      if (isBoundCorrection(history, write)) return [];
      const limit = plan.behavior === null ? Math.max(4, 2 * write.from) : policyLimit(history, write);
      const isWithin =
        directionOf(write) === 'up' ? write.to <= limit : plan.behavior === null || write.to >= limit;
      const message = `${describeWrite(write)}, the limit is ${limit}`;
      return isWithin ? [] : [{ atMs: write.atMs, message, scaler: write.scaler, process: write.process }];
    }),
};

/**
 * Returns the limit by policies, from the count at the start of the period: the current one minus promscaler's own
 * changes within it. Decisions are dated by their requests: near the start, a change counts if it widens the limit.
 */
function policyLimit(history: History, write: Write): number {
  const { behavior } = targetOf(history, write.scaler).plan;
  const isUp = directionOf(write) === 'up';
  const rule = isUp ? behavior?.up : behavior?.down;
  if (rule === undefined) return write.to;
  const startMs = write.decidedMs - rule.periodSeconds * 1000;
  const slackMs = clockSlackMs(history, startMs, write.atMs);
  const isWithin = (other: Write): boolean =>
    directionOf(other) === directionOf(write)
      ? other.begunMs > startMs + slackMs
      : other.atMs > startMs - slackMs;
  const own = history.writes.filter(
    (other) =>
      other.scaler === write.scaler &&
      other.uid === write.uid &&
      other.atMs < write.atMs &&
      isWithin(other) &&
      (history.isDurable || other.process === write.process),
  );
  const changed = own.reduce((sum, { from, to }) => sum + to - from, 0);
  return write.from - changed + (isUp ? rule.pods : -rule.pods);
}

const notAtOnce: Invariant = {
  id: 'I24',
  text: 'a process scales below its first count only after a stabilization (or forbidden) window since its start',
  check: (history) =>
    history.processes.flatMap(({ name, startMs }) =>
      history.targets.flatMap(({ scaler }): readonly Found[] => {
        const count = firstCount(history, name, scaler);
        const first = history.writes.find(
          (write) =>
            write.process === name &&
            write.scaler === scaler &&
            directionOf(write) === 'down' &&
            // Another writer may have raised the count since: the first one is a recommendation of this start.
            (count === null || write.to < count) &&
            !isBoundCorrection(history, write),
        );
        const [plan] = plansWithin(history, scaler, first?.decidedMs ?? 0, first?.decidedMs ?? 0);
        if (first === undefined || plan === undefined) return [];
        const { downStabilization, downWindow } = rulesOf(plan);
        const waitMs = Math.max(downStabilization, history.isDurable ? 0 : downWindow) * 1000;
        if (first.atMs - startMs >= waitMs - clockSlackMs(history, startMs, first.atMs)) return [];
        const message = `${describeWrite(first)}, ${Math.round((first.atMs - startMs) / 1000)} s after its start`;
        return [{ atMs: first.atMs, message, scaler, process: name }];
      }),
    ),
};

/** The count at the first decision of a process; null: it has decided nothing. */
function firstCount({ byProcess }: History, process: string, scaler: string): number | null {
  const decisions = byProcess.get(process)?.decisions.get(scaler) ?? [];
  return decisions.find(({ specReplicas }) => specReplicas !== null)?.specReplicas ?? null;
}

export const WINDOW_INVARIANTS: readonly Invariant[] = [
  sameDirection,
  oppositeDirection,
  stepLimit,
  notAtOnce,
];
