import { mayI, nameAccess } from '../../../kubernetes/access-review.js';
import { createLeaseClient, type SeenLease } from '../../../kubernetes/lease.js';
import { KubernetesError } from '../../../kubernetes/types.js';
import { LEASE_NAME } from '../../running/own-objects.js';
import { type Finding, findingsOf } from '../finding.js';
import { CLUSTER_SUBJECT, type ClusterInquiry, REQUEST_MS } from '../inquiry.js';
import { orError } from '../or-error.js';

const MEND =
  'chart values rbac.create: true and leaderElection.enabled: true; where only one process ever runs, leaderElection.enabled: false does without';

/** Whether the service can take its Lease, where it elects a leader: without it, it ends at its start. */
export async function checkLease(inquiry: ClusterInquiry): Promise<readonly Finding[]> {
  const { transport, signal, own } = inquiry;
  const { namespace, electsLeader } = own;
  if (!electsLeader) return [];
  const make = findingsOf('lease', CLUSTER_SUBJECT);
  const client = createLeaseClient({ transport, namespace, name: LEASE_NAME, deadlineMs: REQUEST_MS });
  const seen = await orError(() => client.read(signal));
  if (seen instanceof KubernetesError) return [make.failed(seen.message, mendOf(seen, namespace))];
  const question = { group: 'coordination.k8s.io', resource: 'leases', subresource: '', namespace };
  const named = { ...question, verb: 'update', name: LEASE_NAME };
  // The name of an object that is yet to be made is no part of what RBAC grants.
  const wanted = seen === null ? [{ ...question, verb: 'create' }, named] : [named];
  const allowed = await orError(() => Promise.all(wanted.map((one) => mayI(transport, one, signal))));
  if (allowed instanceof KubernetesError)
    return [make.skipped(`permissions cannot be asked for: ${allowed.message}`)];
  const denied = wanted.filter((_, index) => allowed[index] === false);
  if (denied.length === 0) return [make.ok(describe(seen, namespace))];
  const what = denied.map(nameAccess).join(', ');
  return [make.failed(`this account may not ${what}: no replica can lead, and nothing is scaled`, MEND)];
}

function mendOf({ kind }: KubernetesError, namespace: string): string {
  return kind === 'forbidden' ? MEND : `kubectl get lease ${LEASE_NAME} -n ${namespace}`;
}

function describe(seen: SeenLease | null, namespace: string): string {
  const name = `Lease ${namespace}/${LEASE_NAME}`;
  if (seen === null) return `${name} is yet to be made`;
  const { holderIdentity, renewTime } = seen.spec;
  if (holderIdentity === '') return `nobody holds ${name}`;
  return `${name} is held by ${holderIdentity}${renewTime === null ? '' : `, renewed ${renewTime}`}`;
}
