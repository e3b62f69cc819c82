import type { Clock } from '../../units/clock.js';
import type { BucketWrite, PutResult } from './choose-writes.js';

export interface QueuedWrite extends BucketWrite {
  readonly done: (result: PutResult) => void;
}

/** Combines the writes to one ConfigMap into batches, one batch at a time. */
export interface WriteQueue {
  /** Writes in one batch with the other writes of this tick or, while a batch is in progress, in the next batch. */
  readonly put: (write: BucketWrite) => Promise<PutResult>;
  /** Writes with the next `put`, or after 5 s. A later call for the same key replaces the write. */
  readonly putLater: (write: BucketWrite) => void;
  readonly flush: () => Promise<void>;
}

const LATER_MS = 5000;

/**
 * `writeBatch` returns a result for each write. It rejects only after an internal error, which is passed to `onFault`.
 */
export function createWriteQueue(
  clock: Clock,
  {
    writeBatch,
    onFault,
  }: {
    readonly writeBatch: (batch: readonly QueuedWrite[]) => Promise<void>;
    readonly onFault: (error: unknown) => void;
  },
): WriteQueue {
  let waiting: QueuedWrite[] = [];
  let later = new Map<string, BucketWrite>();
  let cancelLater: (() => void) | null = null;
  let writing: Promise<void> | null = null;

  const takeBatch = (): readonly QueuedWrite[] => {
    const urgent = new Set(waiting.map(({ key }) => key));
    const done = (): void => undefined;
    const joining = [...later.values()].filter(({ key }) => !urgent.has(key));
    const batch = [...waiting, ...joining.map((write) => ({ ...write, done }))];
    waiting = [];
    later = new Map();
    cancelLater?.();
    cancelLater = null;
    return batch;
  };

  const run = async (): Promise<void> => {
    try {
      do {
        // Waits for the other writes of this tick, which join the batch.
        await Promise.resolve();
        await writeBatch(takeBatch());
      } while (waiting.length > 0);
    } finally {
      // Runs in the same tick as the check of `waiting`: a write added in between would wait forever.
      writing = null;
    }
  };

  const start = (): Promise<void> => (writing ??= run());

  return {
    put: (write) =>
      new Promise((done, reject) => {
        waiting.push({ ...write, done });
        start().catch(reject);
      }),
    putLater: (write) => {
      later.delete(write.key);
      if (write.text === write.base) return;
      later.set(write.key, write);
      cancelLater ??= clock.after(LATER_MS, () => {
        cancelLater = null;
        if (later.size > 0) start().catch(onFault);
      });
    },
    flush: async () => {
      await writing;
      if (later.size > 0) await start();
    },
  };
}
