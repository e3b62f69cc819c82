import type { Awaitable } from '../../units/awaitable.js';
import type { Election, Leadership } from '../election/leadership.js';

/** A replica that shares the scalers. */
export interface Member {
  readonly identity: string;
  /** URL of its HTTP server; null: unknown. */
  readonly address: string | null;
  readonly buckets: readonly number[];
}

/**
 * The part of the scalers that this process decides: all scalers if it is the leader, or with sharding those in its
 * buckets.
 */
export interface Shards extends Election {
  readonly serves: (bucket: number) => boolean;
  /** Whether the scalers of the bucket may be changed now; checked directly before each write. */
  readonly leadershipOf: (bucket: number) => Leadership;
  /** Runs a cycle for a scaler of the bucket. The bucket is not released before the cycle ends. */
  readonly track: <T>(bucket: number, cycle: () => Awaitable<T>) => Awaitable<T>;
  /** Other live members and their buckets; empty without sharding. */
  readonly others: () => readonly Member[];
}

/** Returns the shards of a process that decides all scalers while it is the leader. */
export function undivided(election: Election): Shards {
  return {
    ...election,
    serves: () => true,
    leadershipOf: () => election,
    track: (_bucket, cycle) => cycle(),
    others: () => [],
  };
}
