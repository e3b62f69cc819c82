import { objectIn, objectsIn, textIn, textsIn, type JsonObject } from '../api/json.js';
import { LEASE_HEAD, readLease, withoutNulls, type LeaseSpec, type SeenLease } from '../lease.js';
import type { KubernetesRequest, Transport } from '../requests/transport.js';
import { KubernetesError } from '../api/types.js';
import { MEMBER_ANNOTATIONS, MEMBER_LABEL, readAddress, readBuckets, writeBuckets } from './member-claims.js';

export interface MemberLease {
  readonly spec: LeaseSpec;
  readonly buckets: readonly number[];
  /** URL of its HTTP server; null: none. */
  readonly address: string | null;
}

export interface SeenMember extends MemberLease {
  readonly name: string;
  /** Spec and annotations as JSON. A change shows that the member is alive. */
  readonly text: string;
  /** Keeps other labels and annotations in an update. */
  readonly object: JsonObject;
}

/** Client for the Leases of all members, one per member. Sends each request only once. Throws `KubernetesError`. */
export interface MemberLeases {
  /** `NAMESPACE/NAME` of the Lease of leader election, the prefix of the names of the members' Leases. */
  readonly name: string;
  /** Lists consistently: includes every Lease that was written before the call. */
  readonly list: (signal: AbortSignal) => Promise<readonly SeenMember[]>;
  /** Throws `conflict` if the Lease exists. */
  readonly create: (name: string, member: MemberLease, signal: AbortSignal) => Promise<SeenMember>;
  /** Throws `conflict` if the Lease has changed since `seen`. */
  readonly update: (seen: SeenMember, member: MemberLease, signal: AbortSignal) => Promise<SeenMember>;
  /** Deletes a Lease. Throws `conflict` if it has changed since `seen`. */
  readonly remove: (seen: SeenMember, signal: AbortSignal) => Promise<void>;
}

export interface MemberLeasesOptions {
  readonly transport: Transport;
  readonly namespace: string;
  /** Name of the Lease of leader election. */
  readonly name: string;
  /** Deadline of each write. A list has half of it, so a slow list leaves time for the next renewal. */
  readonly deadlineMs: number;
}

type Request = Pick<
  KubernetesRequest,
  'method' | 'path' | 'verb' | 'doing' | 'body' | 'query' | 'deadlineMs'
>;

export function createMemberLeases(options: MemberLeasesOptions): MemberLeases {
  const { transport, namespace, deadlineMs } = options;
  const collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  const placeOf = (name: string): string => `${collection}/${encodeURIComponent(name)}`;
  const send = (request: Request, signal: AbortSignal): Promise<JsonObject> =>
    transport.request({ ...request, lane: 'lease', resource: 'leases', signal });
  const write = async (request: Request, signal: AbortSignal): Promise<SeenMember> =>
    readMember(await send(request, signal), request.doing);
  return {
    name: `${namespace}/${options.name}`,
    list: async (signal) => {
      const doing = `listing the Leases of members in namespace ${namespace}`;
      // A list without resourceVersion and limit is consistent and complete.
      const query = { labelSelector: `${MEMBER_LABEL}=${options.name}` };
      const request = { method: 'GET', path: collection, verb: 'list', query, doing } as const;
      const answer = await send({ ...request, deadlineMs: deadlineMs / 2 }, signal);
      if (textIn(answer, 'kind')?.endsWith('List') !== true)
        throw new KubernetesError('bad_answer', `${doing}: the response is not a list`);
      // Adds kind and apiVersion, which items of a list do not have.
      return objectsIn(answer, 'items').map((item) => readMember({ ...item, ...LEASE_HEAD }, doing));
    },
    create: (name, member, signal) => {
      const doing = `creating Lease ${namespace}/${name}`;
      const labels = { [MEMBER_LABEL]: options.name };
      const body = bodyOf(member, { name, namespace, labels }, {});
      return write({ method: 'POST', path: collection, verb: 'create', doing, body, deadlineMs }, signal);
    },
    update: (seen, member, signal) => {
      const doing = `updating Lease ${namespace}/${seen.name}`;
      const metadata = { ...objectIn(seen.object, 'metadata') };
      // The server maintains managedFields, the longest part of the object.
      delete metadata['managedFields'];
      const body = bodyOf(member, metadata, objectIn(seen.object, 'spec') ?? {});
      return write(
        { method: 'PUT', path: placeOf(seen.name), verb: 'update', doing, body, deadlineMs },
        signal,
      );
    },
    remove: async (seen, signal) => {
      const doing = `deleting Lease ${namespace}/${seen.name}`;
      const metadata = objectIn(seen.object, 'metadata');
      const preconditions = {
        uid: textIn(metadata, 'uid'),
        resourceVersion: textIn(metadata, 'resourceVersion'),
      };
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions };
      const request = { method: 'DELETE', path: placeOf(seen.name), verb: 'delete', doing, body } as const;
      await send({ ...request, deadlineMs }, signal);
    },
  };
}

function bodyOf(
  { spec, buckets, address }: MemberLease,
  metadata: JsonObject,
  rawSpec: JsonObject,
): JsonObject {
  const annotations = {
    ...textsIn(metadata, 'annotations'),
    [MEMBER_ANNOTATIONS.buckets]: writeBuckets(buckets),
    ...(address === null ? {} : { [MEMBER_ANNOTATIONS.address]: address }),
  };
  return {
    ...LEASE_HEAD,
    metadata: { ...metadata, annotations },
    spec: { ...rawSpec, ...withoutNulls(spec) },
  };
}

function readMember(answer: JsonObject, doing: string): SeenMember {
  const { spec, rawSpec, object }: SeenLease = readLease(answer, doing);
  const metadata = objectIn(object, 'metadata');
  const annotations = textsIn(metadata, 'annotations');
  const buckets = annotations[MEMBER_ANNOTATIONS.buckets] ?? null;
  const address = annotations[MEMBER_ANNOTATIONS.address] ?? null;
  return {
    name: textIn(metadata, 'name') ?? '',
    spec,
    buckets: readBuckets(buckets),
    address: readAddress(address),
    text: JSON.stringify([rawSpec, buckets, address, textIn(metadata, 'uid')]),
    object,
  };
}
