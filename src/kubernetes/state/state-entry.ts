import { parseJson } from '../../units/json-bounds.js';
import { createHash } from 'node:crypto';

import * as z from 'zod';

import type { CapacityDrift, MeasuredCapacity, State } from '../../decision/snapshot/snapshot.js';

import { addSeconds, earliest, formatInstant, type Instant, secondsBetween } from '../../units/time.js';
import { MAX_REPLICAS } from '../../units/bounds.js';
import { eventAt, mergeOldEvents, movedEvent, storedTimesOf } from './scale-events.js';
import {
  forecastSchema,
  instant,
  movedForecast,
  readForecast,
  storedForecast,
  versionOfForecast,
} from './stored-forecast.js';

/** A change of replicas, stored before its PATCH is sent. */
export interface Intent {
  readonly epoch: string;
  readonly from: number;
  readonly to: number;
  /**
   * Replicas in earlier PATCHes with the same precondition and an unknown result. At most one of all these PATCHes is
   * applied.
   */
  readonly earlier: readonly number[];
  readonly resourceVersion: string;
  /** `metadata.generation` of the target before the PATCH, or an older one; null: the kind has none. */
  readonly generation: number | null;
  readonly at: Instant;
}

/** Returns all replica counts that the intent may have set, the latest first. */
export function intendedCounts({ to, earlier }: Intent): readonly number[] {
  return [to, ...earlier];
}

/** The capacities that `capacity.auto` has measured, by a key of the metric's queries. */
export type StoredCapacities = ReadonlyMap<string, MeasuredCapacity>;

export interface StoredState extends Pick<
  State,
  | 'lastScaleUp'
  | 'lastScaleDown'
  | 'scaleEvents'
  | 'zeroedBySelf'
  | 'failingSince'
  | 'maxReplicasFrom'
  | 'forecast'
> {
  readonly uid: string;
  /** A change whose result is unknown; null: none. The other fields are the state before that change. */
  readonly intent: Intent | null;
  /** At most 8 capacities. Absent: nothing was measured. */
  readonly capacities?: StoredCapacities | undefined;
}

export interface StoredEntry extends StoredState {
  readonly epoch: string;
  /** When promscaler first found that the scaler of the entry does not exist; null: the scaler exists. */
  readonly absentSince: Instant | null;
}

/** An entry that this version of promscaler cannot read, and so leaves unchanged. */
export interface EntryProblem {
  readonly problem: string;
}

/** Longest entry that is written. Source: reliability.md, W8. */
export const MAX_ENTRY_BYTES = 4096;
/** How far the clock of another writer may be ahead of the local clock. Source: reliability.md, W14. */
const CLOCK_SKEW_SECONDS = 60;
/** Longest key of a metric, in characters. */
const MAX_METRIC_KEY = 64;
/** Limits the failing metrics that are stored. After a restart, the fallback of the omitted metrics starts late. */
const MAX_FAILING = 16;
/** Limits the measured capacities that are stored. After a restart, the omitted capacities are measured again. */
const MAX_CAPACITIES = 8;
/**
 * The newest version of an entry. An entry has the lowest version that can express it, so that an earlier release can
 * read it after a rollback.
 */
const SCHEMA_VERSION = 7;

const replicas = z.int().min(0).max(MAX_REPLICAS);
const load = z.number().positive();
const entrySchema = z.strictObject({
  v: z.int().min(1).max(SCHEMA_VERSION),
  epoch: z.string().min(1),
  uid: z.string().min(1),
  lastScaleUp: instant.optional(),
  lastScaleDown: instant.optional(),
  /** Version 2 added a third element: other times of the event (`ScaleEvent.alsoAt`). */
  scaleEvents: z.array(z.tuple([instant, z.int().refine((change) => change !== 0)], instant)).optional(),
  zeroedBySelf: z.literal(true).optional(),
  failingSince: z.record(z.string().min(1), instant).optional(),
  /** Added in version 2. */
  absentSince: instant.optional(),
  /** Added in version 3. */
  maxReplicasFrom: replicas.optional(),
  /** Added in version 4. Version 5 added its `raises`, and version 7 allows more of them. */
  forecast: forecastSchema.optional(),
  /** Added in version 6. */
  capacities: z
    .record(
      z.string().min(1),
      z.strictObject({
        value: load,
        low: load,
        high: load,
        days: z.int().min(0).max(3),
        at: instant,
        drift: z.strictObject({ since: instant, before: load, oldestPod: instant.optional() }).optional(),
      }),
    )
    .optional(),
  intent: z
    .strictObject({
      epoch: z.string().min(1),
      from: replicas,
      to: replicas,
      earlier: z.array(replicas).optional(),
      resourceVersion: z.string().min(1),
      generation: z.int().min(0).optional(),
      at: instant,
    })
    .optional(),
});

/**
 * Returns an entry as compact JSON. If there are more than 64 scale events, merges the oldest ones.
 * An entry above 4 KiB cannot be written, which would block scale-downs. Until the entry fits, omits data in this
 * order: `failingSince` (the fallback starts late), raises of the forecast, the forecast (its budget starts again),
 * capacities (they are measured again), other times of the events.
 */
export function writeEntry(epoch: string, state: StoredState): string {
  let text = textOf(epoch, state);
  for (const shorter of [
    withoutFailing,
    withoutRaises,
    withoutForecast,
    withoutCapacities,
    withoutOtherTimes,
  ]) {
    if (Buffer.byteLength(text) <= MAX_ENTRY_BYTES) break;
    text = textOf(epoch, shorter(state));
  }
  return text;
}

function withoutFailing(state: StoredState): StoredState {
  return { ...state, failingSince: new Map() };
}

function withoutRaises(state: StoredState): StoredState {
  const { forecast } = state;
  const shorter = forecast === undefined ? undefined : { ...forecast, raises: [] };
  return { ...withoutFailing(state), forecast: shorter };
}

function withoutForecast(state: StoredState): StoredState {
  return { ...withoutFailing(state), forecast: undefined };
}

function withoutCapacities(state: StoredState): StoredState {
  return { ...withoutForecast(state), capacities: undefined };
}

function withoutOtherTimes(state: StoredState): StoredState {
  return {
    ...withoutCapacities(state),
    scaleEvents: state.scaleEvents.map(({ at, change }) => ({ at, change })),
  };
}

/**
 * Returns the key of a failing metric in an entry. A long key is shortened and ends in a hash, because a name may have
 * 253 characters, and 100 metrics may fail.
 */
export function storedMetricKey(key: string): string {
  if (key.length <= MAX_METRIC_KEY) return key;
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 16);
  return `${key.slice(0, MAX_METRIC_KEY - 17)}~${hash}`;
}

export function storedFailing(failingSince: StoredState['failingSince']): StoredState['failingSince'] {
  if (failingSince.size === 0) return failingSince;
  const first = [...failingSince].slice(0, MAX_FAILING);
  return new Map(first.map(([metric, at]) => [storedMetricKey(metric), at]));
}

/** Returns an entry that says since when its scaler has been missing; `since` null: the scaler exists. */
export function markAbsent(entry: StoredEntry, since: Instant | null): string {
  return textOf(entry.epoch, entry, since);
}

/** Returns an entry without the data that windows and policies do not need. An invalid entry is returned unchanged. */
export function leanEntry(text: string): string {
  const entry = readEntry(text);
  return 'problem' in entry ? text : textOf(entry.epoch, withoutOtherTimes(entry), entry.absentSince);
}

function textOf(epoch: string, state: StoredState, absentSince: Instant | null = null): string {
  const { uid, lastScaleUp, lastScaleDown, scaleEvents, zeroedBySelf, failingSince, intent } = state;
  const { maxReplicasFrom, forecast, capacities = new Map() } = state;
  const time = (at: Instant | null): string | undefined => (at === null ? undefined : formatInstant(at));
  const events = mergeOldEvents(scaleEvents).map((event) => [
    formatInstant(event.at),
    event.change,
    ...storedTimesOf(event).map(formatInstant),
  ]);
  const failing = [...storedFailing(failingSince)].map(
    ([metric, at]) => [metric, formatInstant(at)] as const,
  );
  const older = absentSince !== null || events.some(({ length }) => length > 2) ? 2 : 1;
  return JSON.stringify({
    v: versionOfFields(state) ?? older,
    epoch,
    uid,
    lastScaleUp: time(lastScaleUp),
    lastScaleDown: time(lastScaleDown),
    scaleEvents: events.length === 0 ? undefined : events,
    zeroedBySelf: zeroedBySelf ? true : undefined,
    failingSince: failing.length === 0 ? undefined : Object.fromEntries(failing),
    intent: intent === null ? undefined : jsonOf(intent),
    absentSince: time(absentSince),
    maxReplicasFrom,
    forecast: forecast === undefined ? undefined : storedForecast(forecast),
    capacities: capacities.size === 0 ? undefined : storedCapacities(capacities),
  });
}

/** Returns the first version with all fields that the state has; null: versions 1 and 2 have them. */
function versionOfFields({ capacities, forecast, maxReplicasFrom }: StoredState): number | null {
  const versions = [
    ...(capacities !== undefined && capacities.size > 0 ? [6] : []),
    ...(forecast === undefined ? [] : [versionOfForecast(forecast)]),
    ...(maxReplicasFrom === undefined ? [] : [3]),
  ];
  return versions.length === 0 ? null : Math.max(...versions);
}

function storedCapacities(capacities: StoredCapacities): z.input<typeof entrySchema>['capacities'] {
  return Object.fromEntries(
    [...capacities].slice(0, MAX_CAPACITIES).map(([key, { value, low, high, days, at, drift }]) => {
      const loads = { value: shortNumber(value), low: shortNumber(low), high: shortNumber(high) };
      const since = drift === undefined ? undefined : storedDrift(drift);
      return [key, { ...loads, days, at: formatInstant(at), drift: since }] as const;
    }),
  );
}

function storedDrift({ since, before, oldestPod }: CapacityDrift) {
  return {
    since: formatInstant(since),
    before: shortNumber(before),
    oldestPod: oldestPod === null ? undefined : formatInstant(oldestPod),
  };
}

function shortNumber(value: number): number {
  return Number(value.toPrecision(6));
}

function jsonOf(intent: Intent): z.input<typeof entrySchema>['intent'] {
  const { earlier, generation, at } = intent;
  return {
    ...intent,
    earlier: earlier.length === 0 ? undefined : [...earlier],
    generation: generation ?? undefined,
    at: formatInstant(at),
  };
}

/** Returns the entry, or a problem if it is invalid or of a newer version. */
export function readEntry(text: string): StoredEntry | EntryProblem {
  const json = parseJson(text);
  if (json === undefined) return { problem: 'not valid JSON' };
  const version = versionOf(json);
  if (version !== null && version > SCHEMA_VERSION)
    return {
      problem: `its schema version is ${version}, but this version of promscaler supports only ${SCHEMA_VERSION}`,
    };
  const parsed = entrySchema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue === undefined || issue.path.length === 0 ? 'entry' : issue.path.join('.');
    return { problem: `${field} is invalid: ${issue?.message ?? 'invalid'}` };
  }
  const {
    epoch,
    uid,
    lastScaleUp,
    lastScaleDown,
    scaleEvents,
    zeroedBySelf,
    failingSince,
    intent,
    absentSince,
    maxReplicasFrom,
    forecast,
    capacities,
  } = parsed.data;
  return {
    epoch,
    uid,
    lastScaleUp: lastScaleUp ?? null,
    lastScaleDown: lastScaleDown ?? null,
    scaleEvents: (scaleEvents ?? []).map(([at, change, ...alsoAt]) => eventAt(at, change, alsoAt)),
    zeroedBySelf: zeroedBySelf ?? false,
    failingSince: new Map(Object.entries(failingSince ?? {})),
    absentSince: absentSince ?? null,
    ...(maxReplicasFrom === undefined ? {} : { maxReplicasFrom }),
    ...(forecast === undefined ? {} : { forecast: readForecast(forecast) }),
    ...(capacities === undefined ? {} : { capacities: readCapacities(capacities) }),
    intent:
      intent === undefined
        ? null
        : { ...intent, earlier: intent.earlier ?? [], generation: intent.generation ?? null },
  };
}

function readCapacities(stored: NonNullable<z.output<typeof entrySchema>['capacities']>): StoredCapacities {
  return new Map(
    Object.entries(stored).map(([key, { drift, ...capacity }]) => [
      key,
      drift === undefined
        ? capacity
        : { ...capacity, drift: { ...drift, oldestPod: drift.oldestPod ?? null } },
    ]),
  );
}

function versionOf(json: unknown): number | null {
  if (typeof json !== 'object' || json === null || !('v' in json)) return null;
  return typeof json.v === 'number' ? json.v : null;
}

/**
 * Replaces times more than 60 s after `now` by `now`: a window that starts in the future would last too long. Returns
 * the same object if nothing is replaced. Source: reliability.md, W14.
 */
export function clampFuture(entry: StoredEntry, now: Instant): StoredEntry {
  const isAhead = (at: Instant | null): boolean =>
    at !== null && secondsBetween(now, at) > CLOCK_SKEW_SECONDS;
  const { lastScaleUp, lastScaleDown, scaleEvents, failingSince, intent, absentSince } = entry;
  const { forecast, capacities } = entry;
  const changes = [lastScaleUp, lastScaleDown, intent?.at ?? null, ...scaleEvents.map(({ at }) => at)];
  const read = [...(capacities?.values() ?? [])].map(({ at }) => at);
  const times = [...changes, absentSince, ...failingSince.values(), forecast?.at ?? null, ...read];
  if (!times.some(isAhead)) return entry;
  return {
    ...entry,
    lastScaleUp: isAhead(lastScaleUp) ? now : lastScaleUp,
    lastScaleDown: isAhead(lastScaleDown) ? now : lastScaleDown,
    scaleEvents: scaleEvents.map((event) => (isAhead(event.at) ? movedEvent(event, now) : event)),
    failingSince: new Map([...failingSince].map(([metric, at]) => [metric, isAhead(at) ? now : at])),
    intent: intent !== null && isAhead(intent.at) ? { ...intent, at: now } : intent,
    absentSince: isAhead(absentSince) ? now : absentSince,
    ...(forecast === undefined ? {} : { forecast: movedForecast(forecast, (at) => earliest(at, now)) }),
    ...(capacities === undefined ? {} : { capacities: noneAfter(capacities, now) }),
  };
}

function noneAfter(capacities: StoredCapacities, now: Instant): StoredCapacities {
  return new Map(
    [...capacities].map(([key, { at, drift, ...values }]) => [
      key,
      {
        ...{ ...values, at: earliest(at, now) },
        ...(drift === undefined ? {} : { drift: { ...drift, since: earliest(drift.since, now) } }),
      },
    ]),
  );
}

const LONGEST_WINDOW_SECONDS = 86_400;

/** Returns whether no window needs the entry anymore: its last change and its intent are more than 24 h old. */
export function isSpent(
  { lastScaleUp, lastScaleDown, scaleEvents, intent }: StoredEntry,
  now: Instant,
): boolean {
  const start = addSeconds(now, -LONGEST_WINDOW_SECONDS);
  const times = [lastScaleUp, lastScaleDown, intent?.at ?? null, ...scaleEvents.map(({ at }) => at)];
  return times.every((at) => at === null || at < start);
}
