export interface WatchedObject {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
}

export interface ObjectStore<T extends WatchedObject> {
  readonly get: (namespace: string, name: string) => T | undefined;
  /** Replaces all objects at once, so no reader sees a partial list. */
  readonly replace: (objects: readonly T[]) => void;
  readonly put: (object: T) => void;
  readonly remove: (namespace: string, name: string) => void;
}

export interface NamedStore<T extends WatchedObject> extends ObjectStore<T> {
  readonly namesIn: (namespace: string) => readonly string[];
}

export function createObjectStore<T extends WatchedObject>(): NamedStore<T> {
  // Two maps, because each cycle looks up an object, and a joined key would be built and hashed each time.
  let namespaces = new Map<string, Map<string, T>>();
  const put = (into: Map<string, Map<string, T>>, object: T): void => {
    const objects = into.get(object.namespace) ?? new Map<string, T>();
    into.set(object.namespace, objects.set(object.name, object));
  };
  return {
    get: (namespace, name) => namespaces.get(namespace)?.get(name),
    namesIn: (namespace) => [...(namespaces.get(namespace)?.keys() ?? [])],
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

/** Writes to a store. A repeated or late event never restores an older version. */
export interface OrderedSink<T extends WatchedObject> {
  /**
   * Replaces the store with a list at resourceVersion `version`. Later events that are not newer than the list are
   * dropped.
   */
  readonly replace: (objects: readonly T[], version: string) => void;
  readonly put: (object: T) => void;
  readonly remove: (object: WatchedObject) => void;
}

/** Number of remembered deletions. They prevent an older event from restoring a deleted object. */
const MAX_DELETIONS = 4096;

/**
 * Compares an event with the version of its object, so a late first event of an object counts, and with the version of
 * the last list, so a pod that was deleted before that list is not restored forever.
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
 * Returns a number below 0 if `a` is older than `b`, 0 if they are equal, above 0 if `a` is newer. Returns null if one
 * of them is not a decimal number, as in some aggregated API servers. Only versions of the same resource are
 * comparable. Source: apimachinery pkg/util/resourceversion, CompareResourceVersion.
 */
export function compareResourceVersions(a: string, b: string): number | null {
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return null;
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Returns false if the versions cannot be compared. */
export function isOlder(a: string, b: string): boolean {
  const order = compareResourceVersions(a, b);
  return order !== null && order < 0;
}
