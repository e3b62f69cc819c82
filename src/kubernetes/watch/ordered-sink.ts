import type { ObjectStore, WatchedObject } from './object-store.js';
import { compareResourceVersions, isOlder } from '../resource-version.js';

/** Writes to a store so that events which come twice or in a wrong order take nothing back. */
export interface OrderedSink<T extends WatchedObject> {
  /** All there is as of `version`, the list's own: whatever an event of that version or an older one says is known. */
  readonly replace: (objects: readonly T[], version: string) => void;
  readonly put: (object: T) => void;
  readonly remove: (object: WatchedObject) => void;
}

/** So many deletions are remembered: an older event must not bring back what is gone. */
const MAX_DELETIONS = 4096;

/**
 * Compares versions object by object, and with that of the last list: a late event of one object may still be the first
 * one of that object, but none from before the list is, or a pod that was deleted by then would come back for ever.
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
