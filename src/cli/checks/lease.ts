import { createLeaseClient, type SeenLease } from '../../kubernetes/lease.js';
import { KubernetesError } from '../../kubernetes/api/types.js';
import { checkMemberLeases } from './member-leases.js';
import { LEASE_NAME } from '../../service/own-objects.js';
import { permissionsBy } from '../../service/permissions.js';
import { type CheckResult, resultsOf } from './check-result.js';
import { CLUSTER_SUBJECT, type ClusterContext, REQUEST_MS } from './context.js';
import { orError } from './or-error.js';
import { fixOf, reviewPermissions } from './review-permissions.js';

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
  if (seen instanceof KubernetesError && seen.kind !== 'forbidden')
    return [make.failed(seen.message, `kubectl get lease ${LEASE_NAME} -n ${namespace}`)];
  // `create` is not needed for a Lease that exists.
  const needed = permissionsBy(['leaderElection.enabled']).filter(
    ({ verbs }) => seen === null || !verbs.includes('create'),
  );
  const denied = await reviewPermissions(needed, [namespace], { transport, signal, make });
  if (denied.length > 0) return denied;
  return [
    seen instanceof KubernetesError
      ? make.failed(seen.message, fixOf({ grantedBy: 'leaderElection.enabled' }))
      : make.ok(describe(seen, namespace)),
  ];
}

function describe(seen: SeenLease | null, namespace: string): string {
  const name = `Lease ${namespace}/${LEASE_NAME}`;
  if (seen === null) return `${name} does not exist yet`;
  const { holderIdentity, renewTime } = seen.spec;
  if (holderIdentity === '') return `${name} has no holder`;
  return `${name} is held by ${holderIdentity}${renewTime === null ? '' : `, renewed ${renewTime}`}`;
}
