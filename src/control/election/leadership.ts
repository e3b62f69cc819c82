/** Whether this process is the one that may change replicas, and in which term. */
export interface Leadership {
  /** Names the term of a leader, for the intents it writes: no two leaders and no two terms have the same. */
  readonly epoch: () => string;
  /** Whether a write may be sent at this very moment; asked just before each one and after every wait. */
  readonly mayWrite: () => boolean;
}

/** What a leader does, until its signal is aborted; it must heed that within 5 s. */
export type Lead = (signal: AbortSignal) => Promise<void>;

/** A leadership that comes and goes. */
export interface Election extends Leadership {
  /** Whether this process does the work now: in the midst of a term. */
  readonly isLeading: () => boolean;
  /** What a restart alone can mend, one sentence each. */
  readonly ailments: () => readonly string[];
  /** Resolves once the event loop keeps up, or after 3 s: a burst of work should delay a write, not forbid it. */
  readonly untilSteady: () => Promise<void>;
  /** Does the work whenever it is this process' turn, until `signal` is aborted. */
  readonly run: (signal: AbortSignal, lead: Lead) => Promise<void>;
}

/** Of a process that is alone by configuration: without election it always leads. */
export function alwaysLeads(instance: string): Leadership {
  return { epoch: () => `0/${instance}`, mayWrite: () => true };
}

/** The election of a process that is alone by configuration: one term, from start to stop. */
export function standsAlone(instance: string): Election {
  return {
    ...alwaysLeads(instance),
    isLeading: () => true,
    ailments: () => [],
    untilSteady: () => Promise.resolve(),
    run: (signal, lead) => lead(signal),
  };
}
