export interface Leadership {
  /**
   * Returns the unique name of the term: the time from acquiring the Lease to losing it. Stored changes contain the
   * name.
   */
  readonly epoch: () => string;
  /** Returns whether a write may be sent now. It is called directly before each write. */
  readonly mayWrite: () => boolean;
  /** Returns why no write may be sent now; null: a write may be sent. */
  readonly whyNoWrites: () => string | null;
}

/** Does the work of a leader until `signal` is aborted. It must end within 5 s after that. */
export type Lead = (signal: AbortSignal) => Promise<void>;

export interface Election extends Leadership {
  /** The name of this candidate in the Lease. */
  readonly identity: string;
  /** Returns the name of the leader, as far as this replica knows; null: there is none, or it is unknown. */
  readonly leader: () => string | null;
  readonly isLeading: () => boolean;
  /** Returns problems that only a restart fixes, for `/healthz`. */
  readonly healthProblems: () => readonly string[];
  /**
   * Resolves when the event loop is responsive, or after 3 s: a burst of work should delay a write, but not prevent it.
   */
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

/** A replica that decides part of the scalers. */
export interface Member {
  readonly identity: string;
  /** The URL of its HTTP server; null: unknown. */
  readonly address: string | null;
  readonly buckets: readonly number[];
}

/** Which scalers this process decides: all while it is the leader; with sharding, the scalers of its buckets. */
export interface Shards extends Election {
  readonly serves: (bucket: number) => boolean;
  /** Says whether the scalers of a bucket may be changed now. Checked directly before each write. */
  readonly leadershipOf: (bucket: number) => Leadership;
  /** Runs work for a scaler of the bucket. The bucket is not released before the work has ended. */
  readonly track: <T>(bucket: number, work: () => Promise<T>) => Promise<T>;
  /** Returns the other live members with their buckets; without sharding, only the leader if it is another replica. */
  readonly others: () => readonly Member[];
}
