import { type FSWatcher, watch } from 'node:fs';
import { onAbort, untilAborted } from '../units/abort.js';
import type { Clock } from '../units/clock.js';
import { directoryToWatch } from './read-path-contents.js';

/** Interval at which files are compared even without an event of the file system. Source: reliability.md C1. */
const POLL_MS = 10_000;

/** Delay from an event to the comparison of files: an editor or the kubelet makes several changes in a row. */
const SETTLE_MS = 200;

interface WatchOptions {
  readonly paths: readonly string[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly hasChanged: () => Promise<boolean>;
  readonly onChange: () => void | Promise<void>;
  /** Called with the errors of `hasChanged` and `onChange`. The watch continues. */
  readonly onFault: (error: unknown) => void;
  /** Subscribes to another source of changes, which calls `ring` on a change. Returns a function that unsubscribes. */
  readonly alsoOn?: ((ring: () => void) => () => void) | undefined;
}

/**
 * Calls `onChange` when `hasChanged` resolves to true. `hasChanged` is called shortly after an event of the file
 * system. It is also called every 10 s, because some file systems send no event when `..data` of a ConfigMap is
 * replaced. Resolves when `signal` is aborted, even while a file system does not respond.
 */
export async function watchFiles(options: WatchOptions): Promise<void> {
  await Promise.race([watchUntilAborted(options), untilAborted(options.signal)]);
}

async function watchUntilAborted(options: WatchOptions): Promise<void> {
  const { paths, clock, signal, hasChanged, onChange, onFault } = options;
  const alarm = createAlarm(clock, signal);
  const directories = new Set(await Promise.all(paths.map(directoryToWatch)));
  const watchers = Array.from(directories, (directory) =>
    watchDirectory(directory, () => alarm.ring(SETTLE_MS)),
  );
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

/**
 * Watches a directory. Returns null if it cannot be watched: its files are then only compared every 10 s (`POLL_MS`).
 */
function watchDirectory(directory: string, onEvent: () => void): FSWatcher | null {
  try {
    const watcher = watch(directory, { persistent: false }, onEvent);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return null;
  }
}

interface Alarm {
  /** Resolves after `ms`, after a `ring`, or immediately when the signal is aborted. */
  readonly wait: (ms: number) => Promise<void>;
  readonly ring: (ms: number) => void;
}

/** Creates an alarm. If it rings while nobody waits, the next `wait` resolves immediately. */
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
