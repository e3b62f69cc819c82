import type { ObjectStore, WatchedObject } from './object-store.js';
import { isOlder } from './resource-version.js';

/** Writes to a store so that events which come twice or in a wrong order take nothing back. */
export interface OrderedSink<T extends WatchedObject> {
  readonly replace: (objects: readonly T[]) => void;
  readonly put: (object: T) => void;
  readonly remove: (object: WatchedObject) => void;
}

/** So many deletions are remembered: an older event must not bring back what is gone. */
const MAX_DELETIONS = 4096;

/** Compares versions object by object: a late event of one object may still be the first one of that object. */
export function createOrderedSink<T extends WatchedObject>(store: ObjectStore<T>): OrderedSink<T> {
  const deletions = new Map<string, string>();
  const keyOf = ({ namespace, name }: WatchedObject): string => `${namespace}/${name}`;

  const isOutdated = (object: WatchedObject): boolean => {
    const known = store.get(object.namespace, object.name)?.resourceVersion ?? deletions.get(keyOf(object));
    return known !== undefined && isOlder(object.resourceVersion, known);
  };

  return {
    replace: (objects) => {
      deletions.clear();
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
