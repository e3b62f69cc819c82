import { sleep, type Clock } from '../../units/clock.js';
import type { Instant } from '../../units/time.js';
import type { Log } from '../log.js';
import {
  chooseWrites,
  type BucketRules,
  type BucketWrite,
  type KnownEntry,
  type PutResult,
} from './batch.js';
import { clampFuture, readEntry } from './entry.js';
import {
  explainStateFailure,
  patchStateMap,
  readStateMap,
  STATE_WRITE_MS,
  type StateMap,
  type StateMapPlace,
} from './map.js';
import { rateLimitMs } from '../requests/rate-limit.js';
import { KubernetesError, UNKNOWN_OUTCOME } from '../types.js';

/** One ConfigMap of state. Nothing of it throws but for our own faults. */
export interface StateBucket {
  /**
   * Reads it where that was not done, where it could not be used when it was last looked at, 10 s ago or more, or where
   * the entry of `key` could not, 60 s ago.
   */
  readonly settle: (key?: string) => Promise<void>;
  /** Reads it anew, whatever is known. What others wrote before that is history, not a rival. */
  readonly reload: () => Promise<void>;
  /** Null while it can be used, else why not. */
  readonly problem: () => string | null;
  readonly get: (key: string) => KnownEntry | undefined;
  /** Whether a text is one that this process has sent. */
  readonly isOwn: (key: string, text: string) => boolean;
  /** When the ConfigMap was made: of the time before, nothing is known of a scaler without an entry. */
  readonly createdAt: () => Instant | null;
  /** Writes with all that is asked for in this tick or, while a write is under way, until that is done. */
  readonly put: (write: BucketWrite) => Promise<PutResult>;
  /** Writes with the next `put`, or after 5 s. A later one of the same key takes its place. */
  readonly putLater: (write: BucketWrite) => void;
  /** Writes what `putLater` has left, and waits for all writes. */
  readonly flush: () => Promise<void>;
}

export interface BucketOptions extends StateMapPlace, BucketRules {
  readonly clock: Clock;
  readonly log: Log;
}

/** How often a ConfigMap that can't be used is looked at. */
const RETRY_MS = 10_000;
/** How often it is looked at for an entry that can't be used. */
const REPAIR_MS = 60_000;
const LATER_MS = 5000;
/** How often a write is tried in all while others write the same ConfigMap. */
const MAX_ATTEMPTS = 4;

interface Known extends Pick<StateMap, 'resourceVersion' | 'createdAt'> {
  readonly entries: ReadonlyMap<string, KnownEntry>;
  readonly readMs: number;
}

interface Waiting extends BucketWrite {
  readonly done: (result: PutResult) => void;
}

/** A bucket of which nothing is known yet. */
export function createStateBucket(options: BucketOptions): StateBucket {
  const { clock, log, namespace, name } = options;
  const configMap = `${namespace}/${name}`;
  const sent = new Map<string, string>();
  let known: Known | null = null;
  let failure: { readonly message: string; readonly atMs: number } | null = null;
  /** What is known may have been overwritten by our own last write. */
  let isStale = false;
  /** The last write had no answer. */
  let isDoubtful = false;
  let reading: Promise<void> | null = null;
  let waiting: Waiting[] = [];
  let later = new Map<string, BucketWrite>();
  let cancelLater: (() => void) | null = null;
  let writing: Promise<void> | null = null;

  const fail = (message: string): string => {
    if (failure === null) log.warn({ configMap, problem: message }, 'the state of scalers cannot be kept');
    failure = { message, atMs: clock.monotonicMs() };
    return message;
  };

  const failBy = (error: unknown, verb: 'get' | 'patch'): string => {
    if (!(error instanceof KubernetesError)) throw error;
    return fail(explainStateFailure(error, options, verb));
  };

  const noteEntry = (key: string, text: string, isAnew: boolean): KnownEntry => {
    const before = known?.entries.get(key);
    if (before?.text === text) return isAnew ? { ...before, foreignSinceMs: null } : before;
    const content = readEntry(text);
    if ('problem' in content)
      log.warn(
        { configMap, key, problem: content.problem },
        'an entry of state cannot be used: it is left as it is',
      );
    const clamped = 'problem' in content ? content : clampFuture(content, clock.now());
    if (clamped !== content)
      log.warn({ configMap, key }, 'an entry of state holds times of the future: they are taken for now');
    const isRival = !isAnew && known !== null && sent.get(key) !== text;
    return { text, content: clamped, foreignSinceMs: isRival ? clock.monotonicMs() : null };
  };

  const read = async (isAnew: boolean): Promise<void> => {
    try {
      const { data, resourceVersion, createdAt } = await readStateMap(options);
      const entries = new Map(
        Object.entries(data).map(([key, text]) => [key, noteEntry(key, text, isAnew)] as const),
      );
      known = { resourceVersion, createdAt, entries, readMs: clock.monotonicMs() };
      isStale = false;
      if (failure !== null) log.info({ configMap }, 'the state of scalers is kept again');
      failure = null;
    } catch (error) {
      failBy(error, 'get');
    }
  };

  const readOnce = (isAnew = false): Promise<void> =>
    (reading ??= read(isAnew).finally(() => {
      reading = null;
    }));

  const isDue = (key: string | null): boolean => {
    const nowMs = clock.monotonicMs();
    if (failure !== null) return nowMs - failure.atMs >= RETRY_MS;
    if (known === null || isStale) return true;
    const entry = key === null ? undefined : known.entries.get(key);
    return entry !== undefined && 'problem' in entry.content && nowMs - known.readMs >= REPAIR_MS;
  };

  const settle = async (key: string | null = null): Promise<void> => {
    // Also what another caller has begun: nobody goes on with what is about to be replaced.
    if (isDue(key) || reading !== null) await readOnce();
  };

  /**
   * A write whose outcome is not known is no sign yet that the store can't be used: it is read first, for meanwhile
   * another replica may have written. The second in a row is.
   */
  const whyUnwritten = (error: unknown): PutResult => {
    const isUnknown = error instanceof KubernetesError && UNKNOWN_OUTCOME.includes(error.kind);
    if (isUnknown && !isDoubtful) {
      isDoubtful = true;
      isStale = true;
      return { kind: 'refused', message: `${error.message}: it is read again first` };
    }
    return { kind: 'failed', message: failBy(error, 'patch') };
  };

  const commit = (
    resourceVersion: string,
    accepted: readonly Waiting[],
    dropped: readonly string[],
  ): void => {
    if (known === null) return;
    const entries = new Map(known.entries);
    for (const key of dropped) entries.delete(key);
    for (const { key, text } of accepted)
      entries.set(key, { text, content: readEntry(text), foreignSinceMs: null });
    known = { ...known, resourceVersion, entries };
    isDoubtful = false;
    for (const { done, text } of accepted) done({ kind: 'written', stored: text });
  };

  /** Whether the server has room for another write before `endMs`: waits for that. */
  const hasRoom = async (error: unknown, endMs: number): Promise<boolean> => {
    const waitMs = rateLimitMs(error);
    if (waitMs === null || clock.monotonicMs() + waitMs > endMs) return false;
    await sleep(clock, waitMs);
    return true;
  };

  /** One merge-patch of what may be written; what is left to be tried again after a conflict. */
  const send = async (batch: readonly Waiting[], endMs: number): Promise<readonly Waiting[]> => {
    if (known === null || failure !== null) {
      const message = failure?.message ?? `ConfigMap ${configMap} has not been read`;
      for (const { done } of batch) done({ kind: 'failed', message });
      return [];
    }
    const { accepted, dropped } = chooseWrites(batch, known.entries, options);
    if (accepted.length === 0) return [];
    for (const { key, text } of accepted) sent.set(key, text);
    const data = Object.fromEntries<string | null>([
      ...dropped.map((key) => [key, null] as const),
      ...accepted.map(({ key, text }) => [key, text] as const),
    ]);
    try {
      const version = await patchStateMap(options, { resourceVersion: known.resourceVersion, data });
      commit(version, accepted, dropped);
      return [];
    } catch (error) {
      if (error instanceof KubernetesError && error.kind === 'conflict') return accepted;
      // Chosen anew: meanwhile another replica may lead.
      if (await hasRoom(error, endMs)) return send(accepted, endMs);
      const result = whyUnwritten(error);
      for (const { done } of accepted) done(result);
      return [];
    }
  };

  const write = async (batch: readonly Waiting[]): Promise<void> => {
    const startMs = clock.monotonicMs();
    await settle();
    const endMs = startMs + STATE_WRITE_MS;
    let left = await send(batch, endMs);
    for (let attempt = 1; left.length > 0; attempt += 1) {
      if (clock.monotonicMs() > endMs) {
        // No sign of a store that can't be used: this process was stopped, or the server is slow.
        isStale = true;
        const message = `ConfigMap ${configMap} could not be written in time`;
        for (const { done } of left) done({ kind: 'refused', message });
        return;
      }
      if (attempt === MAX_ATTEMPTS)
        fail(`ConfigMap ${configMap} is written by others again and again: ${attempt} conflicts`);
      else await readOnce();
      left = await send(left, endMs);
    }
  };

  const run = async (): Promise<void> => {
    do {
      // All of this tick join in.
      await Promise.resolve();
      const wanted = new Set(waiting.map(({ key }) => key));
      const done = (): void => undefined;
      const joining = [...later.values()].filter(({ key }) => !wanted.has(key));
      const batch = [...waiting, ...joining.map((entry) => ({ ...entry, done }))];
      waiting = [];
      later = new Map();
      cancelLater?.();
      cancelLater = null;
      await write(batch);
    } while (waiting.length > 0);
  };

  const start = (): Promise<void> =>
    (writing ??= run().finally(() => {
      writing = null;
    }));

  return {
    settle,
    reload: async () => {
      // A read that began before may not show what the last leader wrote.
      await reading;
      await readOnce(true);
    },
    problem: () => failure?.message ?? null,
    get: (key) => known?.entries.get(key),
    isOwn: (key, text) => sent.get(key) === text,
    createdAt: () => known?.createdAt ?? null,
    put: (entry) =>
      new Promise((done, reject) => {
        waiting.push({ ...entry, done });
        start().catch(reject);
      }),
    putLater: (entry) => {
      later.delete(entry.key);
      if (entry.text === entry.base) return;
      later.set(entry.key, entry);
      cancelLater ??= clock.after(LATER_MS, () => {
        cancelLater = null;
        const tell = (error: unknown): void =>
          log.error({ configMap, error }, 'writing state failed by a fault of promscaler itself');
        if (later.size > 0) start().catch(tell);
      });
    },
    flush: async () => {
      await writing;
      if (later.size > 0) await start();
    },
  };
}
