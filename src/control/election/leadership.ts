/** Whether this process may change replicas, and in which term. */
export interface Leadership {
  /** The unique name of the term, for its intents. */
  readonly epoch: () => string;
  /** Whether a write may be sent now; checked directly before each write. */
  readonly mayWrite: () => boolean;
}

/** The work of a leader until `signal` is aborted; it must end within 5 s. */
export type Lead = (signal: AbortSignal) => Promise<void>;

export interface Election extends Leadership {
  /** Whether a term of this process is running. */
  readonly isLeading: () => boolean;
  /** Problems that only a restart fixes, for `/healthz`. */
  readonly healthProblems: () => readonly string[];
  /** Resolves when the event loop keeps up, or after 3 s: a burst of work should delay a write, not prevent it. */
  readonly untilSteady: () => Promise<void>;
  /** Calls `lead` for each term, until `signal` is aborted. */
  readonly run: (signal: AbortSignal, lead: Lead) => Promise<void>;
}

/** Returns the leadership of a process without leader election. */
export function alwaysLeads(instance: string): Leadership {
  return { epoch: () => `0/${instance}`, mayWrite: () => true };
}

/** Returns the election of a process without leader election: one term, from start to stop. */
export function soleLeader(instance: string): Election {
  return {
    ...alwaysLeads(instance),
    isLeading: () => true,
    healthProblems: () => [],
    untilSteady: () => Promise.resolve(),
    run: (signal, lead) => lead(signal),
  };
}
