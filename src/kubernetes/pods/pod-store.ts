import type { LabelSelector } from '../../scaler/spec.js';
import type { ObjectStore } from '../watch/object-store.js';
import { isOwnCost, type WatchedPod } from './watched-pod.js';
import { matchesSelector } from './selectors.js';
import type { ClusterPod } from '../api/types.js';

/** The pods of one watch, indexed by namespace and by the labels that selectors use. */
export interface PodStore extends ObjectStore<WatchedPod> {
  /** Returns the pods that match, sorted by name. */
  readonly select: (namespace: string, selector: LabelSelector) => readonly ClusterPod[];
  readonly selectWatched: (namespace: string, selector: LabelSelector) => readonly WatchedPod[];
  readonly hasOwnCosts: (namespace: string) => boolean;
}

type PodsByName = Map<string, WatchedPod>;

/**
 * The pods of a namespace. `byKey` has an index for each label key, which is built when a selector first uses the key.
 */
interface NamespacePods {
  readonly pods: PodsByName;
  readonly byKey: Map<string, Map<string, PodsByName>>;
  /** Names of the pods whose cost promscaler has set; nearly always empty. */
  readonly withOwnCost: Set<string>;
  /** The results of `select`. They are cached until a pod of the namespace changes, which is rare in most rounds. */
  readonly selections: Map<LabelSelector, readonly ClusterPod[]>;
}

export function createPodStore(): PodStore {
  let namespaces = new Map<string, NamespacePods>();

  const put = (into: Map<string, NamespacePods>, pod: WatchedPod): void => {
    const group: NamespacePods = into.get(pod.namespace) ?? {
      pods: new Map(),
      byKey: new Map(),
      withOwnCost: new Set(),
      selections: new Map(),
    };
    into.set(pod.namespace, group);
    forgetSelections(group);
    const before = group.pods.get(pod.name);
    if (before !== undefined) unindex(group, before);
    group.pods.set(pod.name, pod);
    if (pod.cost !== undefined && isOwnCost(pod.cost)) group.withOwnCost.add(pod.name);
    else group.withOwnCost.delete(pod.name);
    for (const [key, byValue] of group.byKey) index(byValue, key, pod);
  };

  const selectWatched: PodStore['selectWatched'] = (namespace, selector) => {
    const group = namespaces.get(namespace);
    if (group === undefined) return [];
    return [...candidates(group, selector)]
      .filter(({ labels }) => matchesSelector(selector, labels))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  };

  return {
    get: (namespace, name) => namespaces.get(namespace)?.pods.get(name),
    replace: (pods) => {
      const next = new Map<string, NamespacePods>();
      for (const pod of pods) put(next, pod);
      namespaces = next;
    },
    put: (pod) => put(namespaces, pod),
    remove: (namespace, name) => {
      const group = namespaces.get(namespace);
      const pod = group?.pods.get(name);
      if (group === undefined || pod === undefined) return;
      unindex(group, pod);
      group.pods.delete(name);
      group.withOwnCost.delete(name);
      forgetSelections(group);
      if (group.pods.size === 0) namespaces.delete(namespace);
    },
    select: (namespace, selector) => {
      const group = namespaces.get(namespace);
      if (group === undefined) return [];
      const known = group.selections.get(selector);
      if (known !== undefined) return known;
      const pods = selectWatched(namespace, selector).map(({ pod }) => pod);
      keepSelection(group, selector, pods);
      return pods;
    },
    selectWatched,
    hasOwnCosts: (namespace) => (namespaces.get(namespace)?.withOwnCost.size ?? 0) > 0,
  };
}

/** Does not clear an empty map, because that would allocate a new table for each pod of a list. */
function forgetSelections({ selections }: NamespacePods): void {
  if (selections.size > 0) selections.clear();
}

/**
 * Caches the result for a selector object. Each change of a target and each read of a `/scale` create a new selector
 * object, and the results of the old objects remain. All results are dropped when there are as many as pods.
 */
function keepSelection(
  { selections, pods: all }: NamespacePods,
  selector: LabelSelector,
  pods: readonly ClusterPod[],
): void {
  if (pods.length === 0) return;
  if (selections.size >= all.size) selections.clear();
  selections.set(selector, pods);
}

/**
 * Returns the pods that can match: the smallest set in the index for a requirement with one value. Without such a
 * requirement, returns all pods of the namespace.
 */
function candidates(group: NamespacePods, selector: LabelSelector): Iterable<WatchedPod> {
  let fewest: PodsByName = group.pods;
  for (const { key, operator, values } of selector) {
    const value = values[0];
    if (operator !== 'In' || values.length !== 1 || value === undefined) continue;
    const matching = indexOf(group, key).get(value);
    if (matching === undefined) return [];
    if (matching.size < fewest.size) fewest = matching;
  }
  return fewest.values();
}

function indexOf(group: NamespacePods, key: string): Map<string, PodsByName> {
  const known = group.byKey.get(key);
  if (known !== undefined) return known;
  const byValue = new Map<string, PodsByName>();
  for (const pod of group.pods.values()) index(byValue, key, pod);
  group.byKey.set(key, byValue);
  return byValue;
}

function index(byValue: Map<string, PodsByName>, key: string, pod: WatchedPod): void {
  const value = pod.labels[key];
  if (value === undefined) return;
  const pods = byValue.get(value) ?? new Map<string, WatchedPod>();
  pods.set(pod.name, pod);
  byValue.set(value, pods);
}

function unindex(group: NamespacePods, pod: WatchedPod): void {
  for (const [key, byValue] of group.byKey) {
    const value = pod.labels[key] ?? '';
    const pods = byValue.get(value);
    pods?.delete(pod.name);
    if (pods?.size === 0) byValue.delete(value);
  }
}
