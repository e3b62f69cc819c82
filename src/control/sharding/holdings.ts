/**
 * Phase of a bucket that a member claims. `claimed`: the claim is not published or not confirmed yet; `loading`: the
 * member owns the bucket and reads its state; `serving`: its scalers are decided; `draining`: the last cycles finish,
 * then the claim is withdrawn.
 */
export type Phase = 'claimed' | 'loading' | 'serving' | 'draining';

interface Holding {
  phase: Phase;
  /** Number of the claim; null: not published yet. */
  number: number | null;
}

export interface HoldingsOptions {
  /** Reads the state of a bucket; never rejects. */
  readonly load: (bucket: number) => Promise<void>;
  /** Waits for the cycles of a bucket and stores its state; never rejects. */
  readonly drain: (bucket: number) => Promise<void>;
  readonly onServed: () => void;
  readonly onDrained: () => void;
}

export interface Holdings {
  /** Buckets to publish, in ascending order. */
  readonly claims: () => readonly number[];
  readonly hasNew: () => boolean;
  readonly has: (bucket: number) => boolean;
  readonly phaseOf: (bucket: number) => Phase | null;
  /** Returns why the scalers of the bucket must not be changed; null: they may. */
  readonly whyNoWrites: (bucket: number) => string | null;
  /** Number of the bucket's claim; 0: not claimed. */
  readonly numberOf: (bucket: number) => number;
  readonly claim: (bucket: number) => void;
  /** Assigns this number to claims that were published for the first time. */
  readonly published: (buckets: readonly number[], number: number) => void;
  /**
   * Confirms the published claims, and drops contested ones, which another member claims too. Returns the confirmed
   * buckets.
   */
  readonly confirm: (isContested: (bucket: number) => boolean) => readonly number[];
  /** Releases a bucket: immediately if it is only claimed, otherwise after its last cycle. */
  readonly giveUp: (bucket: number) => void;
  /** Drops all buckets immediately. Nothing may be written after that. */
  readonly clear: () => void;
}

export function createHoldings({ load, drain, onServed, onDrained }: HoldingsOptions): Holdings {
  const held = new Map<number, Holding>();

  const serveLoaded = async (bucket: number, holding: Holding): Promise<void> => {
    await load(bucket);
    if (held.get(bucket) !== holding || holding.phase !== 'loading') return;
    holding.phase = 'serving';
    onServed();
  };

  const withdraw = async (bucket: number, holding: Holding): Promise<void> => {
    await drain(bucket);
    if (held.get(bucket) !== holding) return;
    held.delete(bucket);
    onDrained();
  };

  return {
    claims: () => [...held.keys()].sort((a, b) => a - b),
    hasNew: () => [...held.values()].some(({ number }) => number === null),
    has: (bucket) => held.has(bucket),
    phaseOf: (bucket) => held.get(bucket)?.phase ?? null,
    whyNoWrites: (bucket) => {
      const phase = held.get(bucket)?.phase;
      if (phase === 'serving' || phase === 'draining') return null;
      return phase === undefined
        ? `another replica owns bucket ${bucket} or is taking it over`
        : `this replica has not taken over bucket ${bucket} yet`;
    },
    numberOf: (bucket) => held.get(bucket)?.number ?? 0,
    claim: (bucket) => {
      if (!held.has(bucket)) held.set(bucket, { phase: 'claimed', number: null });
    },
    published: (buckets, number) => {
      for (const bucket of buckets) {
        const holding = held.get(bucket);
        if (holding !== undefined) holding.number ??= number;
      }
    },
    confirm: (isContested) => {
      const confirmed: number[] = [];
      for (const [bucket, holding] of [...held]) {
        if (holding.phase !== 'claimed' || holding.number === null) continue;
        if (isContested(bucket)) {
          held.delete(bucket);
          continue;
        }
        holding.phase = 'loading';
        confirmed.push(bucket);
        void serveLoaded(bucket, holding);
      }
      return confirmed;
    },
    giveUp: (bucket) => {
      const holding = held.get(bucket);
      if (holding === undefined || holding.phase === 'draining') return;
      if (holding.phase === 'claimed') {
        held.delete(bucket);
        return;
      }
      const wasServed = holding.phase === 'serving';
      holding.phase = 'draining';
      if (wasServed) onServed();
      void withdraw(bucket, holding);
    },
    clear: () => {
      const wasServing = [...held.values()].some(({ phase }) => phase === 'serving');
      held.clear();
      if (wasServing) onServed();
    },
  };
}
