import type { Clock } from '../../units/clock.js';
import type { Instant } from '../../units/time.js';
import type { Log } from '../../units/log.js';
import type { KnownEntry, PutResult } from './choose-writes.js';
import { createStateBucket, type StateBucket } from './bucket.js';
import { writeEntry, type StoredEntry, type StoredState } from './state-entry.js';
import type { ScalerName } from '../../scaler/spec.js';
import { ALL_BUCKETS, bucketOf, configMapName, entryKey } from './state-key.js';
import type { Transport } from '../requests/transport.js';

/** The stored state of a scaler. `text` is the entry, which is `base` of the next write; null: there is no entry. */
export type StateReading =
  | { readonly kind: 'off'; readonly text: null }
  /** `isOwn`: this process wrote the entry. `since`: when the ConfigMap was created; null: unknown. */
  | {
      readonly kind: 'entry';
      readonly text: string;
      readonly entry: StoredEntry;
      readonly isOwn: boolean;
      readonly since: Instant | null;
    }
  /** There is no entry. `since`: when the ConfigMap was created; null: unknown. */
  | { readonly kind: 'none'; readonly text: null; readonly since: Instant | null }
  /** The ConfigMap is unusable, or the entry invalid. */
  | { readonly kind: 'unusable'; readonly text: string | null; readonly message: string };

/** A state to be written. `base` is the entry that it replaces: the `text` of the last read or write. */
interface StateWrite {
  readonly scaler: ScalerName;
  readonly base: string | null;
  readonly state: StoredState;
}

/**
 * Stores state that must survive a crash. Does not throw, because failures are part of the results. Source:
 * reliability.md, W8-W14.
 */
export interface StateStore {
  /** Reads all ConfigMaps again. A new leader waits for this before it writes. */
  readonly reload: () => Promise<void>;
  /** Reads one ConfigMap again. A process that acquires a bucket waits for this before it writes. */
  readonly reloadBucket: (bucket: number) => Promise<void>;
  /** Returns the state of a scaler from memory. Only an unusable ConfigMap is read again, at most every second. */
  readonly read: (scaler: ScalerName) => StateReading | Promise<StateReading>;
  /** Writes now, in one PATCH together with other writes to the same ConfigMap. */
  readonly put: (write: StateWrite) => Promise<PutResult>;
  /** Writes together with the next `put`, or after 5 s. The next `read` shows the result. */
  readonly putLater: (write: StateWrite) => void;
  /** Writes what `putLater` has queued. It is called before this process exits or stops being the leader. */
  readonly flush: () => Promise<void>;
  /** Like `flush`, but for one ConfigMap. */
  readonly flushBucket: (bucket: number) => Promise<void>;
  /** Sets which scalers exist. Entries of other scalers are removed after 24 h, together with a later write. */
  readonly setKnown: (scalers: readonly ScalerName[]) => void;
}

interface StateStoreOptions {
  readonly transport: Transport;
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Checked directly before each write: whether this process may send it. */
  readonly leadership: BucketLeadership;
  /** With sharding, returns the leadership of a bucket. Default: `leadership`. */
  readonly leadershipOf?: (bucket: number) => BucketLeadership;
}

interface BucketLeadership {
  readonly epoch: () => string;
  readonly whyNoWrites: () => string | null;
}

/**
 * For this time, an entry of a later leader is not overwritten. After it, a former leader no longer regards itself as
 * leader.
 */
const FORMER_LEADER_MS = 30_000;

/**
 * Returns a store in the ConfigMaps `promscaler-state-00` to `-15` of a namespace. Sends no request before its first
 * use.
 */
export function createStateStore(options: StateStoreOptions): StateStore {
  const { clock, leadershipOf = () => options.leadership } = options;
  /** The keys of the existing scalers; null: the documents have not been read yet. */
  let known: ReadonlySet<string> | null = null;

  const isWrittenByLaterTerm = ({ content, foreignSinceMs }: KnownEntry, index: number): boolean =>
    !('problem' in content) &&
    foreignSinceMs !== null &&
    clock.monotonicMs() - foreignSinceMs < FORMER_LEADER_MS &&
    isLaterTerm(content.epoch, leadershipOf(index).epoch());

  const buckets = ALL_BUCKETS.map((index) =>
    createStateBucket({
      ...options,
      name: configMapName(index),
      whyNoWrites: () => leadershipOf(index).whyNoWrites(),
      isWrittenByLaterTerm: (entry) => isWrittenByLaterTerm(entry, index),
      isKnown: (key) => known?.has(key) ?? true,
    }),
  );
  const locate = (scaler: ScalerName): StateLocation | null => {
    const index = bucketOf(scaler);
    const bucket = buckets[index];
    const key = entryKey(scaler);
    if (key === null || bucket === undefined) return null;
    return { key, bucket, index };
  };
  const all = async (work: (bucket: StateBucket) => Promise<void>): Promise<void> => {
    await Promise.all(buckets.map(work));
  };

  return {
    reload: () => all((bucket) => bucket.reload()),
    reloadBucket: async (index) => buckets[index]?.reload(),
    flush: () => all((bucket) => bucket.flush()),
    flushBucket: async (index) => buckets[index]?.flush(),
    read: (scaler) => {
      const location = locate(scaler);
      if (location === null) return { kind: 'unusable', text: null, message: tooLong(scaler) };
      const { bucket, key } = location;
      const settling = bucket.settle(key);
      return settling === null ? readingOf(bucket, key) : settling.then(() => readingOf(bucket, key));
    },
    put: async ({ scaler, base, state }) => {
      const location = locate(scaler);
      if (location === null) return { kind: 'failed', message: tooLong(scaler) };
      const text = writeEntry(leadershipOf(location.index).epoch(), state);
      return location.bucket.put({ key: location.key, base, text });
    },
    putLater: ({ scaler, base, state }) => {
      const location = locate(scaler);
      if (location === null) return;
      const text = writeEntry(leadershipOf(location.index).epoch(), state);
      location.bucket.putLater({ key: location.key, base, text });
    },
    setKnown: (scalers) => {
      known = new Set(scalers.map(entryKey).filter((key) => key !== null));
    },
  };
}

interface StateLocation {
  readonly key: string;
  readonly bucket: StateBucket;
  readonly index: number;
}

const OFF: StateReading = { kind: 'off', text: null };

/** Returns a store that stores nothing: every read returns `off`, and every write succeeds. */
export function stateInMemory(): StateStore {
  const nothing = (): Promise<void> => Promise.resolve();
  return {
    reload: nothing,
    reloadBucket: nothing,
    flush: nothing,
    flushBucket: nothing,
    read: () => OFF,
    put: () => Promise.resolve({ kind: 'written', stored: null }),
    putLater: () => undefined,
    setKnown: () => undefined,
  };
}

function readingOf(bucket: StateBucket, key: string): StateReading {
  const known = bucket.get(key);
  const text = known?.text ?? null;
  const problem = bucket.problem();
  if (problem !== null) return { kind: 'unusable', text, message: problem };
  if (known === undefined) return { kind: 'none', text: null, since: bucket.createdAt() };
  const { content } = known;
  if ('problem' in content) {
    const message = `state entry ${key} is invalid: ${content.problem}. Remove the entry to start over`;
    return { kind: 'unusable', text, message };
  }
  const isOwn = bucket.isOwn(key, known.text);
  return { kind: 'entry', text: known.text, entry: content, isOwn, since: bucket.createdAt() };
}

function tooLong({ namespace, name }: ScalerName): string {
  return `${namespace}.${name} is too long for a ConfigMap key (at most 253 characters): state is not persisted. Use a shorter name`;
}

/**
 * Returns whether `term` began after `than`, according to their `leaseTransitions`. False if one of the terms has none.
 */
function isLaterTerm(term: string, than: string): boolean {
  const [a, b] = [transitionsOf(term), transitionsOf(than)];
  return a !== null && b !== null && a > b;
}

function transitionsOf(term: string): number | null {
  const match = /^(\d+)\//.exec(term);
  return match === null ? null : Number(match[1]);
}
