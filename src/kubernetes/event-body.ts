import { cleanText } from '../units/clean-text.js';
import { formatInstant, type Instant } from '../units/time.js';
import type { JsonObject } from './api/json.js';
import type { EventObject, TargetEvent } from './api/types.js';

export interface SeenEvent {
  readonly target: EventObject;
  readonly event: TargetEvent;
  /** `metadata.name`, unique in the namespace. */
  readonly name: string;
  readonly firstAt: Instant;
  readonly lastAt: Instant;
  readonly count: number;
}

/** `instance` identifies a replica of the service; at most 128 characters. */
interface Reporter {
  readonly instance: string;
}

const CONTROLLER = 'promscaler';
const ACTION = 'Scaling';
const MAX_NOTE_BYTES = 1024;

/** Returns the body of a new Event for `events.k8s.io/v1`. */
export function newEventBody(seen: SeenEvent, reporter: Reporter): JsonObject {
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: seen.name, namespace: seen.target.namespace },
    eventTime: microTime(seen.firstAt),
    reportingController: CONTROLLER,
    reportingInstance: reporter.instance,
    action: ACTION,
    type: seen.event.type,
    reason: seen.event.reason,
    note: shortNote(seen.event.message),
    regarding: regarding(seen.target),
  };
}

/** Returns a merge-patch for a repeated Event of `events.k8s.io/v1`. */
export function seriesPatch(seen: SeenEvent): JsonObject {
  return { series: { count: seen.count, lastObservedTime: microTime(seen.lastAt) } };
}

/** Returns the body of a new Event for the core API, for clusters without `events.k8s.io`. */
export function coreEventBody(seen: SeenEvent, reporter: Reporter): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: seen.name, namespace: seen.target.namespace },
    involvedObject: regarding(seen.target),
    type: seen.event.type,
    reason: seen.event.reason,
    message: shortNote(seen.event.message),
    source: { component: CONTROLLER },
    reportingComponent: CONTROLLER,
    reportingInstance: reporter.instance,
    action: ACTION,
    firstTimestamp: wholeSecond(seen.firstAt),
    lastTimestamp: wholeSecond(seen.lastAt),
    count: seen.count,
  };
}

/** Returns a merge-patch for a repeated Event of the core API. */
export function corePatch(seen: SeenEvent): JsonObject {
  return { count: seen.count, lastTimestamp: wholeSecond(seen.lastAt) };
}

function regarding({ ref, namespace, uid, resourceVersion }: EventObject): JsonObject {
  return { apiVersion: ref.apiVersion, kind: ref.kind, namespace, name: ref.name, uid, resourceVersion };
}

/** A MicroTime: RFC 3339 with six fractional digits. */
function microTime(instant: Instant): string {
  const text = formatInstant(instant);
  const [whole = '', fraction = ''] = text.slice(0, -1).split('.');
  return `${whole}.${fraction.padEnd(6, '0')}Z`;
}

function wholeSecond(instant: Instant): string {
  return `${formatInstant(instant).slice(0, 19)}Z`;
}

/** Truncates to 1 kB without splitting a character. */
function shortNote(message: string): string {
  const note = cleanText(message);
  const bytes = Buffer.from(note);
  if (bytes.length <= MAX_NOTE_BYTES) return note;
  let end = MAX_NOTE_BYTES - 3;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.subarray(0, end).toString('utf8')}...`;
}
