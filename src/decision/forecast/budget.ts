import { PART_SECONDS, PARTS } from '../../units/bounds.js';
import { addSeconds, type Instant, multipleBefore, secondsBetween } from '../../units/time.js';
import type { ForecastState, LoadMinute, Recommendation, SpentPart } from '../snapshot/snapshot.js';

/**
 * Longest time for which a decision adds pod-seconds. If more time has passed since the last decision, the counts of
 * that time are unknown.
 */
const LONGEST_STEP_SECONDS = 300;

export interface Counts {
  readonly current: number;
  /** The count that the scaler would have without a forecast. */
  readonly reactive: number;
  /** The count that a forecast in mode `Observe` proposes, or 0 if it proposes none; null: the mode is `Raise`. */
  readonly observed: number | null;
  /** Pods needed for the current load, at the usage that the forecast plans with. */
  readonly needed: number;
  readonly ready: number;
  /** The pods that would carry load by now without a forecast (`carryingPods`). */
  readonly carrying: number;
  /** The count that the forecast proposed early enough for its pods to carry load now. */
  readonly foreseen: number;
}

/**
 * Returns the pods that the forecast added, and the missing pods that it prevented, since the last decision, in
 * pod-seconds.
 */
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
  const next = { from, ...sumOfParts(isNew ? [step] : [last, step]) };
  const start = addSeconds(from, -PART_SECONDS * (PARTS - 1));
  const kept = (isNew ? parts : parts.slice(0, -1)).filter((part) => part.from >= start && part.from < from);
  return [...kept, next];
}

export function sumOfParts(parts: readonly Omit<SpentPart, 'from'>[]): Omit<SpentPart, 'from'> {
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
 * Returns the pod-seconds that the forecast added within three days, in percent of the pod-seconds without a forecast.
 * If less than three days are recorded, `reactive` replicas are assumed for the time before: otherwise the first
 * increase of a new scaler would use the whole budget.
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

/** Adds `load` to the loads of the last ten minutes. Each minute has the sum and the number of its loads. */
export function addMinute(minutes: readonly LoadMinute[], now: Instant, load: number): readonly LoadMinute[] {
  const at = multipleBefore(now, 60);
  const start = addSeconds(at, -9 * 60);
  const kept = minutes.filter((minute) => minute.at >= start && minute.at < at);
  const open = minutes.find((minute) => minute.at === at) ?? { at, sum: 0, count: 0 };
  return [...kept, { at, sum: open.sum + load, count: open.count + 1 }];
}

/**
 * Returns the proposals of the last `seconds`, preceded by the proposal that was in effect at the start of that time.
 * The new proposal is added only if it differs from the last one.
 */
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

/** Limits the list for a forecast that changes with each decision. */
const MOST_PROPOSALS = 64;

/** Returns the count that the forecast proposed `seconds` ago; 0: it proposed none. */
export function foreseenAt(
  { proposals }: Pick<ForecastState, 'proposals'>,
  now: Instant,
  seconds: number,
): number {
  const time = addSeconds(now, -seconds);
  return proposals.findLast(({ at }) => at <= time)?.replicas ?? 0;
}
