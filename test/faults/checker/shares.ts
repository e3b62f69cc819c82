import { formatTime } from '../simulation/faults.js';
import type { ApiRecord } from '../simulation/log.js';
import type { History, Write } from './history.js';
import { holderOf, leaseWrites } from './leadership.js';
import { describeWrite, type Found, type Invariant } from './violation.js';

/** A spell in which the server has a claim of a process on a bucket. */
interface Claim {
  readonly process: string;
  readonly bucket: number;
  readonly fromMs: number;
  /** Infinite where it was never taken back. */
  untilMs: number;
  /** By the Lease of leader election, which claims all buckets. */
  readonly isLeader: boolean;
  /**
   * `leaseTransitions` when the claim began. A leader that lost its term and leads again has a larger one, although its
   * Lease never had another holder.
   */
  readonly term: number;
}

const ANNOTATION = 'promscaler.dev/buckets';
const BUCKETS = 16;
const ALL = Array.from({ length: BUCKETS }, (_, bucket) => bucket);
const LEADER_LEASE = 'promscaler';
/** A member sees a new leader with its next read; a slow API server delays it, and what is in flight ends first. */
const HAND_OVER_MS = 15_000;

interface LeaseBody {
  readonly metadata?: { readonly name?: string; readonly annotations?: Record<string, string> };
  readonly spec?: { readonly leaseTransitions?: number };
}

function isLeaderLease({ body }: ApiRecord): boolean {
  return (body as LeaseBody).metadata?.name === LEADER_LEASE;
}

function bucketsOf(record: ApiRecord): readonly number[] {
  if (isLeaderLease(record)) return ALL;
  const { metadata } = record.body as LeaseBody;
  const text = metadata?.annotations?.[ANNOTATION] ?? '';
  return text === '' ? [] : text.split(',').map(Number);
}

/** The claims of all processes as the server had them, in the order of their begin. */
function claimsOf(history: History): readonly Claim[] {
  const claims: Claim[] = [];
  const open = new Map<string, Claim>();
  const writes = [...leaseWrites(history)].sort((a, b) => timeOf(a) - timeOf(b));
  for (const record of writes) {
    const { process } = record;
    const claimed = holderOf(record) === '' ? [] : bucketsOf(record);
    const isLeader = isLeaderLease(record);
    const term = (record.body as LeaseBody).spec?.leaseTransitions ?? 0;
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      const key = `${process}/${bucket}`;
      const known = open.get(key);
      const isClaimed = claimed.includes(bucket);
      if (known !== undefined && (!isClaimed || (isLeader && known.term !== term))) {
        known.untilMs = timeOf(record);
        open.delete(key);
      }
      if (isClaimed && !open.has(key)) {
        const claim = { process, bucket, fromMs: timeOf(record), untilMs: Infinity, isLeader, term };
        open.set(key, claim);
        claims.push(claim);
      }
    }
  }
  return claims;
}

function timeOf({ written }: ApiRecord): number {
  return written?.atMs ?? 0;
}

/** FNV-1a of the name, as the contract has it. */
function bucketOf(scaler: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(scaler)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0) % BUCKETS;
}

interface Claimed {
  readonly write: Write;
  /** The claim by which it was sent; undefined: there was none. */
  readonly claim: Claim | undefined;
}

function claimedWrites(history: History): readonly Claimed[] {
  const claims = claimsOf(history);
  return history.writes.map((write) => {
    const { sentMs } = write.record;
    const bucket = bucketOf(write.scaler);
    const claim = claims.findLast(
      (one) =>
        one.process === write.process &&
        one.bucket === bucket &&
        one.fromMs <= sentMs &&
        one.untilMs >= sentMs,
    );
    return { write, claim };
  });
}

/** Until then, a write by an earlier claim is accepted. */
function toleratedUntilMs({ fromMs, isLeader }: Claim): number {
  return isLeader ? fromMs + HAND_OVER_MS : fromMs;
}

const onlyClaimed: Invariant = {
  id: 'I31',
  text: 'a process writes replicas only while the server has its claim to the bucket of the scaler',
  check: (history) =>
    history.isSharded
      ? claimedWrites(history).flatMap(({ write, claim }): readonly Found[] => {
          if (claim !== undefined) return [];
          const message = `${describeWrite(write)} without a claim on its bucket`;
          return [{ atMs: write.atMs, message, scaler: write.scaler, process: write.process }];
        })
      : [],
};

const oneOwner: Invariant = {
  id: 'I32',
  text: 'after a write under a later claim to a bucket, no process writes under an earlier claim',
  check: (history) => {
    if (!history.isSharded) return [];
    const newest = new Map<number, Claimed>();
    const inOrder = [...claimedWrites(history)].sort((a, b) => a.write.record.sentMs - b.write.record.sentMs);
    return inOrder.flatMap((one): readonly Found[] => {
      const { write, claim } = one;
      if (claim === undefined) return [];
      const last = newest.get(claim.bucket);
      if (last?.claim === undefined || last.claim.fromMs <= claim.fromMs) {
        newest.set(claim.bucket, one);
        return [];
      }
      if (write.record.sentMs <= toleratedUntilMs(last.claim)) return [];
      const message = `${describeWrite(write)} by a claim of ${formatTime(claim.fromMs)}, after ${describeWrite(last.write)} by one of ${formatTime(last.claim.fromMs)}`;
      return [{ atMs: write.atMs, message, scaler: write.scaler, process: write.process }];
    });
  },
};

/** A suspended process reports its running cycle when it is resumed. */
function wasStopped(history: History, process: string, atMs: number): boolean {
  const replica = history.processes.find(({ name }) => name === process)?.replica;
  return history.faults.some(
    ({ kind, what, startMs, endMs, ...fault }) =>
      kind === 'cluster' &&
      (what.mode === 'stopped' || what.mode === 'suspended') &&
      'replica' in fault &&
      fault.replica === replica &&
      startMs <= atMs &&
      endMs + STOPPED_MS >= atMs,
  );
}

const STOPPED_MS = 30_000;
const IN_FLIGHT_MS = 1000;

const inTurn: Invariant = {
  id: 'I33',
  text: 'after a decision under a later claim to a bucket, no process decides under an earlier claim',
  check: (history) => {
    if (!history.isSharded) return [];
    const claims = claimsOf(history);
    return history.targets.flatMap(({ scaler }): readonly Found[] => {
      const bucket = bucketOf(scaler);
      const decisions = [...history.byProcess.values()]
        .flatMap((records) => records.decisions.get(scaler) ?? [])
        .sort((a, b) => a.atMs - b.atMs);
      let newest: { readonly claim: Claim; readonly atMs: number } | null = null;
      for (const { process, atMs } of decisions) {
        const claim = claims.findLast(
          (one) => one.process === process && one.bucket === bucket && one.fromMs <= atMs,
        );
        if (claim === undefined) continue;
        if (newest === null || newest.claim.fromMs < claim.fromMs) newest = { claim, atMs };
        const isLate = claim.fromMs < newest.claim.fromMs && atMs > newest.atMs + IN_FLIGHT_MS;
        if (atMs <= toleratedUntilMs(newest.claim)) continue;
        if (!isLate || wasStopped(history, process, atMs)) continue;
        const message = `${process} decided ${scaler} at ${formatTime(atMs)} by a claim of ${formatTime(claim.fromMs)}, after ${newest.claim.process} by one of ${formatTime(newest.claim.fromMs)}`;
        return [{ atMs, message, scaler, process }];
      }
      return [];
    });
  },
};

export const SHARE_INVARIANTS: readonly Invariant[] = [onlyClaimed, oneOwner, inTurn];
