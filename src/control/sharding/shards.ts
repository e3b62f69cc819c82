import type { Election, Leadership } from '../election/leadership.js';

/** A replica that takes part in scaling. */
export interface Member {
  readonly identity: string;
  /** The URL of its HTTP server; null: unknown. */
  readonly address: string | null;
  readonly buckets: readonly number[];
}

/** The share of the scalers that this process decides: all of them as a leader, or those in the buckets that it owns. */
export interface Shards extends Election {
  /** Whether this process decides the scalers of a bucket. */
  readonly serves: (bucket: number) => boolean;
  /** Whether the scalers of a bucket may be changed now; checked directly before each write. */
  readonly leadershipOf: (bucket: number) => Leadership;
  /** Runs a cycle of a scaler of a bucket; the bucket is released only after it. */
  readonly track: <T>(bucket: number, cycle: () => Promise<T>) => Promise<T>;
  /** The other live members with their buckets; empty without sharding. */
  readonly others: () => readonly Member[];
}

/** Returns the shards of a process that decides all scalers while it leads. */
export function undivided(election: Election): Shards {
  return {
    ...election,
    serves: () => true,
    leadershipOf: () => election,
    track: (_bucket, cycle) => cycle(),
    others: () => [],
  };
}
