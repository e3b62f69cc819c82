import { recurringAround } from '../../schedules/occurrences.js';
import { type Occurrence, type Schedule } from '../../schedules/schedule.js';
import { addSeconds, formatInstant, type Instant, secondsBetween } from '../../units/time.js';

export interface Bounds {
  readonly minReplicas: number;
  /** At least `minReplicas`. */
  readonly maxReplicas: number;
  /** The schedule that determines `minReplicas` (`ceiling`: `maxReplicas`); null: the document determines it. */
  readonly floor: BoundBy | null;
  readonly ceiling: BoundBy | null;
  /** The floor before it was lowered to `maxReplicas`; null: it was not lowered. */
  readonly clippedFloor: number | null;
}

interface BoundBy {
  readonly schedule: string;
  readonly replicas: number;
  /** `before`: the bound ramps before the start of the schedule. `after`: it ramps back after the end. */
  readonly phase: 'during' | 'before' | 'after';
  readonly until: Instant;
}

interface Unscheduled {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly schedules: readonly Schedule[];
}

/**
 * Returns the bounds in effect: the highest floor and the lowest ceiling of the schedules that are active or ramping,
 * otherwise the bounds of the document. A floor above the ceiling is lowered to the ceiling. During a ramp, a bound
 * moves linearly between the document's value and the schedule's value, rounded up. One ramp ends at the start of the
 * schedule, and a second one starts at its end; each takes `rampSeconds`. Source: algorithm.md, step 1.
 */
export function boundsInForce(spec: Unscheduled, now: Instant): Bounds {
  let floor: BoundBy | null = null;
  let ceiling: BoundBy | null = null;
  for (const schedule of spec.schedules) {
    const share = shareAt(schedule, now);
    if (share === null) continue;
    const min = boundBy(schedule, share, { own: spec.minReplicas, scheduled: schedule.minReplicas });
    const max = boundBy(schedule, share, { own: spec.maxReplicas, scheduled: schedule.maxReplicas });
    if (min !== null && (floor === null || min.replicas > floor.replicas)) floor = min;
    if (max !== null && (ceiling === null || max.replicas < ceiling.replicas)) ceiling = max;
  }
  const maxReplicas = ceiling?.replicas ?? spec.maxReplicas;
  const wanted = floor?.replicas ?? spec.minReplicas;
  const minReplicas = Math.min(wanted, maxReplicas);
  return { minReplicas, maxReplicas, floor, ceiling, clippedFloor: wanted > maxReplicas ? wanted : null };
}

/** Returns the lowest floor and the highest ceiling of the document and its schedules at any time. */
export function widestBounds({ minReplicas, maxReplicas, schedules }: Unscheduled): {
  readonly minReplicas: number;
  readonly maxReplicas: number;
} {
  const scheduled = schedules.flatMap((schedule) =>
    [schedule.minReplicas ?? [], schedule.maxReplicas ?? []].flat(),
  );
  const ceilings = schedules.flatMap((schedule) => schedule.maxReplicas ?? []);
  return {
    minReplicas: Math.min(minReplicas, ...scheduled),
    maxReplicas: Math.max(maxReplicas, ...ceilings),
  };
}

/**
 * Returns the highest maximum that may have led to the current count. A count above it is lowered immediately. The
 * maximum of a schedule is included while the schedule is active, and after that until the next scale-up. Lowering the
 * document's maximum takes effect immediately, unless the maximum of a schedule is included. Source: reliability.md,
 * decision 8.
 */
export function highestMax(
  { maxReplicas, schedules }: Omit<Unscheduled, 'minReplicas'>,
  now: Instant,
  lastScaleUp: Instant | null,
): number {
  if (schedules.length === 0) return maxReplicas;
  return schedules
    .filter((schedule) => (schedule.maxReplicas ?? 0) > maxReplicas && wasOnSince(schedule, lastScaleUp, now))
    .reduce((highest, schedule) => Math.max(highest, schedule.maxReplicas ?? 0), maxReplicas);
}

/**
 * Returns whether the schedule was active or ramping at any time between `since` and now; `since` null: at any time
 * until now.
 */
function wasOnSince(schedule: Schedule, since: Instant | null, now: Instant): boolean {
  const { last, next } = recurringAround(schedule, now);
  return [last, next, ...schedule.dates].some(
    (occurrence) =>
      occurrence !== null &&
      addSeconds(occurrence.start, -schedule.rampSeconds) <= now &&
      (since === null || addSeconds(occurrence.end, schedule.rampSeconds) > since),
  );
}

/**
 * Returns a bound with its origin: `minReplicas is 3`, `minReplicas is 10 by schedule "day" until
 * 2026-11-20T20:00:00Z`.
 */
export function describeBound(field: string, replicas: number, by: BoundBy | null): string {
  if (by === null) return `${field} is ${replicas}`;
  const when: Readonly<Record<BoundBy['phase'], string>> = {
    during: 'until',
    before: 'in the ramp before its start at',
    after: 'in the ramp after its end until',
  };
  return `${field} is ${replicas} by schedule "${by.schedule}" ${when[by.phase]} ${formatInstant(by.until)}`;
}

/** Returns the minimum with its origin. If the maximum has lowered the minimum, the text also names the maximum. */
export function describeFloor({ minReplicas, maxReplicas, floor, ceiling, clippedFloor }: Bounds): string {
  const bound = describeBound('minReplicas', minReplicas, floor);
  if (clippedFloor === null) return bound;
  return `${bound} (lowered from ${clippedFloor}, because ${describeBound('maxReplicas', maxReplicas, ceiling)})`;
}

/** How far the bounds of a schedule are in effect. `fraction` is above 0 and at most 1; 1: the whole bound. */
interface Share {
  readonly fraction: number;
  readonly phase: BoundBy['phase'];
  readonly until: Instant;
}

function boundBy(
  { name }: Schedule,
  { fraction, phase, until }: Share,
  { own, scheduled }: { readonly own: number; readonly scheduled: number | null },
): BoundBy | null {
  if (scheduled === null) return null;
  return { schedule: name, replicas: Math.ceil(own + (scheduled - own) * fraction), phase, until };
}

function shareAt(schedule: Schedule, now: Instant): Share | null {
  const { last, next } = recurringAround(schedule, now);
  let largest: Share | null = null;
  for (const occurrence of [last, next, ...schedule.dates]) {
    const share = occurrence === null ? null : shareOf(occurrence, now, schedule.rampSeconds);
    if (share !== null && (largest === null || share.fraction > largest.fraction)) largest = share;
  }
  return largest;
}

function shareOf({ start, end }: Occurrence, now: Instant, rampSeconds: number): Share | null {
  if (now >= start && now < end) return { fraction: 1, phase: 'during', until: end };
  if (rampSeconds === 0) return null;
  const before = now < start;
  const fraction = 1 - (before ? secondsBetween(now, start) : secondsBetween(end, now)) / rampSeconds;
  if (fraction <= 0) return null;
  const until = before ? start : addSeconds(end, rampSeconds);
  return { fraction, phase: before ? 'before' : 'after', until };
}
