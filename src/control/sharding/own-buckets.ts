import { createInFlight, type InFlight } from '../round-times.js';

/**
 * Phase of a bucket that a member claims.
 * - `claimed`: the claim is not published, or not confirmed yet.
 * - `loading`: the member owns the bucket and reads its state.
 * - `serving`: the member decides the scalers of the bucket.
 * - `draining`: the last cycles finish; then the member withdraws the claim.
 */
export type Phase = 'claimed' | 'loading' | 'serving' | 'draining';

interface Claim {
  phase: Phase;
  /** Number of the claim; null: the claim is not published yet. */
  number: number | null;
}

export interface OwnBucketsOptions {
  /** Reads the state of a bucket. Never rejects. */
  readonly load: (bucket: number) => Promise<void>;
  /** Waits until no cycle of the bucket is running, and stores its state. Never rejects. */
  readonly drain: (bucket: number) => Promise<void>;
  readonly onServed: () => void;
  readonly onDrained: () => void;
}

export interface OwnBuckets {
  /** Returns the buckets to publish, in ascending order. */
  readonly claims: () => readonly number[];
  readonly hasNew: () => boolean;
  readonly phaseOf: (bucket: number) => Phase | null;
  /** Returns why the scalers of the bucket must not be changed; null: they may be changed. */
  readonly whyNoWrites: (bucket: number) => string | null;
  /** Returns the number of the bucket's claim; 0: the bucket is not claimed. */
  readonly numberOf: (bucket: number) => number;
  readonly claim: (bucket: number) => void;
  /** Assigns `number` to those claims that were published for the first time. */
  readonly published: (buckets: readonly number[], number: number) => void;
  /**
   * Confirms the published claims. Drops the contested claims, which another member has, too. Returns the confirmed
   * buckets.
   */
  readonly confirm: (isContested: (bucket: number) => boolean) => readonly number[];
  /** Releases a bucket: immediately if it is only claimed, otherwise when its last cycle has ended. */
  readonly giveUp: (bucket: number) => void;
  /** Drops all buckets immediately. Nothing may be written after that. */
  readonly clear: () => void;
}

export function createOwnBuckets({ load, drain, onServed, onDrained }: OwnBucketsOptions): OwnBuckets {
  const claims = new Map<number, Claim>();

  const serveLoaded = async (bucket: number, claim: Claim): Promise<void> => {
    await load(bucket);
    if (claims.get(bucket) !== claim || claim.phase !== 'loading') return;
    claim.phase = 'serving';
    onServed();
  };

  const withdraw = async (bucket: number, claim: Claim): Promise<void> => {
    await drain(bucket);
    if (claims.get(bucket) !== claim) return;
    claims.delete(bucket);
    onDrained();
  };

  return {
    claims: () => [...claims.keys()].sort((a, b) => a - b),
    hasNew: () => [...claims.values()].some(({ number }) => number === null),
    phaseOf: (bucket) => claims.get(bucket)?.phase ?? null,
    whyNoWrites: (bucket) => {
      const phase = claims.get(bucket)?.phase;
      if (phase === 'serving' || phase === 'draining') return null;
      return phase === undefined
        ? `another replica owns bucket ${bucket}, or is taking over this bucket`
        : `this replica has not taken over bucket ${bucket} yet`;
    },
    numberOf: (bucket) => claims.get(bucket)?.number ?? 0,
    claim: (bucket) => {
      if (!claims.has(bucket)) claims.set(bucket, { phase: 'claimed', number: null });
    },
    published: (buckets, number) => {
      for (const bucket of buckets) {
        const claim = claims.get(bucket);
        if (claim !== undefined) claim.number ??= number;
      }
    },
    confirm: (isContested) => {
      const confirmed: number[] = [];
      for (const [bucket, claim] of [...claims]) {
        if (claim.phase !== 'claimed' || claim.number === null) continue;
        if (isContested(bucket)) {
          claims.delete(bucket);
          continue;
        }
        claim.phase = 'loading';
        confirmed.push(bucket);
        void serveLoaded(bucket, claim);
      }
      return confirmed;
    },
    giveUp: (bucket) => {
      const claim = claims.get(bucket);
      if (claim === undefined || claim.phase === 'draining') return;
      if (claim.phase === 'claimed') {
        claims.delete(bucket);
        return;
      }
      const wasServed = claim.phase === 'serving';
      claim.phase = 'draining';
      if (wasServed) onServed();
      void withdraw(bucket, claim);
    },
    clear: () => {
      const wasServing = [...claims.values()].some(({ phase }) => phase === 'serving');
      claims.clear();
      if (wasServing) onServed();
    },
  };
}

/** Counts the cycles in flight of each bucket, because a bucket may be released only after its last cycle. */
export interface BusyBuckets {
  readonly track: <T>(bucket: number, work: () => Promise<T>) => Promise<T>;
  readonly untilIdle: (bucket: number) => Promise<void>;
  readonly untilAllIdle: () => Promise<void>;
  readonly isIdle: () => boolean;
}

export function createBusyBuckets(): BusyBuckets {
  const all = createInFlight();
  const byBucket = new Map<number, InFlight>();
  return {
    track: async (bucket, work) => {
      const own = byBucket.get(bucket) ?? createInFlight();
      byBucket.set(bucket, own);
      all.begin();
      own.begin();
      try {
        return await work();
      } finally {
        own.end();
        all.end();
      }
    },
    untilIdle: (bucket) => byBucket.get(bucket)?.untilNone() ?? Promise.resolve(),
    untilAllIdle: all.untilNone,
    isIdle: all.isNone,
  };
}
