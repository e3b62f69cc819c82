import { BlockList, isIP } from 'node:net';
import { objectIn, objectsIn, textIn, textsIn, type JsonObject } from './api/json.js';
import {
  LEASE_HEAD,
  type LeaseClientOptions,
  leasesPath,
  type LeaseSpec,
  readLease,
  type SeenLease,
  sentMetadata,
  withoutNulls,
} from './lease.js';
import type { KubernetesRequest } from './requests/transport.js';
import { KubernetesError } from './api/types.js';
import { ALL_BUCKETS, STATE_BUCKETS } from './state/state-key.js';

export interface MemberLease {
  readonly spec: LeaseSpec;
  readonly buckets: readonly number[];
  /** The URL of the member's HTTP server; null: it has none. */
  readonly address: string | null;
}

export interface SeenMember extends MemberLease {
  readonly name: string;
  /** The spec and the annotations as JSON. If they change, the member is alive. */
  readonly text: string;
  /** The whole object, so that an update keeps other labels and annotations. */
  readonly object: JsonObject;
}

/**
 * Reads and writes the Leases of all members; each member has one. Each request is sent only once and throws
 * `KubernetesError`.
 */
export interface MemberLeases {
  /** `NAMESPACE/NAME` of the Lease of leader election. The names of the members' Leases begin with it. */
  readonly name: string;
  /** Lists all Leases, including every one that was written before the call. */
  readonly list: (signal: AbortSignal) => Promise<readonly SeenMember[]>;
  /** Throws `conflict` if the Lease already exists. */
  readonly create: (name: string, member: MemberLease, signal: AbortSignal) => Promise<SeenMember>;
  /** Throws `conflict` if the Lease has changed since `seen`. */
  readonly update: (seen: SeenMember, member: MemberLease, signal: AbortSignal) => Promise<SeenMember>;
  /** Deletes a Lease. Throws `conflict` if the Lease has changed since `seen`. */
  readonly remove: (seen: SeenMember, signal: AbortSignal) => Promise<void>;
}

type Request = Pick<KubernetesRequest, 'path' | 'verb' | 'doing' | 'body' | 'query' | 'deadlineMs'>;

/**
 * `name`: the leader election Lease. `deadlineMs`: the deadline of a write. A list gets half of it, so that a slow list
 * leaves time for the next renewal.
 */
export function createMemberLeases(options: LeaseClientOptions): MemberLeases {
  const { transport, namespace, deadlineMs } = options;
  const collection = leasesPath(namespace);
  const placeOf = (name: string): string => `${collection}/${encodeURIComponent(name)}`;
  const send = (request: Request, signal: AbortSignal): Promise<JsonObject> =>
    transport.request({ ...request, lane: 'lease', resource: 'leases', signal });
  const write = async (request: Request, signal: AbortSignal): Promise<SeenMember> =>
    readMember(await send(request, signal), request.doing);
  return {
    name: `${namespace}/${options.name}`,
    list: async (signal) => {
      const doing = `listing the Leases of members in namespace ${namespace}`;
      // Without resourceVersion and limit, a list is consistent and complete.
      const query = { labelSelector: `${MEMBER_LABEL}=${options.name}` };
      const request = { path: collection, verb: 'list', query, doing } as const;
      const answer = await send({ ...request, deadlineMs: deadlineMs / 2 }, signal);
      if (textIn(answer, 'kind')?.endsWith('List') !== true)
        throw new KubernetesError('bad_answer', `${doing}: the response is not a list`);
      // The items of a list have no kind and no apiVersion.
      return objectsIn(answer, 'items').map((item) => readMember({ ...item, ...LEASE_HEAD }, doing));
    },
    create: (name, member, signal) => {
      const doing = `creating Lease ${namespace}/${name}`;
      const labels = { [MEMBER_LABEL]: options.name };
      const body = bodyOf(member, { name, namespace, labels }, {});
      return write({ path: collection, verb: 'create', doing, body, deadlineMs }, signal);
    },
    update: (seen, member, signal) => {
      const doing = `updating Lease ${namespace}/${seen.name}`;
      const body = bodyOf(member, sentMetadata(seen.object), objectIn(seen.object, 'spec') ?? {});
      return write({ path: placeOf(seen.name), verb: 'update', doing, body, deadlineMs }, signal);
    },
    remove: async (seen, signal) => {
      const doing = `deleting Lease ${namespace}/${seen.name}`;
      const metadata = objectIn(seen.object, 'metadata');
      const preconditions = {
        uid: textIn(metadata, 'uid'),
        resourceVersion: textIn(metadata, 'resourceVersion'),
      };
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions };
      const request = { path: placeOf(seen.name), verb: 'delete', doing, body } as const;
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

const MEMBER_ANNOTATIONS = {
  buckets: 'promscaler.dev/buckets',
  address: 'promscaler.dev/address',
} as const;

/** The label of the Leases of all members. Its value is the name of the Lease of leader election. */
const MEMBER_LABEL = 'promscaler.dev/member-of';

/** Limits the annotation that is parsed. Sixteen numbers have 37 characters, but any client could write 256 KiB. */
const MAX_CLAIMS_LENGTH = 100;

/** Returns buckets as an annotation, in ascending order: `0,3,15`. */
export function writeBuckets(buckets: readonly number[]): string {
  return [...buckets].sort((a, b) => a - b).join(',');
}

/**
 * Returns the buckets in an annotation; empty if it is unset. An invalid annotation counts as a claim to all buckets,
 * so that no other member acquires a bucket that this member may own. This member replaces the annotation at its next
 * renewal.
 */
export function readBuckets(text: string | null): readonly number[] {
  if (text === null || text === '') return [];
  const parts = text.length > MAX_CLAIMS_LENGTH ? [''] : text.split(',');
  if (!parts.every((part) => /^\d{1,2}$/.test(part) && Number(part) < STATE_BUCKETS)) return ALL_BUCKETS;
  return [...new Set(parts.map(Number))].sort((a, b) => a - b);
}

const MAX_ADDRESS_LENGTH = 100;

/**
 * Returns the URL of a member's HTTP server. Null: it is unset, or not `http://IP:PORT`. A host name is not accepted,
 * because it could resolve to any address.
 */
export function readAddress(text: string | null): string | null {
  if (text === null || text.length > MAX_ADDRESS_LENGTH) return null;
  return /^http:\/\/(?:[0-9.]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/.test(text) && URL.canParse(text) ? text : null;
}

/**
 * Addresses that no pod has: loopback, link-local (which includes the metadata services of clouds), unspecified and
 * multicast.
 */
const REFUSED = new BlockList();
for (const [net, bits] of [
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['0.0.0.0', 8],
  ['224.0.0.0', 3],
] as const)
  REFUSED.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of [
  ['::', 127],
  ['fe80::', 10],
  ['ff00::', 8],
  ['fd00:ec2::', 32],
] as const)
  REFUSED.addSubnet(net, bits, 'ipv6');

/**
 * Returns whether requests may be sent to the address of another replica. The address must have the port of this
 * replica and an IP that a pod can have. If this replica listens only on 127.0.0.1, outside of a cluster, the address
 * must have this IP instead.
 */
export function isPeerAddress(address: string, own: string | null): boolean {
  const { hostname, port } = new URL(address);
  const host = hostname.replace(/^\[|\]$/g, '');
  const ownUrl = own === null ? null : new URL(own);
  if (ownUrl?.hostname === '127.0.0.1') return host === '127.0.0.1';
  const family = isIP(host);
  // An IPv4-mapped address is rejected here, because BlockList compares it only with the IPv4 subnets.
  if (family === 0 || host.startsWith('::ffff:') || REFUSED.check(host, family === 4 ? 'ipv4' : 'ipv6'))
    return false;
  return ownUrl === null || (port === ownUrl.port && hostname !== ownUrl.hostname);
}
