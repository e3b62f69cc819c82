import { objectIn, objectsIn, textIn } from './api/json.js';
import { KubernetesError } from './api/types.js';
import type { Transport } from './requests/transport.js';
import type { Clock } from '../units/clock.js';
import type { Log } from '../units/log.js';
import type { MemberLeases, SeenMember } from './member-leases.js';

interface ReleasePodsOptions {
  readonly transport: Transport;
  readonly namespace: string;
  /** The label selector of the pods of the release. */
  readonly selector: string;
  /** The name of the pod in which this process runs. */
  readonly ownPod: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly deadlineMs: number;
}

/**
 * Interval between two lists of pods. It is shorter than any lease duration: a process whose pod was deleted notices
 * the deletion before another process takes over.
 */
const REREAD_MS = 8000;
const FORBIDDEN_MS = 60_000;
const LIMIT = 500;

/** The IP of each pod, by name. Null: the list of pods failed, or was not read yet. */
type Pods = ReadonlyMap<string, string | null> | null;

/**
 * Wraps the client of member Leases. `list` omits Leases whose holder is not a pod of the release, and addresses
 * without the IP of the holder. It omits nothing if listing the pods failed, or if the selector has never matched the
 * pod of this process. After that pod is deleted, `list` omits its Lease, so that the process loses its buckets.
 * Source: reliability.md, W37.
 */
export function withReleasePods(client: MemberLeases, options: ReleasePodsOptions): MemberLeases {
  const { transport, namespace, selector, ownPod, clock, log, deadlineMs } = options;
  let pods: Pods = null;
  let nextMs = -Infinity;
  let wasSeen = false;
  let hasFailed = false;
  /** Names of the Leases whose holders are not in the last list of pods. They cause no further list. */
  let rejected: ReadonlySet<string> = new Set();

  const read = async (signal: AbortSignal): Promise<Pods> => {
    const answer = await transport.request({
      path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`,
      query: { labelSelector: selector, limit: String(LIMIT) },
      verb: 'list',
      doing: `listing the pods of the release in namespace ${namespace}`,
      lane: 'lease',
      resource: 'pods',
      deadlineMs,
      signal,
    });
    const found = objectsIn(answer, 'items').map((pod) => {
      const ip = textIn(objectIn(pod, 'status'), 'podIP');
      return [textIn(objectIn(pod, 'metadata'), 'name') ?? '', ip] as const;
    });
    return new Map(found);
  };

  const refresh = async (signal: AbortSignal): Promise<void> => {
    nextMs = clock.monotonicMs() + REREAD_MS;
    try {
      pods = await read(signal);
      hasFailed = false;
    } catch (error) {
      if (!(error instanceof KubernetesError)) throw error;
      pods = null;
      nextMs = clock.monotonicMs() + FORBIDDEN_MS;
      if (!hasFailed)
        log.warn('failed to list the pods of the release; their Leases are not checked', {
          error: error.message,
        });
      hasFailed = true;
    }
    wasSeen ||= pods?.has(ownPod) === true;
    rejected = new Set();
  };

  const isOfRelease = ({ spec }: SeenMember): boolean =>
    spec.holderIdentity === '' || pods?.has(podOf(spec.holderIdentity)) === true;

  return {
    ...client,
    list: async (signal) => {
      const listed = await client.list(signal);
      const isUnknown = (lease: SeenMember): boolean => !isOfRelease(lease) && !rejected.has(lease.name);
      if (clock.monotonicMs() >= nextMs || (pods !== null && listed.some(isUnknown))) await refresh(signal);
      rejected = new Set(listed.filter((lease) => !isOfRelease(lease)).map(({ name }) => name));
      if (pods === null || !wasSeen) return listed;
      return listed.filter(isOfRelease).map((lease) => {
        const ip = pods?.get(podOf(lease.spec.holderIdentity)) ?? null;
        return lease.address === null || hostOf(lease.address) === ip ? lease : { ...lease, address: null };
      });
    },
  };
}

/** Returns POD of an identity `POD_UUID`. */
function podOf(identity: string): string {
  return identity.slice(0, Math.max(0, identity.lastIndexOf('_')));
}

function hostOf(address: string): string {
  return new URL(address).hostname.replace(/^\[|\]$/g, '');
}
