import { KubernetesError } from '../../../src/kubernetes/api/types.js';
import type { ManualClock } from '../../support/manual-clock.js';
import type { Fate, ProcessClock } from './candidates.js';

/**
 * Sends one request of a process: `apply` runs when it arrives, unless its fate is to be lost or rejected. Rejects as a
 * timeout when `signal` is aborted.
 */
export function sendWithFate<T>(
  { thereMs = 0, backMs = 0, lost, refused }: Fate,
  given: {
    /** The time of the network. */
    readonly network: ManualClock;
    readonly process: ProcessClock;
    /** For messages: `get of the Lease`. */
    readonly doing: string;
    readonly signal: AbortSignal;
  },
  apply: () => T,
): Promise<T> {
  const { network, process, doing, signal } = given;
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new KubernetesError('timeout', `${doing}: timeout`)));
    const answer = (give: () => void): void => {
      if (lost !== 'answer') network.after(backMs, () => process.whenRunning(give));
    };
    if (lost === 'request') return;
    network.after(thereMs, () => {
      if (refused !== undefined) {
        answer(() => reject(new KubernetesError(refused, `${doing}: refused`)));
        return;
      }
      try {
        const result = apply();
        answer(() => resolve(result));
      } catch (error) {
        answer(() => reject(error instanceof Error ? error : new Error(String(error))));
      }
    });
  });
}
