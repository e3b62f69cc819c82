import { STATE_BUCKETS } from '../state/state-key.js';

/** The annotations of a member's Lease. */
export const MEMBER_ANNOTATIONS = {
  buckets: 'promscaler.dev/buckets',
  address: 'promscaler.dev/address',
} as const;

/** The label of the Leases of all members; its value is the name of the Lease of leader election. */
export const MEMBER_LABEL = 'promscaler.dev/member-of';

const ALL: readonly number[] = Array.from({ length: STATE_BUCKETS }, (_, bucket) => bucket);

/** Returns `0,3,15`, in order. */
export function writeBuckets(buckets: readonly number[]): string {
  return [...buckets].sort((a, b) => a - b).join(',');
}

/**
 * Returns the buckets of an annotation; none if it is unset. An invalid one claims all buckets: nobody takes over a
 * bucket that the member may own, and the member replaces the annotation with its next renewal.
 */
export function readBuckets(text: string | null): readonly number[] {
  if (text === null || text === '') return [];
  const parts = text.split(',');
  if (!parts.every((part) => /^\d{1,2}$/.test(part) && Number(part) < STATE_BUCKETS)) return ALL;
  return [...new Set(parts.map(Number))].sort((a, b) => a - b);
}

const MAX_ADDRESS_LENGTH = 100;

/** Returns the URL of a member's HTTP server; null if it is unset or not `http://IP:PORT`: a name could lead anywhere. */
export function readAddress(text: string | null): string | null {
  if (text === null || text.length > MAX_ADDRESS_LENGTH) return null;
  return /^http:\/\/(?:[0-9.]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/.test(text) ? text : null;
}
