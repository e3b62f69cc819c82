import type { LeaseClient } from '../../kubernetes/lease.js';
import { createRefusals, type Refusals } from '../../kubernetes/requests/retry.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import type { Clock } from '../../units/clock.js';

/** The service account lacks a permission for leader election, and did not receive it while the process waited. */
export class ElectionRefusedError extends Error {
  override name = 'ElectionRefusedError';
}

/**
 * Returns a function that sends a request. The function throws `ElectionRefusedError` if the verb was never allowed and
 * has been forbidden for 15 s and 4 attempts. `message` returns the text of the error, or null if the refusal is not
 * final.
 */
export function createRefusalGuard<Verb extends string>(
  clock: Clock,
  message: (verb: Verb, refusal: string) => string | null,
): <T>(verb: Verb, request: () => Promise<T>) => Promise<T> {
  const allowed = new Set<Verb>();
  const refusals = new Map<Verb, Refusals>();
  const refusalsOf = (verb: Verb): Refusals => {
    const known = refusals.get(verb) ?? createRefusals(clock);
    refusals.set(verb, known);
    return known;
  };
  return async (verb, request) => {
    try {
      const answer = await request();
      allowed.add(verb);
      return answer;
    } catch (error) {
      if (!(error instanceof KubernetesError)) throw error;
      if (error.kind === 'conflict') allowed.add(verb);
      if (error.kind !== 'forbidden') refusalsOf(verb).clear();
      else if (refusalsOf(verb).note() && !allowed.has(verb)) {
        const final = message(verb, error.message);
        if (final !== null) throw new ElectionRefusedError(final, { cause: error });
      }
      throw error;
    }
  };
}

type Verb = 'get' | 'create' | 'update';

/**
 * Wraps the client with a refusal guard. If the verb was ever allowed, or the process has been a follower, the guard
 * throws the original `KubernetesError`. The process then keeps running, because the permission may return.
 */
export function withRefusals(
  client: LeaseClient,
  { clock, wasFollower }: { readonly clock: Clock; readonly wasFollower: () => boolean },
): LeaseClient {
  const guard = createRefusalGuard<Verb>(clock, (verb, refusal) =>
    wasFollower() ? null : refusalMessage(verb, client.name, refusal),
  );
  return {
    name: client.name,
    read: (signal) => guard('get', () => client.read(signal)),
    create: (spec, signal) => guard('create', () => client.create(spec, signal)),
    update: (seen, spec, signal) => guard('update', () => client.update(seen, spec, signal)),
  };
}

function refusalMessage(verb: Verb, lease: string, refusal: string): string {
  const [namespace = '', name = ''] = lease.split('/');
  const missing =
    verb === 'create'
      ? `there is no Lease ${name} in namespace ${namespace}, and verb create on leases (coordination.k8s.io) is not allowed there`
      : `verb ${verb} on leases (coordination.k8s.io) named ${name} in namespace ${namespace} is not allowed`;
  const fix = 'Set the chart value rbac.create: true to grant the permission';
  const alternative =
    'or, if only one replica ever runs, set leaderElection.enabled: false in the service config';
  return `leader election is not possible: ${missing}. ${fix}; ${alternative}. (${refusal})`;
}
