import { type FSWatcher, watch } from 'node:fs';
import { onAbort } from '../units/abort.js';
import type { Clock } from '../units/clock.js';
import { folderToWatch } from './read-generation.js';

/** How often the content is compared, whatever the system tells. Source: reliability.md C1. */
export const POLL_MS = 10_000;

/** An editor or the kubelet makes several changes in a row: they are looked at together. */
export const SETTLE_MS = 200;

export interface WatchOptions {
  readonly paths: readonly string[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly hasChanged: () => Promise<boolean>;
  readonly onChange: () => void | Promise<void>;
  /** Told what `hasChanged` or `onChange` throws: the next change is looked at all the same. */
  readonly onFault: (error: unknown) => void;
  /** What else may have changed: it is given what it is to call then, and gives back how that ends. */
  readonly alsoOn?: ((ring: () => void) => () => void) | undefined;
}

/**
 * Calls `onChange` whenever `hasChanged`: asked shortly after the system tells of something in the folders, and every
 * 10 s, as the swap of a ConfigMap's `..data` is not told everywhere. Resolves when `signal` is aborted, also while a
 * file server does not answer.
 */
export async function watchFiles(options: WatchOptions): Promise<void> {
  const { signal } = options;
  const ended = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    onAbort(signal, resolve);
  });
  await Promise.race([watchUntilAborted(options), ended]);
}

async function watchUntilAborted(options: WatchOptions): Promise<void> {
  const { paths, clock, signal, hasChanged, onChange, onFault } = options;
  const alarm = createAlarm(clock, signal);
  const folders = new Set(await Promise.all(paths.map(folderToWatch)));
  const watchers = Array.from(folders, (folder) => watchFolder(folder, () => alarm.ring(SETTLE_MS)));
  const forget = options.alsoOn?.(() => alarm.ring(SETTLE_MS));
  try {
    for (;;) {
      await alarm.wait(POLL_MS);
      if (signal.aborted) return;
      try {
        if (await hasChanged()) await onChange();
      } catch (error) {
        onFault(error);
      }
    }
  } finally {
    forget?.();
    for (const watcher of watchers) watcher?.close();
  }
}

/** Null where the folder cannot be watched: comparing every 10 s is enough. */
function watchFolder(folder: string, onEvent: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, onEvent);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}

interface Alarm {
  /** Resolves after `ms`, earlier when it was rung for earlier, at once when the signal is aborted. */
  readonly wait: (ms: number) => Promise<void>;
  readonly ring: (ms: number) => void;
}

/** A ring while nobody waits is kept for the next wait. */
function createAlarm(clock: Clock, signal: AbortSignal): Alarm {
  let wake: (() => void) | null = null;
  let isRung = false;
  let cancelRing: (() => void) | null = null;
  return {
    ring: (ms) => {
      if (cancelRing !== null) return;
      cancelRing = clock.after(ms, () => {
        cancelRing = null;
        isRung = true;
        wake?.();
      });
    },
    wait: async (ms) => {
      await new Promise<void>((resolve) => {
        if (isRung || signal.aborted) {
          resolve();
          return;
        }
        const cancelPoll = clock.after(ms, () => wake?.());
        const forget = onAbort(signal, () => wake?.());
        wake = () => {
          wake = null;
          cancelPoll();
          forget();
          resolve();
        };
      });
      isRung = false;
      if (signal.aborted) cancelRing?.();
    },
  };
}
