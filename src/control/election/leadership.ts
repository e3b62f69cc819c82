export interface Leadership {
  /** Unique name of the term, recorded in its intents. */
  readonly epoch: () => string;
  /** Whether a write may be sent now; checked directly before each write. */
  readonly mayWrite: () => boolean;
  /** Returns why no write may be sent now; null: it may. */
  readonly whyNoWrites: () => string | null;
}

/** The work of a leader until `signal` is aborted; it must end within 5 s. */
export type Lead = (signal: AbortSignal) => Promise<void>;

export interface Election extends Leadership {
  /** Name of this candidate, as in the Lease. */
  readonly identity: string;
  /** Name of the replica that leads, as far as this one knows; null: none or unknown. */
  readonly leader: () => string | null;
  readonly isLeading: () => boolean;
  /** Problems that only a restart fixes, for `/healthz`. */
  readonly healthProblems: () => readonly string[];
  /** Resolves when the event loop is responsive, or after 3 s: a burst of work should delay a write, not prevent it. */
  readonly untilSteady: () => Promise<void>;
  readonly run: (signal: AbortSignal, lead: Lead) => Promise<void>;
}

export function alwaysLeads(instance: string): Leadership {
  return { epoch: () => `0/${instance}`, mayWrite: () => true, whyNoWrites: () => null };
}

export function soleLeader(instance: string): Election {
  return {
    ...alwaysLeads(instance),
    identity: instance,
    leader: () => instance,
    isLeading: () => true,
    healthProblems: () => [],
    untilSteady: () => Promise.resolve(),
    run: (signal, lead) => lead(signal),
  };
}

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
  /** Runs work for a scaler of the bucket. The bucket is not released before the work ends. */
  readonly track: <T>(bucket: number, work: () => Promise<T>) => Promise<T>;
  /** Other live members and their buckets; empty without sharding. */
  readonly others: () => readonly Member[];
}
