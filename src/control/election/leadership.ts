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
