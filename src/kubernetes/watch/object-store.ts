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

export function createObjectStore<T extends WatchedObject>(): ObjectStore<T> {
  let objects = new Map<string, T>();
  return {
    get: (namespace, name) => objects.get(`${namespace}/${name}`),
    replace: (all) => {
      objects = new Map(all.map((object) => [`${object.namespace}/${object.name}`, object]));
    },
    put: (object) => void objects.set(`${object.namespace}/${object.name}`, object),
    remove: (namespace, name) => void objects.delete(`${namespace}/${name}`),
  };
}
