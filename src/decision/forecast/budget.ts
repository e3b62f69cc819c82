import { PART_SECONDS, PARTS } from '../../units/forecast-state.js';
import { addSeconds, type Instant, multipleBefore, secondsBetween } from '../../units/time.js';
import type { ForecastState, LoadMinute, Recommendation, SpentPart } from '../snapshot/snapshot.js';

/** After a longer pause between two decisions, only this much of it counts, because its counts are unknown. */
const LONGEST_STEP_SECONDS = 300;

export interface Counts {
  readonly current: number;
  /** The count without a forecast. */
  readonly reactive: number;
  /** The count of a forecast that is not used; null: the forecast is used, or there is none. */
  readonly observed: number | null;
  /** Pods needed for the load, at the usage that the forecast plans with. */
  readonly needed: number;
  readonly ready: number;
  /** The pods that would carry load without a forecast. */
  readonly carrying: number;
  /** The count that a forecast proposed early enough for its pods to be ready now. */
  readonly foreseen: number;
}

/** Returns what was spent since the last decision, in pod-seconds. */
export function stepOf(
  { before, now }: { readonly before: Instant; readonly now: Instant },
  { current, reactive, observed, needed, ready, carrying, foreseen }: Counts,
): Omit<SpentPart, 'from'> {
  const seconds = Math.min(LONGEST_STEP_SECONDS, Math.max(0, secondsBetween(before, now)));
  const without = observed === null ? Math.min(carrying, ready) : ready;
  const withIt = observed === null ? ready : Math.max(ready, foreseen);
  const short = Math.max(0, needed - without);
  return {
    reactive: reactive * seconds,
    added: Math.max(0, (observed ?? current) - reactive) * seconds,
    short: short * seconds,
    prevented: Math.max(0, short - Math.max(0, needed - withIt)) * seconds,
  };
}

export function addSpent(
  parts: readonly SpentPart[],
  now: Instant,
  step: Omit<SpentPart, 'from'>,
): readonly SpentPart[] {
  const from = multipleBefore(now, PART_SECONDS);
  const last = parts.at(-1);
  const isNew = last?.from !== from;
  const open = isNew ? { from, reactive: 0, added: 0, short: 0, prevented: 0 } : last;
  const next: SpentPart = {
    from,
    reactive: open.reactive + step.reactive,
    added: open.added + step.added,
    short: open.short + step.short,
    prevented: open.prevented + step.prevented,
  };
  const start = addSeconds(from, -PART_SECONDS * (PARTS - 1));
  const kept = (isNew ? parts : parts.slice(0, -1)).filter((part) => part.from >= start && part.from < from);
  return [...kept, next];
}

export function sumOfParts(parts: readonly SpentPart[]): Omit<SpentPart, 'from'> {
  const sum = { reactive: 0, added: 0, short: 0, prevented: 0 };
  for (const { reactive, added, short, prevented } of parts) {
    sum.reactive += reactive;
    sum.added += added;
    sum.short += short;
    sum.prevented += prevented;
  }
  return sum;
}

/**
 * Returns the pod-seconds that the forecast added, in percent of the replicas of three days without it. For days that
 * are not recorded yet, assumes the count `reactive`, so that the first raise of a new scaler does not use the whole
 * budget.
 */
export function spentPercent(parts: readonly SpentPart[], reactive: number): number {
  const [first] = parts;
  const last = parts.at(-1);
  if (first === undefined || last === undefined) return 0;
  const { added, reactive: known } = sumOfParts(parts);
  const knownSeconds = secondsBetween(first.from, last.from) + PART_SECONDS;
  const rest = Math.max(0, PARTS * PART_SECONDS - knownSeconds) * reactive;
  const total = known + rest;
  return total > 0 ? (100 * added) / total : 0;
}

/** Returns the loads of the last ten minutes, including this one. */
export function addMinute(minutes: readonly LoadMinute[], now: Instant, load: number): readonly LoadMinute[] {
  const at = multipleBefore(now, 60);
  const start = addSeconds(at, -9 * 60);
  const kept = minutes.filter((minute) => minute.at >= start && minute.at < at);
  const open = minutes.find((minute) => minute.at === at) ?? { at, sum: 0, count: 0 };
  return [...kept, { at, sum: open.sum + load, count: open.count + 1 }];
}

/** Returns the proposals of the last `seconds` and the last one before, and adds this one if it differs. */
export function addProposal(
  proposals: readonly Recommendation[],
  { at, replicas }: Recommendation,
  seconds: number,
): readonly Recommendation[] {
  const start = addSeconds(at, -seconds);
  const firstInside = proposals.findIndex((proposal) => proposal.at > start);
  const kept = firstInside < 0 ? proposals.slice(-1) : proposals.slice(Math.max(0, firstInside - 1));
  return (kept.at(-1)?.replicas === replicas ? kept : [...kept, { at, replicas }]).slice(-MOST_PROPOSALS);
}

/** Bounds the state of a scaler whose forecast changes with each decision. */
const MOST_PROPOSALS = 64;

/** Returns the count that a forecast had proposed `seconds` before. */
export function foreseenAt(
  { proposals }: Pick<ForecastState, 'proposals'>,
  now: Instant,
  seconds: number,
): number {
  const time = addSeconds(now, -seconds);
  return proposals.findLast(({ at }) => at <= time)?.replicas ?? 0;
}
