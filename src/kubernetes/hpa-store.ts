import type { WatchedHpa } from './hpa.js';
import type { OtherScaler } from './api/types.js';
import type { ObjectStore } from './watch/object-store.js';

export interface HpaStore extends ObjectStore<WatchedHpa> {
  /** Returns the same array until one of the HPAs changes. */
  readonly of: (namespace: string) => readonly OtherScaler[];
}

const NONE: readonly OtherScaler[] = [];

export function createHpaStore(): HpaStore {
  let namespaces = new Map<string, Map<string, WatchedHpa>>();
  const lists = new Map<string, readonly OtherScaler[]>();
  const put = (hpa: WatchedHpa): void => {
    const group = namespaces.get(hpa.namespace) ?? new Map<string, WatchedHpa>();
    namespaces.set(hpa.namespace, group.set(hpa.name, hpa));
    lists.delete(hpa.namespace);
  };
  return {
    get: (namespace, name) => namespaces.get(namespace)?.get(name),
    replace: (all) => {
      namespaces = new Map();
      lists.clear();
      for (const hpa of all) put(hpa);
    },
    put,
    remove: (namespace, name) => {
      const group = namespaces.get(namespace);
      group?.delete(name);
      if (group?.size === 0) namespaces.delete(namespace);
      lists.delete(namespace);
    },
    of: (namespace) => {
      const group = namespaces.get(namespace);
      if (group === undefined) return NONE;
      const list = lists.get(namespace) ?? [...group.values()].map(({ scaler }) => scaler);
      lists.set(namespace, list);
      return list;
    },
  };
}
