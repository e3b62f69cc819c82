import type { MemberLeases } from '../../kubernetes/members/member-leases.js';
import { createRefusals } from '../../kubernetes/requests/refusals.js';
import { KubernetesError } from '../../kubernetes/types.js';
import type { Clock } from '../../units/clock.js';
import { ElectionRefusedError } from '../election/election-refusal.js';

type Verb = 'create' | 'update';

/**
 * Wraps the client: a write that was forbidden for 15 s and 4 attempts, and never allowed, throws
 * `ElectionRefusedError`. A forbidden list is retried: a new replica waits, the others go on.
 */
export function withMemberRefusals(client: MemberLeases, clock: Clock): MemberLeases {
  const allowed = new Set<Verb>();
  const refusals = {
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
      else if (refusals[verb].note() && !allowed.has(verb))
        throw new ElectionRefusedError(refusalMessage(verb, client.name, error.message), { cause: error });
      throw error;
    }
  };
  return {
    ...client,
    create: (name, member, signal) => guard('create', () => client.create(name, member, signal)),
    update: (seen, member, signal) => guard('update', () => client.update(seen, member, signal)),
  };
}

function refusalMessage(verb: Verb, lease: string, refusal: string): string {
  const [namespace = ''] = lease.split('/');
  return (
    `sharding is not possible: verb ${verb} on leases (coordination.k8s.io) in namespace ${namespace} is not allowed. ` +
    'rbac.create: true and sharding.enabled: true of the chart create the permission; ' +
    `sharding.enabled: false in the service config elects one leader instead. (${refusal})`
  );
}
