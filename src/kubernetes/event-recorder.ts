import { type Instant, secondsBetween } from '../units/time.js';
import type { Clock } from '../units/clock.js';
import type { JsonObject } from './api/json.js';
import type { Log } from '../units/log.js';
import { microTime } from './lease.js';
import type { Transport } from './requests/transport.js';
import { KubernetesError, type Cluster, type EventObject, type TargetEvent } from './api/types.js';
import { cleanText } from '../units/clean-text.js';

interface EventRecorder {
  readonly record: Cluster['recordEvent'];
  readonly idle: () => Promise<void>;
}

interface EventRecorderOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  /** The name of this pod, for `reportingInstance`, in at most 128 characters. */
  readonly instance: string;
}

const MAX_QUEUE = 1000;
const MAX_SERIES = 4096;
const SERIES_SECONDS = 360;
/** Limits the Events about one target: this many at once, then one every five minutes. */
const BURST = 25;
const REFILL_MS = 300_000;
/** Number of Events of `BURST` that are reserved for failures and pauses: rescales cannot use them. */
const NOT_FOR_RESCALES = 5;
const DEADLINE_MS = 5000;

interface Budget {
  readonly tokens: number;
  readonly atMs: number;
}

/**
 * Returns a recorder. An Event that is repeated about the same target within six minutes is counted instead of created
 * again. Events are dropped if they exceed the rate limit of their target (as in client-go:
 * tools/record/events_cache.go), or if 1,000 are queued. Source: reliability.md, W26.
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { clock, log } = options;
  const series = new Map<string, SeenEvent>();
  const budgets = new Map<string, Budget>();
  const queue: { readonly seen: SeenEvent; readonly onWritten: (() => void) | undefined }[] = [];
  let working: Promise<void> | null = null;

  const spend = (uid: string, left: number): boolean => {
    const now = clock.monotonicMs();
    const before = budgets.get(uid) ?? { tokens: BURST, atMs: now };
    const tokens = Math.min(BURST, before.tokens + (now - before.atMs) / REFILL_MS);
    const isEnough = tokens >= left + 1;
    keepNewest(budgets, uid, { tokens: isEnough ? tokens - 1 : tokens, atMs: now });
    return isEnough;
  };

  const observe = (target: EventObject, event: TargetEvent): SeenEvent => {
    const key = [target.uid, event.type, event.reason, event.message].join('\n');
    const now = clock.now();
    const before = series.get(key);
    const isRepeated = before !== undefined && secondsBetween(before.lastAt, now) <= SERIES_SECONDS;
    const suffix = `${now.toString(16)}${Math.floor(clock.random() * 2 ** 32).toString(16)}`;
    const seen: SeenEvent = isRepeated
      ? { ...before, lastAt: now, count: before.count + 1 }
      : {
          target,
          event,
          name: `${target.ref.name}.${suffix}.${series.size}`,
          firstAt: now,
          lastAt: now,
          count: 1,
        };
    keepNewest(series, key, seen);
    return seen;
  };

  /** Sends an Event. Returns whether the API server has accepted it. */
  const send = async (seen: SeenEvent): Promise<boolean> => {
    try {
      await sendTo(options, seen);
      return true;
    } catch (error) {
      log.debug('failed to send Event', { reason: seen.event.reason, error: String(error) });
      return false;
    }
  };

  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      if (await send(next.seen)) next.onWritten?.();
    working = null;
  };

  return {
    record: (target, event, onWritten) => {
      const seen = observe(target, event);
      const left = event.reason === 'SuccessfulRescale' ? NOT_FOR_RESCALES : 0;
      if (queue.length >= MAX_QUEUE || !spend(target.uid, left)) {
        log.debug('Event dropped', { reason: event.reason });
        return;
      }
      queue.push({ seen, onWritten });
      working ??= work();
    },
    idle: () => working ?? Promise.resolve(),
  };
}

/** Sets an entry. Removes the least recently set entry of a full map, because the map lives as long as the service. */
function keepNewest<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.size > MAX_SERIES ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}

async function sendTo({ transport, instance }: EventRecorderOptions, seen: SeenEvent): Promise<void> {
  const path = `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(seen.target.namespace)}/events`;
  const doing = `recording event ${seen.event.reason}`;
  const common = { lane: 'events', resource: 'events', deadlineMs: DEADLINE_MS, doing } as const;
  if (seen.count > 1) {
    try {
      const place = `${path}/${encodeURIComponent(seen.name)}`;
      await transport.request({ ...common, verb: 'patch', path: place, body: seriesPatch(seen) });
      return;
    } catch (error) {
      // The first Event does not exist: it was dropped, or the API server has deleted it after its TTL of one hour.
      if (!(error instanceof KubernetesError) || error.kind !== 'not_found') throw error;
    }
  }
  await transport.request({ ...common, verb: 'create', path, body: eventBody(seen, instance) });
}

interface SeenEvent {
  readonly target: EventObject;
  readonly event: TargetEvent;
  /** `metadata.name` of the Event, unique in its namespace. */
  readonly name: string;
  readonly firstAt: Instant;
  readonly lastAt: Instant;
  readonly count: number;
}

const MAX_NOTE_BYTES = 1024;

function eventBody({ target, event, name, firstAt }: SeenEvent, instance: string): JsonObject {
  const { ref, namespace, uid, resourceVersion } = target;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace },
    eventTime: microTime(firstAt),
    reportingController: 'promscaler',
    reportingInstance: instance,
    action: 'Scaling',
    type: event.type,
    reason: event.reason,
    note: shortNote(event.message),
    regarding: {
      apiVersion: ref.apiVersion,
      kind: ref.kind,
      namespace,
      name: ref.name,
      uid,
      resourceVersion,
    },
  };
}

function seriesPatch(seen: SeenEvent): JsonObject {
  return { series: { count: seen.count, lastObservedTime: microTime(seen.lastAt) } };
}

/** Truncates a message to 1 kB, without splitting a character. */
function shortNote(message: string): string {
  const note = cleanText(message);
  const bytes = Buffer.from(note);
  if (bytes.length <= MAX_NOTE_BYTES) return note;
  let end = MAX_NOTE_BYTES - 3;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.subarray(0, end).toString('utf8')}...`;
}
