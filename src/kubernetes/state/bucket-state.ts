import type { Facts } from '../../units/log.js';
import type { Instant } from '../../units/time.js';
import type { KubernetesError } from '../api/types.js';
import type { BucketRules, BucketWrite, KnownEntry, PutResult } from './choose-writes.js';
import type { StateMap, StateMapChange } from './state-config-map.js';

/** State of one ConfigMap of the state store, and the write in progress. */
export interface BucketState<W extends BucketWrite> {
  /** The last state that was read or written; null: not read yet. */
  readonly known: KnownMap | null;
  readonly failure: { readonly message: string; readonly atMs: number } | null;
  /** Whether the last write may have changed the ConfigMap after it was read. */
  readonly isStale: boolean;
  readonly isDoubtful: boolean;
  /** Key of the ConfigMap -> last text sent, to recognize an own write whose answer was lost. */
  readonly sent: ReadonlyMap<string, string>;
  readonly writing: Writing<W> | null;
}

interface KnownMap extends Pick<StateMap, 'resourceVersion' | 'createdAt'> {
  readonly entries: ReadonlyMap<string, KnownEntry>;
  readonly readMs: number;
}

export interface Writing<W extends BucketWrite> {
  readonly writes: readonly W[];
  /** Other entries that the PATCH in flight changes; null: removes. */
  readonly others: ReadonlyMap<string, string | null>;
  readonly conflicts: number;
  readonly endMs: number;
}

export type BucketEvent<W extends BucketWrite> =
  /** `isReload`: entries that other replicas wrote before this read may be overwritten. */
  | { readonly type: 'read'; readonly map: StateMap; readonly isReload: boolean }
  | { readonly type: 'read-failed'; readonly error: KubernetesError }
  /** `endMs`: monotonic time after which no write is sent. */
  | { readonly type: 'write'; readonly writes: readonly W[]; readonly endMs: number }
  /** The `read` or `wait` requested by the last transition has finished. */
  | { readonly type: 'retry' }
  | { readonly type: 'patched'; readonly resourceVersion: string }
  | { readonly type: 'patch-failed'; readonly error: KubernetesError };

/** A transition has at most one `patch`, `read` or `wait`, as its last effect. */
export type BucketEffect<W extends BucketWrite> =
  | {
      readonly type: 'log';
      readonly level: 'info' | 'warn';
      readonly facts: Facts;
      readonly message: string;
    }
  | { readonly type: 'answer'; readonly write: W; readonly result: PutResult }
  /** The event `patched` or `patch-failed` reports the result. */
  | { readonly type: 'patch'; readonly change: StateMapChange }
  /** Read the ConfigMap, then dispatch `retry`. */
  | { readonly type: 'read' }
  /** Wait, then dispatch `retry`. */
  | { readonly type: 'wait'; readonly ms: number };

export interface BucketContext extends BucketRules {
  readonly namespace: string;
  readonly now: Instant;
  readonly nowMs: number;
}

export interface Transition<W extends BucketWrite> {
  readonly state: BucketState<W>;
  readonly effects: readonly BucketEffect<W>[];
}

const RETRY_UNUSABLE_MS = 10_000;
const RETRY_UNUSABLE_ENTRY_MS = 60_000;

export const UNREAD: BucketState<never> = {
  known: null,
  failure: null,
  isStale: false,
  isDoubtful: false,
  sent: new Map(),
  writing: null,
};

/**
 * Whether the ConfigMap must be read before it is used: it was never read, it was unusable at least 10 s ago, or the
 * entry of `key` was invalid at least 60 s ago.
 */
export function isReadDue(
  { known, failure, isStale }: BucketState<BucketWrite>,
  key: string | null,
  nowMs: () => number,
): boolean {
  if (failure !== null) return nowMs() - failure.atMs >= RETRY_UNUSABLE_MS;
  if (known === null || isStale) return true;
  const entry = key === null ? undefined : known.entries.get(key);
  return (
    entry !== undefined && 'problem' in entry.content && nowMs() - known.readMs >= RETRY_UNUSABLE_ENTRY_MS
  );
}
