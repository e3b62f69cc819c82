import * as z from 'zod';

import type { ForecastState } from '../../decision/snapshot/snapshot.js';
import { MOST_RAISES, PART_SECONDS, PARTS } from '../../units/forecast-state.js';
import { MAX_REPLICAS } from '../../units/replicas.js';
import { formatInstant, type Instant, instantFromMs, parseInstant } from '../../units/time.js';

/** Events of the count without a forecast. If older ones are missing, policies allow larger changes. */
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

/** The part of the state of a forecast that survives a restart, in at most 2,800 bytes. */
export const forecastSchema = z.strictObject({
  at: instant,
  /** The count without a forecast, its last changes and its events. */
  replicas: z.int().min(0).max(MAX_REPLICAS),
  lastScaleUp: instant.optional(),
  lastScaleDown: instant.optional(),
  scaleEvents: z
    .array(z.tuple([instant, z.int()]))
    .max(MAX_EVENTS)
    .optional(),
  /** The number of the part since 1970, then pod-seconds: reactive, added, short, prevented. */
  spent: z
    .array(z.tuple([z.int().min(0).max(1_000_000), podSeconds, podSeconds, podSeconds, podSeconds]))
    .max(PARTS),
  /** The minute since 1970 in which a raise began, then pod-seconds: added, prevented. Added in version 5. */
  raises: z
    .array(z.tuple([z.int().min(0).max(100_000_000), podSeconds, podSeconds]))
    .max(MOST_RAISES)
    .optional(),
});

export type StoredForecast = z.input<typeof forecastSchema>;

/** Omits the loads of the last minutes and the proposals, which are available again after some minutes. */
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
    ...(raises.length === 0
      ? {}
      : {
          raises: raises
            .slice(-MOST_RAISES)
            .map(({ from, added, prevented }) => [
              Math.floor(from / MINUTE_MS),
              rounded(added),
              rounded(prevented),
            ]),
        }),
  };
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
    // A raise in progress ends here: the next decision of a forecast begins a new one.
    raises: raises.map(([minute, added, prevented]) => {
      const from = instantFromMs(minute * MINUTE_MS);
      return { from, until: from, added, prevented };
    }),
  };
}

/** Returns the state with shifted times. Pod-seconds stay in the days in which they were spent. */
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
