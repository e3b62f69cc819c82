import { sleep, type Clock } from '../../units/clock.js';
import type { Instant } from '../../units/time.js';
import type { Log } from '../../units/log.js';
import { KubernetesError } from '../api/types.js';
import type { BucketRules, KnownEntry, BucketWrite, PutResult } from './choose-writes.js';
import {
  isReadDue,
  UNREAD,
  type BucketEffect,
  type BucketEvent,
  type BucketState,
  transition,
} from './bucket-transition.js';
import { patchStateMap, readStateMap, STATE_WRITE_MS, type StateMapAccess } from './state-config-map.js';

/** One ConfigMap of the state store. Its methods reject only after an internal error. */
export interface StateBucket extends WriteQueue {
  /** Reads the ConfigMap if `isReadDue`; null: no read is due, which is the usual case. */
  readonly settle: (key?: string) => Promise<void> | null;
  /** Reads the ConfigMap now. After that, entries that other replicas wrote before this read may be overwritten. */
  readonly reload: () => Promise<void>;
  readonly problem: () => string | null;
  readonly get: (key: string) => KnownEntry | undefined;
  readonly isOwn: (key: string, text: string) => boolean;
  /**
   * Returns when the ConfigMap was created; null: unknown. If a scaler has no entry, its state before that time is
   * unknown.
   */
  readonly createdAt: () => Instant | null;
}

interface BucketOptions extends StateMapAccess, BucketRules {
  readonly clock: Clock;
  readonly log: Log;
}

/** Creates a bucket that carries out the effects of `transition`: requests, waits, results and log lines. */
export function createStateBucket(options: BucketOptions): StateBucket {
  const { clock, log } = options;
  const configMap = `${options.namespace}/${options.name}`;
  let state: BucketState<QueuedWrite> = UNREAD;
  let reading: Promise<void> | null = null;
  /**
   * The batch that is being written. A read waits for its end: otherwise the response to the read could be older than
   * the write.
   */
  let writing: Promise<void> | null = null;

  const dispatch = async (event: BucketEvent<QueuedWrite>): Promise<void> => {
    const context = { ...options, now: clock.now(), nowMs: clock.monotonicMs() };
    const { state: next, effects } = transition(state, event, context);
    state = next;
    for (const effect of effects) {
      const work = perform(effect);
      if (work !== null) await work;
    }
  };

  const perform = (effect: BucketEffect<QueuedWrite>): Promise<void> | null => {
    switch (effect.type) {
      case 'log':
        log[effect.level](effect.message, effect.facts);
        return null;
      case 'answer':
        effect.write.done(effect.result);
        return null;
      case 'patch':
        return attempt(async () => {
          const resourceVersion = await patchStateMap(options, effect.change);
          return { type: 'patched', resourceVersion };
        }, 'patch-failed');
      case 'read':
        return read(false).then(() => dispatch({ type: 'retry' }));
      case 'wait':
        return sleep(clock, effect.ms).then(() => dispatch({ type: 'retry' }));
      default:
        return effect satisfies never;
    }
  };

  const attempt = async (
    request: () => Promise<BucketEvent<QueuedWrite>>,
    failed: 'read-failed' | 'patch-failed',
  ): Promise<void> => {
    let event: BucketEvent<QueuedWrite>;
    try {
      event = await request();
    } catch (error) {
      if (!(error instanceof KubernetesError)) throw error;
      event = { type: failed, error };
    }
    await dispatch(event);
  };

  const read = (isReload: boolean): Promise<void> =>
    attempt(async () => ({ type: 'read', map: await readStateMap(options), isReload }), 'read-failed');

  const readOnce = (isReload = false): Promise<void> => {
    const start = (): Promise<void> => read(isReload);
    return (reading ??= (writing?.then(start) ?? start()).finally(() => {
      reading = null;
    }));
  };

  /** If a read is in progress, waits for it even if no read is due, because that read will replace the known state. */
  const settle = (key: string | null = null): Promise<void> | null =>
    reading !== null || isReadDue(state, key, clock.monotonicMs) ? readOnce() : null;

  const queue = createWriteQueue(clock, {
    writeBatch: async (writes) => {
      const endMs = clock.monotonicMs() + STATE_WRITE_MS;
      for (let settling = settle(); settling !== null; settling = settle()) await settling;
      writing = dispatch({ type: 'write', writes, endMs });
      try {
        await writing;
      } finally {
        writing = null;
      }
    },
    onFault: (error) => log.error('failed to write scaler state: internal error', { configMap, error }),
  });

  return {
    ...queue,
    settle,
    reload: async () => {
      // A read that has already started may miss the last writes of the previous leader.
      while (reading !== null) await reading;
      await readOnce(true);
    },
    problem: () => state.failure?.message ?? null,
    get: (key) => state.known?.entries.get(key),
    isOwn: (key, text) => state.sent.get(key) === text,
    createdAt: () => state.known?.createdAt ?? null,
  };
}

interface QueuedWrite extends BucketWrite {
  readonly done: (result: PutResult) => void;
}

/** Combines the writes to one ConfigMap into batches, of which one is written at a time. */
interface WriteQueue {
  /** Adds a write to the next batch: the writes of this tick, or all writes until the end of the current batch. */
  readonly put: (write: BucketWrite) => Promise<PutResult>;
  /** Writes together with the next `put`, or after 5 s. A later call for the same key replaces this write. */
  readonly putLater: (write: BucketWrite) => void;
  readonly flush: () => Promise<void>;
}

const LATER_MS = 5000;

/**
 * Creates a queue. `writeBatch` passes each write its result, and rejects only after an internal error, which is passed
 * to `onFault`.
 */
function createWriteQueue(
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
        // Waits until the other writes of this tick have joined the batch.
        await Promise.resolve();
        await writeBatch(takeBatch());
      } while (waiting.length > 0);
    } finally {
      // Must run in the same tick as the check of `waiting`. Otherwise a write that is added in between would wait
      // forever.
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
