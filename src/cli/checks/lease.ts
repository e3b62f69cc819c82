import { KubernetesError, orError } from '../../kubernetes/api/types.js';
import { createLeaseClient, type SeenLease } from '../../kubernetes/lease.js';
import { createMemberLeases, type SeenMember } from '../../kubernetes/member-leases.js';
import { STATE_BUCKETS } from '../../kubernetes/state/state-key.js';
import { LEASE_NAME } from '../../service/own-objects.js';
import { permissionsBy } from '../../service/permissions.js';
import type { CheckResults, Checked } from './check-result.js';
import { type ClusterContext, REQUEST_MS } from './context.js';
import { fixOf, reviewPermissions } from './permissions.js';

/**
 * Checks that the service can acquire its Lease (with sharding: the Leases of its replicas). Without the permission,
 * the service exits when it starts.
 */
export async function checkLease(context: Checked<ClusterContext>): Promise<CheckResults> {
  const { transport, signal, own, make } = context;
  const { namespace, electsLeader } = own;
  if (!electsLeader) return [];
  if (context.config.sharding.enabled) return checkMemberLeases(context);
  const client = createLeaseClient({ transport, namespace, name: LEASE_NAME, deadlineMs: REQUEST_MS });
  const seen = await orError(() => client.read(signal));
  if (seen instanceof KubernetesError && seen.kind !== 'forbidden')
    return make.failed(seen.message, `kubectl get lease ${LEASE_NAME} -n ${namespace}`);
  // `create` is only needed if the Lease does not exist yet.
  const needed = permissionsBy(['leaderElection.enabled']).filter(
    ({ verbs }) => seen === null || !verbs.includes('create'),
  );
  const denied = await reviewPermissions(needed, [namespace], context);
  if (denied.length > 0) return denied;
  return seen instanceof KubernetesError
    ? make.failed(seen.message, fixOf({ grantedBy: 'leaderElection.enabled' }))
    : make.ok(describe(seen, namespace));
}

function describe(seen: SeenLease | null, namespace: string): string {
  const name = `Lease ${namespace}/${LEASE_NAME}`;
  if (seen === null) return `${name} does not exist yet`;
  const { holderIdentity, renewTime } = seen.spec;
  if (holderIdentity === '') return `${name} has no holder`;
  return `${name} is held by ${holderIdentity}${renewTime === null ? '' : `, renewed ${renewTime}`}`;
}

const FIX = fixOf({ grantedBy: 'sharding.enabled' });

/** Checks the permissions on the Leases of replicas, whose names are not known here, and lists the replicas. */
async function checkMemberLeases(context: Checked<ClusterContext>): Promise<CheckResults> {
  const { transport, signal, own, make } = context;
  const { namespace } = own;
  const reviewed = await reviewPermissions(permissionsBy(['sharding.enabled']), [namespace], context);
  if (reviewed.some(({ status }) => status !== 'warning')) return reviewed;
  const access = { transport, namespace, name: LEASE_NAME, deadlineMs: REQUEST_MS };
  const members = await orError(() => createMemberLeases(access).list(signal));
  const leader = await orError(() => createLeaseClient(access).read(signal));
  if (members instanceof KubernetesError) return make.failed(members.message, FIX);
  if (leader instanceof KubernetesError) return make.failed(leader.message, FIX);
  const holder = leader?.spec.holderIdentity ?? '';
  return [
    make.ok(describeMembers(members, namespace)),
    ...(holder === ''
      ? []
      : [
          make.warning(
            `Lease ${namespace}/${LEASE_NAME} is held by ${holder}, a replica without sharding: while this replica renews the Lease, the other replicas scale nothing`,
            `kubectl get lease ${LEASE_NAME} -n ${namespace}; finish the rolling update`,
          ),
        ]),
    ...reviewed,
  ];
}

function describeMembers(members: readonly SeenMember[], namespace: string): string {
  const holders = members.filter(({ spec }) => spec.holderIdentity !== '');
  const claimed = new Set(holders.flatMap(({ buckets }) => buckets)).size;
  const noun = holders.length === 1 ? 'replica claims' : 'replicas claim';
  return `in namespace ${namespace}, ${holders.length} ${noun} ${claimed} of ${STATE_BUCKETS} buckets`;
}
