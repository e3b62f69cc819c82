import { mayI, nameAccess } from '../../../kubernetes/access-review.js';
import { createLeaseClient, type SeenLease } from '../../../kubernetes/lease.js';
import { KubernetesError } from '../../../kubernetes/api/types.js';
import { checkMemberLeases } from './member-leases.js';
import { LEASE_NAME } from '../../../service/own-objects.js';
import { type CheckResult, resultsOf } from '../report/check-result.js';
import { CLUSTER_SUBJECT, type ClusterContext, REQUEST_MS } from '../context/context.js';
import { orError } from '../context/or-error.js';

const FIX =
  'chart values rbac.create: true and leaderElection.enabled: true; with a single replica, leaderElection.enabled: false';

/**
 * Checks that the service can acquire its Lease, or with sharding the Leases of its replicas. Without this permission
 * the service exits at startup.
 */
export async function checkLease(context: ClusterContext): Promise<readonly CheckResult[]> {
  const { transport, signal, own } = context;
  const { namespace, electsLeader } = own;
  if (!electsLeader) return [];
  if (context.config.sharding.enabled) return checkMemberLeases(context);
  const make = resultsOf('lease', CLUSTER_SUBJECT);
  const client = createLeaseClient({ transport, namespace, name: LEASE_NAME, deadlineMs: REQUEST_MS });
  const seen = await orError(() => client.read(signal));
  if (seen instanceof KubernetesError) return [make.failed(seen.message, fixFor(seen, namespace))];
  const question = { group: 'coordination.k8s.io', resource: 'leases', subresource: '', namespace };
  const named = { ...question, verb: 'update', name: LEASE_NAME };
  // RBAC cannot restrict `create` by resource name.
  const wanted = seen === null ? [{ ...question, verb: 'create' }, named] : [named];
  const allowed = await orError(() => Promise.all(wanted.map((one) => mayI(transport, one, signal))));
  if (allowed instanceof KubernetesError)
    return [make.skipped(`permissions cannot be reviewed: ${allowed.message}`)];
  const denied = wanted.filter((_, index) => allowed[index] === false);
  if (denied.length === 0) return [make.ok(describe(seen, namespace))];
  const what = denied.map(nameAccess).join(', ');
  return [
    make.failed(`the account may not ${what}: no replica can become leader, and nothing is scaled`, FIX),
  ];
}

function fixFor({ kind }: KubernetesError, namespace: string): string {
  return kind === 'forbidden' ? FIX : `kubectl get lease ${LEASE_NAME} -n ${namespace}`;
}

function describe(seen: SeenLease | null, namespace: string): string {
  const name = `Lease ${namespace}/${LEASE_NAME}`;
  if (seen === null) return `${name} does not exist yet`;
  const { holderIdentity, renewTime } = seen.spec;
  if (holderIdentity === '') return `${name} has no holder`;
  return `${name} is held by ${holderIdentity}${renewTime === null ? '' : `, renewed ${renewTime}`}`;
}
