/**
 * What a member does with a bucket that it claims. `claimed`: to be published and confirmed; `loading`: its own, state is
 * being read; `serving`: its scalers are decided; `draining`: cycles in flight end, then the claim is withdrawn.
 */
export type Phase = 'claimed' | 'loading' | 'serving' | 'draining';

interface Holding {
  phase: Phase;
  /** Of the claim; null: not published yet. */
  number: number | null;
}

export interface HoldingsOptions {
  /** Reads the state of a bucket; never rejects. */
  readonly load: (bucket: number) => Promise<void>;
  /** Waits for the cycles of a bucket and stores its state; never rejects. */
  readonly drain: (bucket: number) => Promise<void>;
  /** The buckets that are served have changed. */
  readonly onServed: () => void;
  /** A claim can be withdrawn. */
  readonly onDrained: () => void;
}

/** The buckets that this member claims, and their phases. */
export interface Holdings {
  /** Buckets to publish, in order. */
  readonly claims: () => readonly number[];
  /** Whether a claim is not published yet. */
  readonly hasNew: () => boolean;
  readonly has: (bucket: number) => boolean;
  readonly phaseOf: (bucket: number) => Phase | null;
  /** The number of the bucket's claim; 0: none. */
  readonly numberOf: (bucket: number) => number;
  readonly claim: (bucket: number) => void;
  /** New claims were published with this number. */
  readonly published: (buckets: readonly number[], number: number) => void;
  /** Nobody else claims the published claims, except the contested ones, which are dropped. Returns those confirmed. */
  readonly confirm: (isContested: (bucket: number) => boolean) => readonly number[];
  /** Gives up a bucket: at once if it is only claimed, otherwise after its cycles. */
  readonly giveUp: (bucket: number) => void;
  /** Forgets all buckets at once: nothing may be written any more. */
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
