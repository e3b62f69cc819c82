import type { MemberLeases } from '../../kubernetes/members/member-leases.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import type { Log } from '../../units/log.js';
import { findStale, type ObservedMembers } from './members.js';

/** Deletes Leases of former members, if there are any. Never throws `KubernetesError`. */
export async function removeStale(
  members: ObservedMembers,
  {
    client,
    log,
    own,
    nowMs,
  }: { readonly client: MemberLeases; readonly log: Log; readonly own: string; readonly nowMs: number },
  signal: AbortSignal,
): Promise<void> {
  for (const stale of findStale(members, own, nowMs)) {
    try {
      await client.remove(stale, signal);
    } catch (error) {
      // The delete permission is missing, or the member is back. The next list tries again.
      if (!(error instanceof KubernetesError)) throw error;
      log.debug('failed to delete the Lease of a former member', { lease: stale.name, error: error.message });
      return;
    }
  }
}
