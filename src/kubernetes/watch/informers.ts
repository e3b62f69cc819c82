import { untilAborted } from '../../units/abort.js';
import { resourceScope } from './list-pages.js';
import type { ObjectStore, WatchedObject } from './object-store.js';
import { createReflector, type Reflector, type ReflectorOptions } from './reflector.js';

export interface Informer<S> {
  readonly store: S;
  readonly reflector: Reflector;
}

export interface Informers<S> {
  /** Starts and stops watches, so that they cover these namespaces; null: one watch covers the whole cluster. */
  readonly want: (namespaces: readonly (string | null)[]) => void;
  /** Returns the informer of a namespace, if possible one that has listed; null: the namespace is not watched. */
  readonly of: (namespace: string) => Informer<S> | null;
  readonly isSynced: () => boolean;
  /** Returns whether the first list of any informer is arriving. */
  readonly isListing: () => boolean;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

interface InformersOptions<T extends WatchedObject, S extends ObjectStore<T>> extends Omit<
  ReflectorOptions<T>,
  'scope' | 'store'
> {
  readonly root: string;
  readonly plural: string;
  readonly createStore: () => S;
}

/**
 * Ranks informers of the same namespace. An informer that has listed ranks higher, even if it is no longer wanted: it
 * is used until its successor has listed.
 */
function rankOf({ reflector, isWanted }: RunningInformer<unknown>): number {
  return (reflector.isSynced() ? 2 : 0) + (isWanted ? 1 : 0);
}

interface RunningInformer<S> extends Informer<S> {
  readonly scope: string | null;
  readonly stop: AbortController;
  isWanted: boolean;
  isStarted: boolean;
}

/**
 * Creates informers that watch only during `run`. An informer that is no longer needed continues until the informers
 * that replace it have listed, so that no caller finds an empty store.
 */
export function createInformers<T extends WatchedObject, S extends ObjectStore<T>>(
  options: InformersOptions<T, S>,
): Informers<S> {
  const informers = new Map<string | null, RunningInformer<S>>();
  const running = new Set<Promise<void>>();
  let runSignal: AbortSignal | null = null;

  const isSynced = (): boolean =>
    [...informers.values()].every((informer) => !informer.isWanted || informer.reflector.isSynced());

  const create = (scope: string | null): RunningInformer<S> => {
    const store = options.createStore();
    const resource = resourceScope(options.root, options.plural, scope);
    const reflector = createReflector<T>({ ...options, scope: resource, store });
    reflector.onChange(prune);
    return { scope, store, reflector, stop: new AbortController(), isWanted: true, isStarted: false };
  };

  const prune = (): void => {
    if (!isSynced()) return;
    for (const [scope, informer] of informers) {
      if (informer.isWanted) continue;
      informer.stop.abort();
      informers.delete(scope);
    }
  };

  const startAll = (): void => {
    if (runSignal === null || runSignal.aborted) return;
    for (const informer of informers.values()) {
      if (informer.isStarted) continue;
      informer.isStarted = true;
      const done = informer.reflector.run(informer.stop.signal).finally(() => running.delete(done));
      running.add(done);
    }
  };

  return {
    want: (namespaces) => {
      for (const informer of informers.values()) informer.isWanted = namespaces.includes(informer.scope);
      for (const scope of namespaces) if (!informers.has(scope)) informers.set(scope, create(scope));
      startAll();
      prune();
    },
    of: (namespace) => {
      const own = informers.get(namespace);
      const all = informers.get(null);
      const best = own === undefined || (all !== undefined && rankOf(all) > rankOf(own)) ? all : own;
      return best === undefined || rankOf(best) === 0 ? null : best;
    },
    isSynced,
    isListing: () => [...informers.values()].some(({ reflector }) => reflector.isListing()),
    run: async (signal) => {
      runSignal = signal;
      if (signal.aborted) return;
      const stopped = untilAborted(signal);
      startAll();
      await stopped;
      for (const informer of informers.values()) informer.stop.abort();
      await Promise.all(running);
    },
  };
}
