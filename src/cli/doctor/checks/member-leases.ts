import { mayI, nameAccess } from '../../../kubernetes/access-review.js';
import { KubernetesError } from '../../../kubernetes/api/types.js';
import { createLeaseClient } from '../../../kubernetes/lease.js';
import { createMemberLeases, type SeenMember } from '../../../kubernetes/members/member-leases.js';
import { STATE_BUCKETS } from '../../../kubernetes/state/state-key.js';
import { LEASE_NAME } from '../../../service/own-objects.js';
import { type CheckResult, resultsOf } from '../report/check-result.js';
import { CLUSTER_SUBJECT, type ClusterContext, REQUEST_MS } from '../context/context.js';
import { orError } from '../context/or-error.js';

const FIX = 'chart values rbac.create: true and sharding.enabled: true';
const REQUIRED = ['create', 'get', 'list', 'update'] as const;

/** Checks the permissions on the Leases of members, whose names are unknown here, and reports the members. */
export async function checkMemberLeases(context: ClusterContext): Promise<readonly CheckResult[]> {
  const { transport, signal, own } = context;
  const { namespace } = own;
  const make = resultsOf('lease', CLUSTER_SUBJECT);
  const question = { group: 'coordination.k8s.io', resource: 'leases', subresource: '', namespace };
  const wanted = [...REQUIRED, 'delete'].map((verb) => ({ ...question, verb }));
  const allowed = await orError(() => Promise.all(wanted.map((one) => mayI(transport, one, signal))));
  if (allowed instanceof KubernetesError)
    return [make.skipped(`permissions cannot be reviewed: ${allowed.message}`)];
  const denied = wanted.filter((_, index) => allowed[index] === false);
  const missing = denied.filter(({ verb }) => verb !== 'delete').map(nameAccess);
  if (missing.length > 0) {
    const message = `the account may not ${missing.join(', ')}: with sharding, no replica can scale`;
    return [make.failed(message, FIX)];
  }
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
    ...(denied.length === 0
      ? []
      : [
          make.warning(
            `the account may not ${denied.map(nameAccess).join(', ')}: the Leases of former replicas remain`,
            FIX,
          ),
        ]),
  ];
}

function describeMembers(members: readonly SeenMember[], namespace: string): string {
  const holders = members.filter(({ spec }) => spec.holderIdentity !== '');
  const claimed = new Set(holders.flatMap(({ buckets }) => buckets)).size;
  const noun = holders.length === 1 ? 'replica claims' : 'replicas claim';
  return `in namespace ${namespace}, ${holders.length} ${noun} ${claimed} of ${STATE_BUCKETS} buckets`;
}
