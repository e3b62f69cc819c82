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

export function createObjectStore<T extends WatchedObject>(): ObjectStore<T> {
  // Two maps, because each cycle looks up an object, and a joined key would be built and hashed each time.
  let namespaces = new Map<string, Map<string, T>>();
  const put = (into: Map<string, Map<string, T>>, object: T): void => {
    const objects = into.get(object.namespace) ?? new Map<string, T>();
    into.set(object.namespace, objects.set(object.name, object));
  };
  return {
    get: (namespace, name) => namespaces.get(namespace)?.get(name),
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
