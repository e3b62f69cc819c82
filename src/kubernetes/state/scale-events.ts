import type { ScaleEvent } from '../../decision/snapshot/snapshot.js';
import { type Instant, secondsBetween } from '../../units/time.js';

/** Limits the events of an entry, which must stay within 4 KiB. If there are more, events are merged. */
const MAX_EVENTS = 64;
/**
 * Maximum number of other times of an event. An event gets another time whenever the clock is set. If there are more,
 * the earliest time and the last times are kept.
 */
const MAX_OTHER_TIMES = 4;
/**
 * How long after the intent, and after the read of the target, a PATCH may be sent. Source: reliability.md, W3 and W10.
 */
export const INTENT_SECONDS = 5;

/** Returns the event with another time. It keeps the old time, by which `joinEvents` recognizes it. */
export function movedEvent(event: ScaleEvent, at: Instant): ScaleEvent {
  return at === event.at ? event : eventAt(at, event.change, timesOf(event));
}

export function eventAt(at: Instant, change: number, times: readonly Instant[]): ScaleEvent {
  const alsoAt = otherTimes(at, times);
  if (alsoAt.length === 0) return { at, change };
  const earliest = storedTimesOf({ at, change, alsoAt }).reduce((a, b) => (b < a ? b : a), at);
  return earliest < at ? { at, change, earliest, alsoAt } : { at, change, alsoAt };
}

/**
 * Joins the events of two replicas, or of the memory and the entry of one replica, ordered by time. An event in both
 * lists is returned once, even if one replica has moved the event because its clock was set, or if one list has only
 * the intent of the event. If a policy counted a change twice, it would allow larger changes in the opposite direction.
 * Returns `ours` itself if `theirs` adds nothing.
 */
export function joinEvents(
  ours: readonly ScaleEvent[],
  theirs: readonly ScaleEvent[],
): readonly ScaleEvent[] {
  if (theirs.length === 0 || ours === theirs) return ours;
  const added = [...theirs];
  const kept: ScaleEvent[] = [];
  for (const own of ours) {
    const index = added.findIndex((other) => isSameEvent(own, other));
    const [same] = index === -1 ? [] : added.splice(index, 1);
    if (same !== undefined) kept.push(joinTimes(own, same));
    else if (!isMerged(own, theirs)) kept.push(own);
  }
  const isSame = added.length === 0 && kept.every((event, index) => event === ours[index]);
  return isSame && kept.length === ours.length ? ours : [...kept, ...added].sort((a, b) => a.at - b.at);
}

function isSameEvent(a: ScaleEvent, b: ScaleEvent): boolean {
  if (a.change !== b.change) return false;
  if (a.alsoAt === undefined && b.alsoAt === undefined) return a.at === b.at;
  const times = timesOf(b);
  return timesOf(a).some((at) => times.includes(at));
}

/**
 * Joins two versions of the same event. If one replica has moved the event, its time takes precedence, because the
 * other replica has only the time before the move.
 */
function joinTimes(own: ScaleEvent, other: ScaleEvent): ScaleEvent {
  const isMovedByOther = other.alsoAt?.includes(own.at) === true && own.alsoAt?.includes(other.at) !== true;
  const at = isMovedByOther ? other.at : own.at;
  const times = [...timesOf(other), ...timesOf(own)];
  const isKnown = at === own.at && timesOf(other).every((time) => timesOf(own).includes(time));
  return isKnown ? own : eventAt(at, own.change, times);
}

/** Returns whether the event may already be part of a merged event, which is possible only in a full list. */
function isMerged(event: ScaleEvent, others: readonly ScaleEvent[]): boolean {
  if (others.length < MAX_EVENTS / 2) return false;
  const sameWay = others.filter(({ change }) => change > 0 === event.change > 0);
  const last = sameWay.at(-1);
  return last !== undefined && sameWay.length >= MAX_EVENTS / 2 && Math.min(...timesOf(event)) <= last.at;
}

function timesOf({ at, alsoAt = [] }: ScaleEvent): readonly Instant[] {
  return [...alsoAt, at];
}

function otherTimes(at: Instant, times: readonly Instant[]): readonly Instant[] {
  const others = [...new Set(times)].filter((time) => time !== at);
  if (others.length <= MAX_OTHER_TIMES) return others;
  const earliest = others.reduce((a, b) => (b < a ? b : a), at);
  const last = others.filter((time) => time !== earliest).slice(1 - MAX_OTHER_TIMES);
  return earliest < at ? [earliest, ...last] : last;
}

/**
 * Returns the other times to store. Omits the time of the intent, which is less than 5 s before the event, because only
 * the process that made the change knows it.
 */
export function storedTimesOf({ at, alsoAt = [] }: ScaleEvent): readonly Instant[] {
  return alsoAt.filter((time) => time > at || secondsBetween(time, at) >= INTENT_SECONDS);
}

/**
 * If there are more than 64 events, merges the oldest ones in pairs of the same direction. A merged event has the
 * time of the later event, and the time of the earlier event as another time.
 */
export function mergeOldEvents(events: readonly ScaleEvent[]): readonly ScaleEvent[] {
  if (events.length <= MAX_EVENTS) return events;
  const ups = events.filter(({ change }) => change > 0);
  const downs = events.filter(({ change }) => change < 0);
  return [...mergeOldest(ups, MAX_EVENTS / 2), ...mergeOldest(downs, MAX_EVENTS / 2)].sort(
    (a, b) => a.at - b.at,
  );
}

function mergeOldest(events: readonly ScaleEvent[], max: number): readonly ScaleEvent[] {
  let left = [...events];
  while (left.length > max) {
    const surplus = left.length - max;
    const joined: ScaleEvent[] = [];
    for (let index = 0; index < left.length; index += 1) {
      const [first, second] = [left[index], left[index + 1]];
      if (first === undefined) break;
      if (second === undefined || index - joined.length >= surplus) joined.push(first);
      else {
        joined.push(eventAt(second.at, first.change + second.change, [first.earliest ?? first.at]));
        index += 1;
      }
    }
    left = joined;
  }
  return left;
}
