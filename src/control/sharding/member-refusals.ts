import type { MemberLeases } from '../../kubernetes/members/member-leases.js';
import type { Clock } from '../../units/clock.js';
import { createRefusalGuard } from '../election/election-refusal.js';

type Verb = 'create' | 'update';

/**
 * Wraps the client: a write that was forbidden for 15 s and 4 attempts, and never allowed, throws
 * `ElectionRefusedError`. A forbidden list is retried: a new replica waits, and other replicas continue.
 */
export function withMemberRefusals(client: MemberLeases, clock: Clock): MemberLeases {
  const guard = createRefusalGuard<Verb>(clock, (verb, refusal) =>
    refusalMessage(verb, client.name, refusal),
  );
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
