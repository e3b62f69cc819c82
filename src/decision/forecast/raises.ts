import type { Forecast } from '../../scaler/spec.js';
import { formatLocal } from '../../schedules/local-time.js';
import { MOST_RAISES } from '../../units/bounds.js';
import { addSeconds, type Instant, secondsBetween } from '../../units/time.js';
import type { Raise, SpentPart } from '../snapshot/snapshot.js';

const DAY_MS = 86_400_000;

/**
 * Two raises are at the same time of day if they start at most this far apart. A raise is a period in which the
 * forecast keeps the count above the recommendation of the metrics.
 */
const SAME_TIME_MS = 30 * 60_000;
/**
 * A raise ends when the forecast has not increased the count for this long. Raises that start within `SAME_TIME_MS` of
 * each other are one raise, so a day has at most 48.
 */
const LONGEST_PAUSE_SECONDS = 300;
/**
 * A longer raise is split into several raises, each with its own time of day. Pods that remain after a raise do not
 * prolong the raise, because the tolerance can keep such a pod for the rest of the day.
 */
const LONGEST_SECONDS = 3600;
const WEEKDAYS_KEPT = 28;

/**
 * A forecast is worth its cost if it adds at most this many pod-seconds for each missing pod-second that it prevents.
 */
const WORTH = 10;
/**
 * Days with a raise that are needed for a judgment. Fewer days are not representative: one may be a holiday, two a
 * weekend.
 */
const FEWEST_DAYS = 3;
const FEWEST_WEEKDAYS = 2;

/**
 * Adds the pod-seconds since the last decision to the raise that caused them, or begins a new raise. For each weekday
 * and time of day, the last two raises within 28 days are kept. At most `MOST_RAISES` are kept in total.
 */
export function addToRaises(
  raises: readonly Raise[],
  {
    now,
    isRaised,
    timeZone,
  }: {
    readonly now: Instant;
    /** Whether the forecast raises the count in this decision. */
    readonly isRaised: boolean;
  } & Pick<Forecast, 'timeZone'>,
  { added, prevented }: Pick<SpentPart, 'added' | 'prevented'>,
): readonly Raise[] {
  const last = raises.at(-1);
  const isOpen =
    last !== undefined &&
    last.from <= now &&
    secondsBetween(last.from, now) <= LONGEST_SECONDS &&
    (secondsBetween(last.until, now) <= LONGEST_PAUSE_SECONDS ||
      (isRaised && secondsBetween(last.from, now) * 1000 < SAME_TIME_MS));
  if (isOpen && (added > 0 || isRaised)) {
    const sums = { added: last.added + added, prevented: last.prevented + prevented };
    return [...raises.slice(0, -1), { from: last.from, until: now, ...sums }];
  }
  if (isOpen || !isRaised) return raises;
  const start = addSeconds(now, (-WEEKDAYS_KEPT * DAY_MS) / 1000);
  const kept = raises.filter(({ from }) => from >= start && from <= now);
  const older = atThisTime(kept, now, timeZone).filter(({ days }) => days > 0 && days % 7 === 0);
  const latest = Math.min(...older.map(({ days }) => days));
  const replaced = new Set(older.filter(({ days }) => days > latest).map(({ raise }) => raise));
  return [
    ...kept.filter((raise) => !replaced.has(raise)).slice(1 - MOST_RAISES),
    { from: now, until: now, added: 0, prevented: 0 },
  ];
}

/** Returns the raises that began at this local time of day, with the number of local days since then. */
function atThisTime(
  raises: readonly Raise[],
  now: Instant,
  timeZone: string,
): readonly { readonly raise: Raise; readonly days: number }[] {
  const local = (at: Instant): number => Date.parse(`${formatLocal(at, timeZone)}Z`);
  const nowMs = local(now);
  return raises.flatMap((raise) => {
    const ms = nowMs - local(raise.from);
    const days = Math.round(ms / DAY_MS);
    return Math.abs(ms - days * DAY_MS) <= SAME_TIME_MS ? [{ raise, days }] : [];
  });
}

/**
 * Returns why a forecast should not increase the count now; null: it may, or too little is known. The reason is that at
 * this time of earlier days, the forecast added more than ten times the missing pod-seconds that it prevented. Days
 * with the same weekday are judged if there are at least two, otherwise the days of the last week if there are at least
 * three.
 */
export function whyNotWorth(raises: readonly Raise[], now: Instant, { timeZone }: Forecast): string | null {
  const known = atThisTime(raises, now, timeZone).filter(({ days }) => days >= 1);
  const daysOf = (some: typeof known): number => new Set(some.map(({ days }) => days)).size;
  const weekdays = known.filter(({ days }) => days % 7 === 0 && days <= WEEKDAYS_KEPT);
  const isOfWeekday = daysOf(weekdays) >= FEWEST_WEEKDAYS;
  const judged = isOfWeekday ? weekdays : known.filter(({ days }) => days <= 7);
  const count = daysOf(judged);
  if (!isOfWeekday && count < FEWEST_DAYS) return null;
  const sum = (field: 'added' | 'prevented'): number =>
    judged.reduce((total, { raise }) => total + raise[field], 0);
  const [added, prevented] = [sum('added'), sum('prevented')];
  if (added <= WORTH * prevented) return null;
  const minutes = (podSeconds: number): string => `${Math.round(podSeconds / 60)}`;
  return `at this time on ${isOfWeekday ? `the last ${count} days with this weekday` : `${count} of the last 7 days`}, the forecast added ${minutes(added)} pod-minutes, but prevented only ${minutes(prevented)} missing pod-minutes, less than a tenth`;
}
