import type { ObjectStore, WatchedObject } from './object-store.js';
import { compareResourceVersions, isOlder } from '../api/resource-version.js';

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
