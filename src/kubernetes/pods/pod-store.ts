import type { LabelSelector } from '../../scaler/spec.js';
import type { ObjectStore } from '../watch/object-store.js';
import { isOwnCost } from './deletion-cost.js';
import type { WatchedPod } from './watched-pod.js';
import { matchesSelector } from './selectors.js';
import type { ClusterPod } from '../types.js';

/** The pods of one watch, by namespace and by the labels that selectors ask for. */
export interface PodStore extends ObjectStore<WatchedPod> {
  /** Those of a namespace that the selector matches, by name. */
  readonly select: (namespace: string, selector: LabelSelector) => readonly ClusterPod[];
  /** The same pods with all that is kept of them. */
  readonly selectWatched: (namespace: string, selector: LabelSelector) => readonly WatchedPod[];
  /** Whether a pod of the namespace has a deletion cost of ours. */
  readonly hasOwnCosts: (namespace: string) => boolean;
}

type PodsByName = Map<string, WatchedPod>;

/** One namespace. A label key gets its index when a selector first asks for one of its values. */
interface Shelf {
  readonly pods: PodsByName;
  readonly byKey: Map<string, Map<string, PodsByName>>;
  /** Those with a deletion cost of ours: nearly always none, so that looking for them costs nothing. */
  readonly marked: Set<string>;
}

/** An empty store. */
export function createPodStore(): PodStore {
  let shelves = new Map<string, Shelf>();

  const put = (into: Map<string, Shelf>, pod: WatchedPod): void => {
    const shelf: Shelf = into.get(pod.namespace) ?? { pods: new Map(), byKey: new Map(), marked: new Set() };
    into.set(pod.namespace, shelf);
    const before = shelf.pods.get(pod.name);
    if (before !== undefined) unindex(shelf, before);
    shelf.pods.set(pod.name, pod);
    if (pod.cost !== undefined && isOwnCost(pod.cost)) shelf.marked.add(pod.name);
    else shelf.marked.delete(pod.name);
    for (const [key, byValue] of shelf.byKey) index(byValue, key, pod);
  };

  const selectWatched: PodStore['selectWatched'] = (namespace, selector) => {
    const shelf = shelves.get(namespace);
    if (shelf === undefined) return [];
    return [...candidates(shelf, selector)]
      .filter(({ labels }) => matchesSelector(selector, labels))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  };

  return {
    get: (namespace, name) => shelves.get(namespace)?.pods.get(name),
    replace: (pods) => {
      const next = new Map<string, Shelf>();
      for (const pod of pods) put(next, pod);
      shelves = next;
    },
    put: (pod) => put(shelves, pod),
    remove: (namespace, name) => {
      const shelf = shelves.get(namespace);
      const pod = shelf?.pods.get(name);
      if (shelf === undefined || pod === undefined) return;
      unindex(shelf, pod);
      shelf.pods.delete(name);
      shelf.marked.delete(name);
      if (shelf.pods.size === 0) shelves.delete(namespace);
    },
    select: (namespace, selector) => selectWatched(namespace, selector).map(({ pod }) => pod),
    selectWatched,
    hasOwnCosts: (namespace) => (shelves.get(namespace)?.marked.size ?? 0) > 0,
  };
}

/** The fewest pods that a requirement with one value leaves; all of the namespace without such a requirement. */
function candidates(shelf: Shelf, selector: LabelSelector): Iterable<WatchedPod> {
  let fewest: PodsByName = shelf.pods;
  for (const { key, operator, values } of selector) {
    const value = values[0];
    if (operator !== 'In' || values.length !== 1 || value === undefined) continue;
    const matching = indexOf(shelf, key).get(value);
    if (matching === undefined) return [];
    if (matching.size < fewest.size) fewest = matching;
  }
  return fewest.values();
}

function indexOf(shelf: Shelf, key: string): Map<string, PodsByName> {
  const known = shelf.byKey.get(key);
  if (known !== undefined) return known;
  const byValue = new Map<string, PodsByName>();
  for (const pod of shelf.pods.values()) index(byValue, key, pod);
  shelf.byKey.set(key, byValue);
  return byValue;
}

function index(byValue: Map<string, PodsByName>, key: string, pod: WatchedPod): void {
  const value = pod.labels[key];
  if (value === undefined) return;
  const pods = byValue.get(value) ?? new Map<string, WatchedPod>();
  pods.set(pod.name, pod);
  byValue.set(value, pods);
}

function unindex(shelf: Shelf, pod: WatchedPod): void {
  for (const [key, byValue] of shelf.byKey) {
    const value = pod.labels[key] ?? '';
    const pods = byValue.get(value);
    pods?.delete(pod.name);
    if (pods?.size === 0) byValue.delete(value);
  }
}
