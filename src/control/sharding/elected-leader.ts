import type { LeaseClient } from '../../kubernetes/lease.js';
import type { Clock } from '../../units/clock.js';
import {
  mayAcquire,
  observeLease,
  type ElectionTimes,
  type LeaseObservation,
} from '../election/election-rules.js';

/** The leader of replicas without sharding, which run next to members during a rolling update. */
export interface ElectedLeader {
  /** Reads the Lease of leader election. Throws `KubernetesError`. */
  readonly observe: (signal: AbortSignal) => Promise<void>;
  /** Whether the Lease has a holder that may still lead, according to the last read. */
  readonly isLive: () => boolean;
  /** Of the last read, `leaseTransitions`; 0: there is no Lease. */
  readonly transitions: () => number;
}

export function createElectedLeader(
  client: Pick<LeaseClient, 'read'>,
  { clock, times }: { readonly clock: Clock; readonly times: ElectionTimes },
): ElectedLeader {
  let known: LeaseObservation | null = null;
  return {
    observe: async (signal) => {
      const seen = await client.read(signal);
      // A deleted Lease does not shorten the wait.
      if (seen !== null) known = observeLease(known, seen, clock.monotonicMs());
    },
    isLive: () => !mayAcquire(known, { identity: '', nowMs: clock.monotonicMs(), times }),
    transitions: () => known?.spec.leaseTransitions ?? 0,
  };
}
