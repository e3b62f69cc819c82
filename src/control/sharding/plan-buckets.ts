/** Claimed buckets by live member. */
export type Claims = ReadonlyMap<string, readonly number[]>;

/**
 * Returns the planned owner of each of `bucketCount` buckets. Each member owns floor or ceil of bucketCount / members
 * buckets. A bucket stays with the member that claims it unless that member has too many, so a member that leaves moves
 * only its own buckets, and a member that joins moves only its share. Buckets to move are chosen by rendezvous hashing,
 * so that all members compute the same plan from the same claims in any order. Members that are `resting` get no bucket,
 * whatever they claim. Without members the plan is empty.
 */
export function planBuckets(
  claims: Claims,
  bucketCount: number,
  resting: ReadonlySet<string> = new Set(),
): ReadonlyMap<number, string> {
  const members = [...claims.keys()].filter((member) => !resting.has(member)).sort();
  const plan = new Map<number, string>();
  if (members.length === 0) return plan;
  const kept = keptBuckets(members, { claims, bucketCount });
  const quotas = quotasOf(kept, bucketCount);
  for (const [member, buckets] of kept) {
    const best = [...buckets].sort((a, b) => scoreOf(member, b) - scoreOf(member, a) || a - b);
    for (const bucket of best.slice(0, quotas.get(member) ?? 0)) plan.set(bucket, member);
  }
  const loads = new Map(members.map((member) => [member, 0]));
  for (const member of plan.values()) loads.set(member, (loads.get(member) ?? 0) + 1);
  for (let bucket = 0; bucket < bucketCount; bucket += 1) {
    if (plan.has(bucket)) continue;
    const open = members.filter((member) => (loads.get(member) ?? 0) < (quotas.get(member) ?? 0));
    const member = highest(open, bucket);
    if (member === null) break;
    plan.set(bucket, member);
    loads.set(member, (loads.get(member) ?? 0) + 1);
  }
  return plan;
}

/** Returns the claimed buckets of each member. A bucket with two claims counts for only one member. */
function keptBuckets(
  members: readonly string[],
  { claims, bucketCount }: { readonly claims: Claims; readonly bucketCount: number },
): ReadonlyMap<string, readonly number[]> {
  const kept = new Map<string, number[]>(members.map((member) => [member, []]));
  for (let bucket = 0; bucket < bucketCount; bucket += 1) {
    const claimants = members.filter((member) => claims.get(member)?.includes(bucket));
    const owner = highest(claimants, bucket);
    if (owner !== null) kept.get(owner)?.push(bucket);
  }
  return kept;
}

/** Members with the most buckets get the larger share, so that nothing moves between two members with a full share. */
function quotasOf(
  kept: ReadonlyMap<string, readonly number[]>,
  bucketCount: number,
): ReadonlyMap<string, number> {
  const least = Math.floor(bucketCount / kept.size);
  const larger = bucketCount % kept.size;
  // Loads above the larger share count as equal, so the order is stable while members release their surplus.
  const loadOf = (buckets: readonly number[]): number => Math.min(buckets.length, least + 1);
  const ranked = [...kept].sort(([, a], [, b]) => loadOf(b) - loadOf(a));
  return new Map(ranked.map(([member], index) => [member, least + (index < larger ? 1 : 0)]));
}

function highest(members: readonly string[], bucket: number): string | null {
  let best: string | null = null;
  for (const member of members) {
    if (best === null || scoreOf(member, bucket) > scoreOf(best, bucket)) best = member;
  }
  return best;
}

/**
 * Returns a hash of member and bucket from 0 to 2^32-1: FNV-1a with the finalizer of MurmurHash3, which mixes the last
 * byte.
 */
function scoreOf(member: string, bucket: number): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(`${member}/${bucket}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
