import * as z from 'zod';

import type { ForecastState, Raise } from '../../decision/snapshot/snapshot.js';
import { MOST_RAISES, PART_SECONDS, PARTS, MAX_REPLICAS } from '../../units/bounds.js';
import { formatInstant, type Instant, instantFromMs, parseInstant } from '../../units/time.js';

/**
 * Limits the stored scale events of the replicas without a forecast. If older events are missing, policies allow larger
 * changes.
 */
const MAX_EVENTS = 16;
const PART_MS = PART_SECONDS * 1000;
const MINUTE_MS = 60_000;

export const instant = z.string().transform((text, context): Instant => {
  const parsed = parseInstant(text);
  if (parsed !== null) return parsed;
  context.addIssue({ code: 'custom', message: 'must be an RFC 3339 time' });
  return z.NEVER;
});
const podSeconds = z.int().min(0);

/** Maximum number of raises in version 5, in which each raise is a list of numbers. */
const MOST_LISTED = 48;
/**
 * Bytes of a raise in version 7: two for the minutes between its start and `at`, one for the level of the pod-seconds
 * added, and one for the level of the pod-seconds prevented.
 */
const RAISE_BYTES = 4;
const HIGHEST_MINUTES = 0xffff;
const HIGHEST_LEVEL = 0xff;
/** Scale of the levels: neighboring levels differ by 8 %, and the highest is 1e9 pod-seconds. */
const LEVELS_PER_E = HIGHEST_LEVEL / Math.log1p(1e9);

/** The part of a forecast's state that survives a restart, in at most 3,200 bytes. */
export const forecastSchema = z.strictObject({
  at: instant,
  /** The replicas without a forecast, with their last changes and scale events. */
  replicas: z.int().min(0).max(MAX_REPLICAS),
  lastScaleUp: instant.optional(),
  lastScaleDown: instant.optional(),
  scaleEvents: z
    .array(z.tuple([instant, z.int()]))
    .max(MAX_EVENTS)
    .optional(),
  /** For each part of 6 h: its number since 1970, then the pod-seconds `reactive`, `added`, `short` and `prevented`. */
  spent: z
    .array(z.tuple([z.int().min(0).max(1_000_000), podSeconds, podSeconds, podSeconds, podSeconds]))
    .max(PARTS),
  /**
   * For each raise: the minute since 1970 in which it began, then the pod-seconds added and prevented. Version 5 added
   * the raises; version 7 allows more raises, as base64url.
   */
  raises: z
    .union([
      z.array(z.tuple([z.int().min(0).max(100_000_000), podSeconds, podSeconds])).max(MOST_LISTED),
      z
        .string()
        .regex(/^[\w-]*$/)
        .max(Math.ceil((MOST_RAISES * RAISE_BYTES * 4) / 3)),
    ])
    .optional(),
});

export type StoredForecast = z.input<typeof forecastSchema>;

/** Returns the first version of an entry that can contain the state. */
export function versionOfForecast({ raises }: Pick<ForecastState, 'raises'>): number {
  if (raises.length > MOST_LISTED) return 7;
  return raises.length > 0 ? 5 : 4;
}

/**
 * Returns what is stored of a forecast. The loads of the last minutes and the proposals are omitted, because they are
 * available again after some minutes.
 */
export function storedForecast({ at, reactive, spent, raises }: ForecastState): StoredForecast {
  const { replicas, lastScaleUp, lastScaleDown, scaleEvents } = reactive;
  const events = scaleEvents.slice(-MAX_EVENTS);
  return {
    at: formatInstant(at),
    replicas,
    ...(lastScaleUp === null ? {} : { lastScaleUp: formatInstant(lastScaleUp) }),
    ...(lastScaleDown === null ? {} : { lastScaleDown: formatInstant(lastScaleDown) }),
    ...(events.length === 0
      ? {}
      : { scaleEvents: events.map((event) => [formatInstant(event.at), event.change]) }),
    spent: spent
      .slice(-PARTS)
      .map((part) => [
        Math.floor(part.from / PART_MS),
        rounded(part.reactive),
        rounded(part.added),
        rounded(part.short),
        rounded(part.prevented),
      ]),
    ...(raises.length === 0 ? {} : { raises: storedRaises(raises, at) }),
  };
}

function storedRaises(raises: readonly Raise[], at: Instant): StoredForecast['raises'] {
  if (raises.length <= MOST_LISTED)
    return raises.map(({ from, added, prevented }) => [minuteOf(from), rounded(added), rounded(prevented)]);
  const bytes = raises.slice(-MOST_RAISES).flatMap(({ from, added, prevented }) => {
    const minutes = Math.min(HIGHEST_MINUTES, Math.max(0, minuteOf(at) - minuteOf(from)));
    return [minutes >> 8, minutes & 0xff, levelOf(added), levelOf(prevented)];
  });
  return Buffer.from(bytes).toString('base64url');
}

function readRaises(stored: NonNullable<z.output<typeof forecastSchema>['raises']>, at: Instant) {
  if (typeof stored !== 'string') return stored;
  const bytes = Buffer.from(stored, 'base64url');
  return Array.from({ length: Math.floor(bytes.length / RAISE_BYTES) }, (_, index) => {
    const start = index * RAISE_BYTES;
    const minute = Math.max(0, minuteOf(at) - bytes.readUInt16BE(start));
    return [
      minute,
      podSecondsOf(bytes.readUInt8(start + 2)),
      podSecondsOf(bytes.readUInt8(start + 3)),
    ] as const;
  });
}

function minuteOf(at: Instant): number {
  return Math.floor(at / MINUTE_MS);
}

function levelOf(amount: number): number {
  return Math.min(HIGHEST_LEVEL, Math.round(LEVELS_PER_E * Math.log1p(amount)));
}

function podSecondsOf(level: number): number {
  return Math.round(Math.expm1(level / LEVELS_PER_E));
}

function rounded(podSeconds: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.round(podSeconds));
}

export function readForecast(stored: z.output<typeof forecastSchema>): ForecastState {
  const {
    at,
    replicas,
    lastScaleUp = null,
    lastScaleDown = null,
    scaleEvents = [],
    spent,
    raises = [],
  } = stored;
  return {
    at,
    minutes: [],
    reactive: {
      replicas,
      lastScaleUp,
      lastScaleDown,
      scaleEvents: scaleEvents.map(([time, change]) => ({ at: time, change })),
    },
    proposals: [],
    spent: spent.map(([part, reactive, added, short, prevented]) => ({
      from: instantFromMs(part * PART_MS),
      reactive,
      added,
      short,
      prevented,
    })),
    // The end of a raise is not stored. After a restart, its start is used instead.
    raises: readRaises(raises, at).map(([minute, added, prevented]) => {
      const from = instantFromMs(minute * MINUTE_MS);
      return { from, until: from, added, prevented };
    }),
  };
}

/** Returns the state with its times shifted by `move`. Pod-seconds stay in the parts in which they were spent. */
export function movedForecast(
  { at, minutes, reactive, proposals, spent, raises }: ForecastState,
  move: (at: Instant) => Instant,
): ForecastState {
  const moveOrNull = (time: Instant | null): Instant | null => (time === null ? null : move(time));
  const moveAll = <T extends { readonly at: Instant }>(list: readonly T[]): readonly T[] =>
    list.map((one) => ({ ...one, at: move(one.at) }));
  return {
    at: move(at),
    minutes: moveAll(minutes),
    reactive: {
      replicas: reactive.replicas,
      lastScaleUp: moveOrNull(reactive.lastScaleUp),
      lastScaleDown: moveOrNull(reactive.lastScaleDown),
      scaleEvents: moveAll(reactive.scaleEvents),
    },
    proposals: moveAll(proposals),
    spent,
    raises,
  };
}
