import type { CapacityDrift, MeasuredCapacity, Pod, Sample } from '../../decision/snapshot/snapshot.js';
import type { StoredCapacities } from '../../kubernetes/state/state-entry.js';
import {
  capacityKey,
  type CapacityReading,
  isAuto,
  LONGEST_READING_SECONDS,
} from '../../prometheus/queries/capacity-watch.js';
import type { MetricSpec, Scaler, ScalerSpec } from '../../scaler/spec.js';
import { addSeconds, type Instant } from '../../units/time.js';

/** A capacity that differs by more than this share from the days before has drifted. */
const DRIFT_SHARE = 0.1;
/**
 * A lower capacity must be at least this share of the lowest day. Pods with errors or a backlog that serve less have an
 * outage, and their load does not show a new capacity.
 */
const LEAST_SHARE = 0.5;
const DAY_SECONDS = 86_400;
/** Longest duration of a drift. After that time, a reading covers only days on which the new pods ran. */
const LONGEST_DRIFT_SECONDS = 3 * DAY_SECONDS;

/**
 * Returns the capacities after a cycle; undefined: no metric has `capacity.auto`, or nothing was measured yet. Restored
 * capacities apply until the first reading of this process, but for at most a day.
 */
export function measureCapacities(
  before: StoredCapacities | undefined,
  scaler: Scaler,
  given: {
    readonly readingOf: (metric: MetricSpec) => CapacityReading | null;
    readonly pods: readonly Pod[];
    readonly now: Instant;
  },
): StoredCapacities | undefined {
  const { spec } = scaler;
  if (!hasAuto(spec)) return undefined;
  const { now } = given;
  const oldest = addSeconds(now, -LONGEST_READING_SECONDS);
  const measured: (readonly [string, MeasuredCapacity])[] = [];
  let isSame = true;
  for (const metric of spec.metrics) {
    if (!isAuto(metric)) continue;
    const key = capacityKey(scaler, metric, now);
    const reading = given.readingOf(metric);
    const known = before?.get(key);
    const kept = known === undefined || known.at < oldest ? null : known;
    const capacity = reading === null ? kept : measureCapacity(known, reading, given.pods);
    if (capacity !== null) measured.push([key, capacity]);
    isSame &&= capacity !== null && capacity === known;
  }
  if (isSame && before?.size === measured.length) return before;
  return measured.length === 0 ? undefined : new Map(measured);
}

export function hasAuto({ metrics }: ScalerSpec): boolean {
  return metrics.some(isAuto);
}

const REFRESH_MS = 21_600_000;

/**
 * Returns whether two sets of capacities lead to about the same decisions, so that the stored set need not be replaced:
 * the values differ by less than 1 %, the drifts are equal, and the readings are from the same quarter of a day.
 */
export function areAlike(one: StoredCapacities | undefined, other: StoredCapacities | undefined): boolean {
  if (one === other) return true;
  if (one?.size !== other?.size) return false;
  return [...(one ?? [])].every(([key, a]) => {
    const b = other?.get(key);
    if (b === undefined) return false;
    const isClose = Math.abs(a.value - b.value) < 0.01 * b.value;
    const isSameQuarter = Math.floor(a.at / REFRESH_MS) === Math.floor(b.at / REFRESH_MS);
    return a === b || (isClose && isSameQuarter && a.drift?.since === b.drift?.since);
  });
}

/** Merges two sets of capacities. If both have a capacity for a metric, keeps the one that was measured later. */
export function laterCapacities(
  one: StoredCapacities | undefined,
  other: StoredCapacities | undefined,
): StoredCapacities | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const later = new Map(one);
  for (const [key, capacity] of other) {
    const known = later.get(key);
    if (known === undefined || known.at < capacity.at) later.set(key, capacity);
  }
  return later;
}

/**
 * Returns the capacity of a pod: the highest of the days and of the last hour; null: nothing was served. A lower
 * capacity is a drift if pods with errors or a backlog served less than 90 % of the lowest day in the last hour. The
 * value of that hour then applies until pods serve as much as before, for at most 3 days. A higher capacity is a drift
 * if it is more than 110 % of the highest day and all pods have started within the last day, because older pods may
 * only have had less load before.
 */
export function measureCapacity(
  before: MeasuredCapacity | undefined,
  reading: CapacityReading,
  pods: readonly Pod[],
): MeasuredCapacity | null {
  if (before?.at === reading.at) return before;
  const { at, recent, limit } = reading;
  const known = reading.days.filter((value) => value !== null);
  if (known.length === 0)
    return recent === null ? null : { value: recent, low: recent, high: recent, days: 0, at };
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const days = { low, high, days: known.length, at };
  const kept = keptDrift(before, reading);
  if (kept !== null && kept.isLower) {
    const value = Math.max(limit ?? kept.value, recent ?? 0);
    return { ...days, value, drift: kept.drift };
  }
  const oldestPod = oldestReady(pods, addSeconds(at, -LONGEST_DRIFT_SECONDS));
  const drift: CapacityDrift = { since: at, before: high, oldestPod };
  if (limit !== null && limit < (1 - DRIFT_SHARE) * low && limit >= LEAST_SHARE * low)
    return { ...days, value: Math.max(limit, recent ?? 0), drift };
  const value = Math.max(high, recent ?? 0);
  if (kept !== null) return { ...days, value, drift: kept.drift };
  const isNew = oldestPod !== null && oldestPod >= addSeconds(at, -DAY_SECONDS);
  return recent !== null && recent > (1 + DRIFT_SHARE) * high && isNew
    ? { ...days, value, drift }
    : { ...days, value };
}

interface KeptDrift {
  readonly drift: CapacityDrift;
  readonly isLower: boolean;
  readonly value: number;
}

/**
 * Returns the drift that continues; null: there is none, or it has ended. A drift to a higher capacity ends after a
 * day. A drift to a lower capacity ends when pods serve about as much as before, or after 3 days.
 */
function keptDrift(before: MeasuredCapacity | undefined, { at, recent }: CapacityReading): KeptDrift | null {
  if (before?.drift === undefined) return null;
  const { drift, value } = before;
  const isLower = value < drift.before;
  const lastsSeconds = isLower ? LONGEST_DRIFT_SECONDS : DAY_SECONDS;
  if (at >= addSeconds(drift.since, lastsSeconds)) return null;
  return isLower && (recent ?? 0) >= (1 - DRIFT_SHARE) * drift.before ? null : { drift, isLower, value };
}

/**
 * Returns when the oldest ready pod started. Null: no pod is ready, or a pod started before `since` or at an unknown
 * time.
 */
function oldestReady(pods: readonly Pod[], since: Instant): Instant | null {
  let oldest: Instant | null = null;
  for (const { ready, startTime } of pods) {
    if (ready !== true) continue;
    if (startTime === null || startTime < since) return null;
    if (oldest === null || startTime < oldest) oldest = startTime;
  }
  return oldest;
}

/**
 * Adds the measured capacities to the samples. While a capacity is unknown, the sample becomes partial: the target of
 * the document applies and may only raise the count.
 */
export function withCapacities(
  samples: readonly Sample[],
  scaler: Scaler,
  { capacities, now }: { readonly capacities: StoredCapacities | undefined; readonly now: Instant },
): readonly Sample[] {
  const { spec } = scaler;
  if (!hasAuto(spec)) return samples;
  return samples.map((sample, index) => {
    const metric = spec.metrics[index];
    if (metric === undefined || !isAuto(metric) || sample.form !== 'values') return sample;
    const measuredCapacity = capacities?.get(capacityKey(scaler, metric, now));
    if (measuredCapacity !== undefined) return { ...sample, measuredCapacity };
    if (metric.autoCapacity.mode !== 'Use') return sample;
    const why = 'the capacity is not known yet, so target.averageValue applies';
    return { ...sample, partial: sample.partial === null ? why : `${sample.partial}; ${why}` };
  });
}
