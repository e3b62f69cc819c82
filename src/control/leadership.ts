/** Whether this process is the one that may change replicas, and in which term. */
export interface Leadership {
  /** Names the term of a leader, for the intents it writes: no two leaders and no two terms have the same. */
  readonly epoch: () => string;
  /** Whether a write may be sent at this very moment; asked just before each one and after every wait. */
  readonly mayWrite: () => boolean;
}

/** Of a process that is alone by configuration: without election it always leads. */
export function alwaysLeads(instance: string): Leadership {
  return { epoch: () => `0/${instance}`, mayWrite: () => true };
}
