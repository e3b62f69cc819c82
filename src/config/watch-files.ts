import { type FSWatcher, watch } from 'node:fs';
import { untilAborted } from '../units/abort.js';
import { type Clock, createAlarm } from '../units/clock.js';
import { directoryToWatch } from './read-path-contents.js';

/** Interval at which files are compared even without an event of the file system. Source: reliability.md C1. */
const POLL_MS = 10_000;

/** Delay from an event to the comparison of files, because an editor or the kubelet makes several changes in a row. */
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
  const alarm = createAlarm(clock);
  /** `isDone`: an event has settled since the last comparison, so the next comparison does not wait. */
  const settling: { isDone: boolean; cancel: (() => void) | null } = { isDone: false, cancel: null };
  const onEvent = (): void => {
    settling.cancel ??= clock.after(SETTLE_MS, () => {
      settling.cancel = null;
      settling.isDone = true;
      alarm.ring();
    });
  };
  const directories = new Set(await Promise.all(paths.map(directoryToWatch)));
  const watchers = Array.from(directories, (directory) => watchDirectory(directory, onEvent));
  const forget = options.alsoOn?.(onEvent);
  try {
    for (;;) {
      if (!settling.isDone) await alarm.sleep(POLL_MS, signal);
      settling.isDone = false;
      if (signal.aborted) return;
      try {
        if (await hasChanged()) await onChange();
      } catch (error) {
        onFault(error);
      }
    }
  } finally {
    settling.cancel?.();
    forget?.();
    for (const watcher of watchers) watcher?.close();
  }
}

/**
 * Watches a directory. Returns null if the directory cannot be watched: its files are then only compared every 10 s
 * (`POLL_MS`).
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
