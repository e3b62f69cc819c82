import { onAbort } from '../../units/abort.js';
import type { Clock } from '../../units/clock.js';
import type { JsonObject } from '../json.js';
import { resourceScope } from './list-pages.js';
import type { Log } from '../../units/log.js';
import type { ObjectStore, WatchedObject } from './object-store.js';
import { createReflector, type Reflector } from './reflector.js';
import type { Transport } from '../requests/transport.js';
import type { KubernetesError } from '../types.js';

/** A store, and the watch that keeps it. */
export interface Feed<S> {
  readonly store: S;
  readonly reflector: Reflector;
}

/** The watches of one kind: one for each namespace, or one for all. */
export interface Feeds<S> {
  /** Which namespaces are wanted (null: the whole cluster in one watch). Watches are started and ended accordingly. */
  readonly want: (namespaces: readonly (string | null)[]) => void;
  /** What answers for a namespace: a feed that has listed, where there is one; null where none is wanted. */
  readonly of: (namespace: string) => Feed<S> | null;
  /** Every wanted feed has listed. */
  readonly isSynced: () => boolean;
  /** Runs what is wanted until `signal` is aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

export interface FeedsOptions<T extends WatchedObject, S extends ObjectStore<T>> {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  /** `/api/v1`, `/apis/apps/v1`. */
  readonly root: string;
  readonly plural: string;
  readonly createStore: () => S;
  readonly convert: (object: JsonObject) => T | null;
  /** See `ReflectorOptions`. */
  readonly fixFor?: (error: KubernetesError) => string | null;
}

interface RunningFeed<S> extends Feed<S> {
  readonly scope: string | null;
  readonly stop: AbortController;
  isWanted: boolean;
  isStarted: boolean;
}

/**
 * No watch is running before `run` and none after it. A watch that is not wanted any more goes on until those that take
 * its place have listed, so that nobody finds an empty store in between.
 */
export function createFeeds<T extends WatchedObject, S extends ObjectStore<T>>(
  options: FeedsOptions<T, S>,
): Feeds<S> {
  const feeds = new Map<string | null, RunningFeed<S>>();
  const running = new Set<Promise<void>>();
  let runSignal: AbortSignal | null = null;

  const isSynced = (): boolean =>
    [...feeds.values()].every((feed) => !feed.isWanted || feed.reflector.isSynced());

  const create = (scope: string | null): RunningFeed<S> => {
    const store = options.createStore();
    const resource = resourceScope(options.root, options.plural, scope);
    const reflector = createReflector<T>({ ...options, scope: resource, store });
    reflector.onChange(prune);
    return { scope, store, reflector, stop: new AbortController(), isWanted: true, isStarted: false };
  };

  const prune = (): void => {
    if (!isSynced()) return;
    for (const [scope, feed] of feeds) {
      if (feed.isWanted) continue;
      feed.stop.abort();
      feeds.delete(scope);
    }
  };

  const startAll = (): void => {
    if (runSignal === null || runSignal.aborted) return;
    for (const feed of feeds.values()) {
      if (feed.isStarted) continue;
      feed.isStarted = true;
      const done = feed.reflector.run(feed.stop.signal).finally(() => running.delete(done));
      running.add(done);
    }
  };

  return {
    want: (namespaces) => {
      for (const feed of feeds.values()) feed.isWanted = namespaces.includes(feed.scope);
      for (const scope of namespaces) if (!feeds.has(scope)) feeds.set(scope, create(scope));
      startAll();
      prune();
    },
    of: (namespace) => {
      const fitting = [feeds.get(namespace), feeds.get(null)].filter((feed) => feed !== undefined);
      const listed = fitting.filter((feed) => feed.reflector.isSynced());
      const wanted = (feed: RunningFeed<S>): boolean => feed.isWanted;
      return listed.find(wanted) ?? listed[0] ?? fitting.find(wanted) ?? null;
    },
    isSynced,
    run: async (signal) => {
      runSignal = signal;
      const stop = (): void => {
        for (const feed of feeds.values()) feed.stop.abort();
      };
      if (signal.aborted) return;
      const stopped = new Promise<void>((resolve) => onAbort(signal, resolve));
      startAll();
      await stopped;
      stop();
      await Promise.all(running);
    },
  };
}
