import * as z from 'zod';

import type { ScaleEvent, State } from '../../decision/snapshot.js';
import { addSeconds, formatInstant, parseInstant, secondsBetween, type Instant } from '../../units/time.js';
import { MAX_REPLICAS } from '../../units/replicas.js';

/** A change of replicas as it is announced before its PATCH. */
export interface Intent {
  /** The term of the leader that announced it. */
  readonly epoch: string;
  readonly from: number;
  readonly to: number;
  /**
   * What earlier PATCHes with the same precondition asked for, whose outcome is not known either: of all of them one
   * goes through at most.
   */
  readonly earlier: readonly number[];
  /** The precondition of its PATCH: on an object with another one it can't go through. */
  readonly resourceVersion: string;
  /** Of the target before the PATCH, or older; null where its kind does not tell. */
  readonly generation: number | null;
  readonly at: Instant;
}

/** Every count that the target may come to by an intent: its own one first. */
export function announcedCounts({ to, earlier }: Intent): readonly number[] {
  return [to, ...earlier];
}

/** What is stored of a scaler, beside who stored it. */
export interface StoredState extends Pick<
  State,
  'lastScaleUp' | 'lastScaleDown' | 'scaleEvents' | 'zeroedBySelf' | 'failingSince'
> {
  /** Of the target that it is the state of. */
  readonly uid: string;
  /** A change whose outcome is not known; null: none. The other fields are those from before it. */
  readonly intent: Intent | null;
}

/** An entry as it was read. */
export interface StoredEntry extends StoredState {
  /** The term in which it was written. */
  readonly epoch: string;
}

/** A text that is no entry which this version may use, and must leave as it is. */
export interface EntryProblem {
  readonly problem: string;
}

/** Longer ones are not written. Source: reliability.md, W8. */
export const MAX_ENTRY_BYTES = 4096;
/** A stored time may be that far ahead of our own clock: the writer's may be. Source: W14. */
const CLOCK_SKEW_SECONDS = 60;
/** More of them are put together, so that an entry stays within 4 KiB. */
const MAX_EVENTS = 64;
const SCHEMA_VERSION = 1;

const instant = z.string().transform((text, context): Instant => {
  const parsed = parseInstant(text);
  if (parsed !== null) return parsed;
  context.addIssue({ code: 'custom', message: 'must be an RFC 3339 time' });
  return z.NEVER;
});
const replicas = z.int().min(0).max(MAX_REPLICAS);
const entrySchema = z.strictObject({
  v: z.literal(SCHEMA_VERSION),
  epoch: z.string().min(1),
  uid: z.string().min(1),
  lastScaleUp: instant.optional(),
  lastScaleDown: instant.optional(),
  scaleEvents: z.array(z.tuple([instant, z.int().refine((change) => change !== 0)])).optional(),
  zeroedBySelf: z.literal(true).optional(),
  failingSince: z.record(z.string().min(1), instant).optional(),
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
 * The text that stands for an entry: compact JSON with the version of its schema, absent fields left out. Of more than
 * 64 scale events the older ones are put together at the later time, which a rate policy counts for longer. Where the
 * failing metrics would make it longer than 4 KiB they are left out: a fallback that begins anew is late, an entry that
 * cannot be written keeps the scaler from scaling down.
 */
export function writeEntry(epoch: string, state: StoredState): string {
  const text = textOf(epoch, state);
  if (state.failingSince.size === 0 || Buffer.byteLength(text) <= MAX_ENTRY_BYTES) return text;
  return textOf(epoch, { ...state, failingSince: new Map() });
}

function textOf(epoch: string, state: StoredState): string {
  const { uid, lastScaleUp, lastScaleDown, scaleEvents, zeroedBySelf, failingSince, intent } = state;
  const time = (at: Instant | null): string | undefined => (at === null ? undefined : formatInstant(at));
  const events = condense(scaleEvents).map(({ at, change }) => [formatInstant(at), change]);
  const failing = [...failingSince].map(([metric, at]) => [metric, formatInstant(at)] as const);
  return JSON.stringify({
    v: SCHEMA_VERSION,
    epoch,
    uid,
    lastScaleUp: time(lastScaleUp),
    lastScaleDown: time(lastScaleDown),
    scaleEvents: events.length === 0 ? undefined : events,
    zeroedBySelf: zeroedBySelf ? true : undefined,
    failingSince: failing.length === 0 ? undefined : Object.fromEntries(failing),
    intent: intent === null ? undefined : jsonOf(intent),
  });
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

/** Keeps the youngest of each direction and puts the older ones together, each pair at its later time. */
function condense(events: readonly ScaleEvent[]): readonly ScaleEvent[] {
  if (events.length <= MAX_EVENTS) return events;
  const ups = events.filter(({ change }) => change > 0);
  const downs = events.filter(({ change }) => change < 0);
  return [...condenseTo(ups, MAX_EVENTS / 2), ...condenseTo(downs, MAX_EVENTS / 2)].sort(
    (a, b) => a.at - b.at,
  );
}

function condenseTo(events: readonly ScaleEvent[], most: number): readonly ScaleEvent[] {
  let left = [...events];
  while (left.length > most) {
    const surplus = left.length - most;
    const joined: ScaleEvent[] = [];
    for (let index = 0; index < left.length; index += 1) {
      const [first, second] = [left[index], left[index + 1]];
      if (first === undefined) break;
      if (second === undefined || index - joined.length >= surplus) joined.push(first);
      else {
        joined.push({ at: second.at, change: first.change + second.change });
        index += 1;
      }
    }
    left = joined;
  }
  return left;
}

/** Reads an entry; what is damaged, edited into something else or of a newer version is a problem with its name. */
export function readEntry(text: string): StoredEntry | EntryProblem {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { problem: 'it is no JSON' };
  }
  const version = versionOf(json);
  if (version !== null && version > SCHEMA_VERSION)
    return {
      problem: `it is of schema version ${version}, this version of promscaler knows ${SCHEMA_VERSION}`,
    };
  const parsed = entrySchema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue === undefined || issue.path.length === 0 ? 'it' : issue.path.join('.');
    return { problem: `${place} is not as promscaler writes it: ${issue?.message ?? 'invalid'}` };
  }
  const { epoch, uid, lastScaleUp, lastScaleDown, scaleEvents, zeroedBySelf, failingSince, intent } =
    parsed.data;
  return {
    epoch,
    uid,
    lastScaleUp: lastScaleUp ?? null,
    lastScaleDown: lastScaleDown ?? null,
    scaleEvents: (scaleEvents ?? []).map(([at, change]) => ({ at, change })),
    zeroedBySelf: zeroedBySelf ?? false,
    failingSince: new Map(Object.entries(failingSince ?? {})),
    intent:
      intent === undefined
        ? null
        : { ...intent, earlier: intent.earlier ?? [], generation: intent.generation ?? null },
  };
}

function versionOf(json: unknown): number | null {
  if (typeof json !== 'object' || json === null || !('v' in json)) return null;
  return typeof json.v === 'number' ? json.v : null;
}

/**
 * The entry with every time that is more than 60 s ahead of `now` taken for `now`: a window that a wrong clock has
 * begun in the future would never end. Nearer ones stay, for the writer's clock may be ahead. The same value where
 * there is none. Source: reliability.md, W14.
 */
export function clampFuture(entry: StoredEntry, now: Instant): StoredEntry {
  const isAhead = (at: Instant | null): boolean =>
    at !== null && secondsBetween(now, at) > CLOCK_SKEW_SECONDS;
  const { lastScaleUp, lastScaleDown, scaleEvents, failingSince, intent } = entry;
  const changes = [lastScaleUp, lastScaleDown, intent?.at ?? null, ...scaleEvents.map(({ at }) => at)];
  const times = [...changes, ...failingSince.values()];
  if (!times.some(isAhead)) return entry;
  return {
    ...entry,
    lastScaleUp: isAhead(lastScaleUp) ? now : lastScaleUp,
    lastScaleDown: isAhead(lastScaleDown) ? now : lastScaleDown,
    scaleEvents: scaleEvents.map((event) => (isAhead(event.at) ? { ...event, at: now } : event)),
    failingSince: new Map([...failingSince].map(([metric, at]) => [metric, isAhead(at) ? now : at])),
    intent: intent !== null && isAhead(intent.at) ? { ...intent, at: now } : intent,
  };
}

/** No forbidden window is longer (24 h), so an entry that has told of nothing for that long holds nothing back. */
const LONGEST_WINDOW_SECONDS = 86_400;

/** Whether nothing of an entry could still hold a change back. */
export function isSpent(
  { lastScaleUp, lastScaleDown, scaleEvents, intent }: StoredEntry,
  now: Instant,
): boolean {
  const start = addSeconds(now, -LONGEST_WINDOW_SECONDS);
  const times = [lastScaleUp, lastScaleDown, ...scaleEvents.map(({ at }) => at)];
  return intent === null && times.every((at) => at === null || at < start);
}
