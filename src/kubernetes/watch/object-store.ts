export interface WatchedObject {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
}

export interface ObjectStore<T extends WatchedObject> {
  readonly get: (namespace: string, name: string) => T | undefined;
  /** Replaces all objects at once, so that no reader sees a partial list. */
  readonly replace: (objects: readonly T[]) => void;
  readonly put: (object: T) => void;
  readonly remove: (namespace: string, name: string) => void;
}

export interface NamedStore<T extends WatchedObject> extends ObjectStore<T> {
  readonly listIn: (namespace: string) => readonly T[];
}

export function createObjectStore<T extends WatchedObject>(): NamedStore<T> {
  // Nested maps for speed: each cycle looks up an object, and a joined key would be built and hashed each time.
  let namespaces = new Map<string, Map<string, T>>();
  const put = (into: Map<string, Map<string, T>>, object: T): void => {
    const objects = into.get(object.namespace) ?? new Map<string, T>();
    into.set(object.namespace, objects.set(object.name, object));
  };
  return {
    get: (namespace, name) => namespaces.get(namespace)?.get(name),
    listIn: (namespace) => [...(namespaces.get(namespace)?.values() ?? [])],
    replace: (all) => {
      const next = new Map<string, Map<string, T>>();
      for (const object of all) put(next, object);
      namespaces = next;
    },
    put: (object) => put(namespaces, object),
    remove: (namespace, name) => {
      const objects = namespaces.get(namespace);
      objects?.delete(name);
      if (objects?.size === 0) namespaces.delete(namespace);
    },
  };
}

/** Writes events to a store, so that a repeated or late event never restores an older version. */
export interface OrderedSink<T extends WatchedObject> {
  /**
   * Replaces the content of the store by a list with resourceVersion `version`. Later events that are not newer than
   * the list are dropped.
   */
  readonly replace: (objects: readonly T[], version: string) => void;
  readonly put: (object: T) => void;
  readonly remove: (object: WatchedObject) => void;
}

/** Number of deletions that are remembered, so that an older event does not restore a deleted object. */
const MAX_DELETIONS = 4096;

/**
 * Creates a sink that drops an event if it is older than its object, or not newer than the last list. Otherwise a
 * late event could restore an object that was deleted before the list, and the object would stay forever.
 */
export function createOrderedSink<T extends WatchedObject>(store: ObjectStore<T>): OrderedSink<T> {
  const deletions = new Map<string, string>();
  let listedVersion = '';
  const keyOf = ({ namespace, name }: WatchedObject): string => `${namespace}/${name}`;

  const isOutdated = (object: WatchedObject): boolean => {
    const order = compareResourceVersions(object.resourceVersion, listedVersion);
    if (order !== null && order <= 0) return true;
    const known = store.get(object.namespace, object.name)?.resourceVersion ?? deletions.get(keyOf(object));
    return known !== undefined && isOlder(object.resourceVersion, known);
  };

  return {
    replace: (objects, version) => {
      deletions.clear();
      listedVersion = version;
      store.replace(objects);
    },
    put: (object) => {
      if (isOutdated(object)) return;
      deletions.delete(keyOf(object));
      store.put(object);
    },
    remove: (object) => {
      if (isOutdated(object)) return;
      store.remove(object.namespace, object.name);
      deletions.delete(keyOf(object));
      deletions.set(keyOf(object), object.resourceVersion);
      const oldest = deletions.size > MAX_DELETIONS ? deletions.keys().next().value : undefined;
      if (oldest !== undefined) deletions.delete(oldest);
    },
  };
}

const DECIMAL = /^[1-9]\d*$/;

/**
 * Returns a number below 0 if `a` is older than `b`, 0 if both are equal, and above 0 if `a` is newer. Null: one of
 * them is not a decimal number, as in some aggregated API servers. Only versions of the same resource can be compared.
 * Source: apimachinery pkg/util/resourceversion, CompareResourceVersion.
 */
export function compareResourceVersions(a: string, b: string): number | null {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return null;
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Returns whether `a` is older than `b`. False if they cannot be compared. */
export function isOlder(a: string, b: string): boolean {
  const order = compareResourceVersions(a, b);
  return order !== null && order < 0;
}
