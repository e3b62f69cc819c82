import { isOlder } from '../api/resource-version.js';
import type { ObjectStore } from '../watch/object-store.js';
import type { ScalerObject } from './scaler-object.js';

/** The last known Scaler objects, also while the watch fails. */
export interface ScalerStore {
  /** One scope per watched namespace, or one for the whole cluster. */
  readonly scopes: readonly ScalerScope[];
  readonly list: () => Iterable<ScalerObject>;
  readonly get: (namespace: string, name: string) => ScalerObject | null;
  /** Whether every scope has been listed. A missing object then does not exist. */
  readonly isComplete: () => boolean;
  /** Stores the response to a write before the watch reports it. */
  readonly remember: (object: ScalerObject) => void;
  /**
   * Calls `listener` when a document is added, changed or deleted, and after the first list of a scope, but not for
   * changes outside of `spec`. Returns a function that unsubscribes.
   */
  readonly onChange: (listener: () => void) => () => void;
}

interface ScalerScope {
  readonly namespace: string | null;
  readonly store: ObjectStore<ScalerObject>;
  readonly isListed: () => boolean;
}

/** `namespaces` to watch; empty: all. */
export function createScalerStore(namespaces: readonly string[]): ScalerStore {
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const wanted = namespaces.length === 0 ? [null] : [...new Set(namespaces)];
  const scopes = wanted.map((namespace) => createScope(namespace, notify));
  const scopeOf = (namespace: string): Scope | undefined =>
    scopes.find((scope) => scope.namespace === null || scope.namespace === namespace);
  return {
    scopes,
    list: function* () {
      for (const scope of scopes) yield* scope.values();
    },
    get: (namespace, name) => scopeOf(namespace)?.store.get(namespace, name) ?? null,
    isComplete: () => scopes.every((scope) => scope.isListed()),
    remember: (object) => {
      const store = scopeOf(object.namespace)?.store;
      const known = store?.get(object.namespace, object.name);
      if (known?.uid === object.uid && isOlder(known.resourceVersion, object.resourceVersion))
        store?.put(object);
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

interface Scope extends ScalerScope {
  readonly values: () => Iterable<ScalerObject>;
}

function createScope(namespace: string | null, notify: () => void): Scope {
  let objects = new Map<string, ScalerObject>();
  let isListed = false;
  const isSameDocument = (key: string, specText: string): boolean => objects.get(key)?.specText === specText;
  return {
    namespace,
    isListed: () => isListed,
    values: () => objects.values(),
    store: {
      get: (of, name) => objects.get(`${of}/${name}`),
      replace: (all) => {
        const next = new Map(all.map((object) => [keyOf(object), object]));
        const isSame =
          isListed &&
          next.size === objects.size &&
          [...next].every(([key, { specText }]) => isSameDocument(key, specText));
        objects = next;
        isListed = true;
        if (!isSame) notify();
      },
      put: (object) => {
        const isSame = isSameDocument(keyOf(object), object.specText);
        objects.set(keyOf(object), object);
        if (!isSame) notify();
      },
      remove: (of, name) => {
        if (objects.delete(`${of}/${name}`)) notify();
      },
    },
  };
}

function keyOf({ namespace, name }: ScalerObject): string {
  return `${namespace}/${name}`;
}
