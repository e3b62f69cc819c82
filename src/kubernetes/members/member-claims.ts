import { BlockList, isIP } from 'node:net';
import { STATE_BUCKETS } from '../state/state-key.js';

export const MEMBER_ANNOTATIONS = {
  buckets: 'promscaler.dev/buckets',
  address: 'promscaler.dev/address',
} as const;

/** Label of the Leases of all members. Its value is the name of the Lease of leader election. */
export const MEMBER_LABEL = 'promscaler.dev/member-of';

const ALL: readonly number[] = Array.from({ length: STATE_BUCKETS }, (_, bucket) => bucket);

/** Sixteen numbers have 37 characters. A stranger may write an annotation of 256 KiB. */
const MAX_CLAIMS_LENGTH = 100;

/** Returns a string such as `0,3,15`, in ascending order. */
export function writeBuckets(buckets: readonly number[]): string {
  return [...buckets].sort((a, b) => a - b).join(',');
}

/**
 * Parses the buckets in an annotation; empty if unset. An invalid annotation counts as a claim to all buckets: no other
 * member acquires a bucket that this member may own, and the member replaces the annotation at its next renewal.
 */
export function readBuckets(text: string | null): readonly number[] {
  if (text === null || text === '') return [];
  const parts = text.length > MAX_CLAIMS_LENGTH ? [''] : text.split(',');
  if (!parts.every((part) => /^\d{1,2}$/.test(part) && Number(part) < STATE_BUCKETS)) return ALL;
  return [...new Set(parts.map(Number))].sort((a, b) => a - b);
}

const MAX_ADDRESS_LENGTH = 100;

/**
 * Parses the URL of a member's HTTP server. Null if it is unset or not `http://IP:PORT`, because a host name could
 * resolve to any address.
 */
export function readAddress(text: string | null): string | null {
  if (text === null || text.length > MAX_ADDRESS_LENGTH) return null;
  return /^http:\/\/(?:[0-9.]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/.test(text) && URL.canParse(text) ? text : null;
}

/** Loopback, link-local (including the metadata services of clouds), unspecified and multicast addresses. */
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
 * Returns whether requests may be sent to the address of another replica: it has the port of this replica and a
 * possible IP of a pod. If this replica listens only on the loopback address, outside of a cluster, the other one must
 * do so, too.
 */
export function isPeerAddress(address: string, own: string | null): boolean {
  const { hostname, port } = new URL(address);
  const host = hostname.replace(/^\[|\]$/g, '');
  const ownUrl = own === null ? null : new URL(own);
  if (ownUrl?.hostname === '127.0.0.1') return host === '127.0.0.1';
  const family = isIP(host);
  // BlockList would compare an IPv4-mapped address with the IPv4 subnets only.
  if (family === 0 || host.startsWith('::ffff:') || REFUSED.check(host, family === 4 ? 'ipv4' : 'ipv6'))
    return false;
  return ownUrl === null || (port === ownUrl.port && hostname !== ownUrl.hostname);
}
