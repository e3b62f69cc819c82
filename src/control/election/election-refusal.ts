import type { LeaseClient } from '../../kubernetes/lease.js';
import { createRefusals } from '../../kubernetes/requests/refusals.js';
import { KubernetesError } from '../../kubernetes/types.js';
import type { Clock } from '../../units/clock.js';

/** The service account may not do what an election takes: a matter of configuration, not of waiting. */
export class ElectionRefusedError extends Error {
  override name = 'ElectionRefusedError';
}

type Verb = 'get' | 'create' | 'update';

/**
 * The same client, but a verb that has been forbidden for 15 s and 4 tries and was never allowed throws
 * `ElectionRefusedError` with a sentence for the user. A verb that was allowed before may be so again, and a process that
 * `hasStoodBy` need not end: both stay a `KubernetesError`.
 */
export function withRefusals(
  client: LeaseClient,
  { clock, hasStoodBy }: { readonly clock: Clock; readonly hasStoodBy: () => boolean },
): LeaseClient {
  const allowed = new Set<Verb>();
  const refusals = {
    get: createRefusals(clock),
    create: createRefusals(clock),
    update: createRefusals(clock),
  };
  const guard = async <T>(verb: Verb, request: () => Promise<T>): Promise<T> => {
    try {
      const answer = await request();
      allowed.add(verb);
      return answer;
    } catch (error) {
      if (!(error instanceof KubernetesError)) throw error;
      if (error.kind === 'conflict') allowed.add(verb);
      if (error.kind !== 'forbidden') refusals[verb].clear();
      else if (refusals[verb].note() && !allowed.has(verb) && !hasStoodBy())
        throw new ElectionRefusedError(sentence(verb, client.name, error.message), { cause: error });
      throw error;
    }
  };
  return {
    name: client.name,
    read: (signal) => guard('get', () => client.read(signal)),
    create: (spec, signal) => guard('create', () => client.create(spec, signal)),
    update: (seen, spec, signal) => guard('update', () => client.update(seen, spec, signal)),
  };
}

function sentence(verb: Verb, lease: string, refusal: string): string {
  const [namespace = '', name = ''] = lease.split('/');
  const missing =
    verb === 'create'
      ? `there is no Lease ${name} in namespace ${namespace}, and verb create on leases (coordination.k8s.io) is not allowed there`
      : `verb ${verb} on leases (coordination.k8s.io) named ${name} in namespace ${namespace} is not allowed`;
  const mended = 'rbac.create: true of the chart brings the Lease and the permission';
  const without =
    'leaderElection.enabled: false in the service config does without, where only one replica ever runs';
  return `leader election is not possible: ${missing}. ${mended}; ${without}. (${refusal})`;
}
