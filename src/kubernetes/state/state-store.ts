import type { Clock } from '../../units/clock.js';
import type { Instant } from '../../units/time.js';
import type { Log } from '../../units/log.js';
import type { KnownEntry, PutResult } from './choose-writes.js';
import { createStateBucket, type StateBucket } from './bucket.js';
import { isSpent, writeEntry, type StoredEntry, type StoredState } from './state-entry.js';
import { bucketOf, configMapName, entryKey, STATE_BUCKETS, type ScalerName } from './state-key.js';
import type { Transport } from '../requests/transport.js';

/** What the store knows of a scaler. `text` is what is stored, the base of the next write; null: nothing. */
export type StateReading =
  /** State is kept in memory alone. */
  | { readonly kind: 'off'; readonly text: null }
  /**
   * `isOwn`: the text is what this process has sent last, so that it tells nothing new. `since`: when the ConfigMap was
   * made; null: not known.
   */
  | {
      readonly kind: 'entry';
      readonly text: string;
      readonly entry: StoredEntry;
      readonly isOwn: boolean;
      readonly since: Instant | null;
    }
  /** Nothing has been stored since the ConfigMap was made; null: not known when. */
  | { readonly kind: 'none'; readonly text: null; readonly since: Instant | null }
  /** The ConfigMap, or the entry, can't be used. */
  | { readonly kind: 'unusable'; readonly text: string | null; readonly message: string };

/** A state to be stored where `base` is: the text of the last reading or write. */
export interface StateWrite {
  readonly scaler: ScalerName;
  readonly base: string | null;
  readonly state: StoredState;
}

/** Keeps what must outlive a crash: reliability.md, W8-W14. Failures are part of the answers; nothing throws. */
export interface StateStore {
  /** Reads all of it, at the start. */
  readonly load: () => Promise<void>;
  /** Reads all of it anew: to be called, and waited for, when this process begins to lead, before it may write. */
  readonly reload: () => Promise<void>;
  /** What is known of a scaler, from memory; only what could not be used is asked for again, every 10 s at most. */
  readonly read: (scaler: ScalerName) => Promise<StateReading>;
  /** Stores at once, together with what else is to be stored in the same ConfigMap. */
  readonly put: (write: StateWrite) => Promise<PutResult>;
  /** Stores with the next `put`, after 5 s at the latest. What came of it tells the next reading. */
  readonly putLater: (write: StateWrite) => void;
  /** Stores what `putLater` has left: before this process ends or stops leading. */
  readonly flush: () => Promise<void>;
  /** Which scalers there are. An entry of none of them is dropped with a later write, 24 h after it came to be so. */
  readonly setKnown: (scalers: readonly ScalerName[]) => void;
}

export interface StateStoreOptions {
  readonly transport: Transport;
  /** The service's own. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this process leads, and the name of its term: asked just before each write. */
  readonly leadership: { readonly epoch: () => string; readonly mayWrite: () => boolean };
}

/** How long an entry outlives its scaler: the longest forbidden window there is. */
const KEEP_MS = 86_400_000;
/** Longer than a leader that was deposed can believe that it leads. */
const RIVAL_MS = 30_000;

/** The store in the ConfigMaps `promscaler-state-00` to `-15` of a namespace. It asks nothing before it is used. */
export function createStateStore(options: StateStoreOptions): StateStore {
  const { clock, leadership } = options;
  let knownKeys: ReadonlySet<string> = new Set();
  const absentSinceMs = new Map<string, number>();

  const isOrphaned = (key: string, entry: StoredEntry): boolean => {
    if (knownKeys.has(key)) {
      absentSinceMs.delete(key);
      return false;
    }
    const nowMs = clock.monotonicMs();
    const since = absentSinceMs.get(key) ?? nowMs;
    absentSinceMs.set(key, since);
    return nowMs - since >= KEEP_MS && isSpent(entry, clock.now());
  };

  const isRivals = ({ content, foreignSinceMs }: KnownEntry): boolean =>
    !('problem' in content) &&
    foreignSinceMs !== null &&
    clock.monotonicMs() - foreignSinceMs < RIVAL_MS &&
    isLaterTerm(content.epoch, leadership.epoch());

  const buckets = Array.from({ length: STATE_BUCKETS }, (_, index) =>
    createStateBucket({
      ...options,
      name: configMapName(index),
      mayWrite: leadership.mayWrite,
      isRivals,
      isSpent: isOrphaned,
    }),
  );
  const ofScaler = (scaler: ScalerName): { readonly key: string; readonly bucket: StateBucket } | null => {
    const bucket = buckets[bucketOf(scaler)];
    const key = entryKey(scaler);
    return key === null || bucket === undefined ? null : { key, bucket };
  };
  const all = async (work: (bucket: StateBucket) => Promise<void>): Promise<void> => {
    await Promise.all(buckets.map(work));
  };

  return {
    load: () => all((bucket) => bucket.settle()),
    reload: () => all((bucket) => bucket.reload()),
    flush: () => all((bucket) => bucket.flush()),
    read: async (scaler) => {
      const place = ofScaler(scaler);
      if (place === null) return { kind: 'unusable', text: null, message: tooLong(scaler) };
      await place.bucket.settle(place.key);
      return readingOf(place.bucket, place.key);
    },
    put: async ({ scaler, base, state }) => {
      const place = ofScaler(scaler);
      if (place === null) return { kind: 'failed', message: tooLong(scaler) };
      const text = writeEntry(leadership.epoch(), state);
      return place.bucket.put({ key: place.key, base, text });
    },
    putLater: ({ scaler, base, state }) => {
      const place = ofScaler(scaler);
      if (place === null) return;
      place.bucket.putLater({ key: place.key, base, text: writeEntry(leadership.epoch(), state) });
    },
    setKnown: (scalers) => {
      knownKeys = new Set(scalers.map(entryKey).filter((key) => key !== null));
    },
  };
}

/** State in memory alone: every reading says so, every write is done at once. */
export function stateInMemory(): StateStore {
  const nothing = (): Promise<void> => Promise.resolve();
  return {
    load: nothing,
    reload: nothing,
    flush: nothing,
    read: () => Promise.resolve({ kind: 'off', text: null }),
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
    const message = `the stored state ${key} cannot be used: ${content.problem}; remove the entry to begin anew`;
    return { kind: 'unusable', text, message };
  }
  const isOwn = bucket.isOwn(key, known.text);
  return { kind: 'entry', text: known.text, entry: content, isOwn, since: bucket.createdAt() };
}

function tooLong({ namespace, name }: ScalerName): string {
  return `the name ${namespace}.${name} is too long for the key of a ConfigMap (253 characters): a shorter one keeps state`;
}

/** Whether a term is later than another by the number of transitions that both begin with; false where one has none. */
function isLaterTerm(term: string, than: string): boolean {
  const [a, b] = [transitionsOf(term), transitionsOf(than)];
  return a !== null && b !== null && a > b;
}

function transitionsOf(term: string): number | null {
  const match = /^(\d+)\//.exec(term);
  return match === null ? null : Number(match[1]);
}
