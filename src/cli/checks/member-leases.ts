import { KubernetesError } from '../../kubernetes/api/types.js';
import { createLeaseClient } from '../../kubernetes/lease.js';
import { createMemberLeases, type SeenMember } from '../../kubernetes/members/member-leases.js';
import { STATE_BUCKETS } from '../../kubernetes/state/state-key.js';
import { LEASE_NAME } from '../../service/own-objects.js';
import { permissionsBy } from '../../service/permissions.js';
import { type CheckResult, resultsOf } from './check-result.js';
import { CLUSTER_SUBJECT, type ClusterContext, REQUEST_MS } from './context.js';
import { orError } from './or-error.js';
import { fixOf, reviewPermissions } from './review-permissions.js';

const FIX = fixOf({ grantedBy: 'sharding.enabled' });

/** Checks the permissions on the Leases of members, whose names are unknown here, and reports the members. */
export async function checkMemberLeases(context: ClusterContext): Promise<readonly CheckResult[]> {
  const { transport, signal, own } = context;
  const { namespace } = own;
  const make = resultsOf('lease', CLUSTER_SUBJECT);
  const reviewed = await reviewPermissions(permissionsBy(['sharding.enabled']), [namespace], {
    transport,
    signal,
    make,
  });
  if (reviewed.some(({ status }) => status !== 'warning')) return reviewed;
  const access = { transport, namespace, name: LEASE_NAME, deadlineMs: REQUEST_MS };
  const members = await orError(() => createMemberLeases(access).list(signal));
  const leader = await orError(() => createLeaseClient(access).read(signal));
  if (members instanceof KubernetesError) return [make.failed(members.message, FIX)];
  if (leader instanceof KubernetesError) return [make.failed(leader.message, FIX)];
  const holder = leader?.spec.holderIdentity ?? '';
  return [
    make.ok(describeMembers(members, namespace)),
    ...(holder === ''
      ? []
      : [
          make.warning(
            `Lease ${namespace}/${LEASE_NAME} is held by ${holder}, a replica without sharding: the others scale nothing while it is renewed`,
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
