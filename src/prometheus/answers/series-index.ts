import { isFulfilled } from '../../scaler/label-requirement.js';
import type { LabelRequirement, LabelSelector } from '../../scaler/spec.js';
import type { Series } from './answer.js';

/** Series by namespace, then by pod; null: no such label. */
type PodIndex = ReadonlyMap<string | null, ReadonlyMap<string | null, readonly Series[]>>;

const podIndexes = new WeakMap<readonly Series[], PodIndex>();
const labelIndexes = new WeakMap<readonly Series[], Map<string, ReadonlyMap<string, readonly Series[]>>>();

/**
 * Returns the series of an answer by their labels `namespace` and `pod`. Built once per answer: otherwise 1,000 scalers
 * with 5 pods each would scan 5,000 series 1,000 times.
 */
export function indexByPod(series: readonly Series[]): PodIndex {
  const known = podIndexes.get(series);
  if (known !== undefined) return known;
  const index = new Map<string | null, Map<string | null, Series[]>>();
  for (const one of series) {
    const namespace = labelOf(one, 'namespace') ?? null;
    const pod = labelOf(one, 'pod') ?? null;
    let pods = index.get(namespace);
    if (pods === undefined) {
      pods = new Map<string | null, Series[]>();
      index.set(namespace, pods);
    }
    const list = pods.get(pod);
    if (list === undefined) pods.set(pod, [one]);
    else list.push(one);
  }
  podIndexes.set(series, index);
  return index;
}

const NO_SERIES: readonly Series[] = [];

/**
 * Returns the series that meet all requirements, or the same array if there are no requirements. Starts with the
 * requirement that keeps the fewest series.
 */
export function selectSeries(series: readonly Series[], selector: LabelSelector): readonly Series[] {
  if (selector.length === 0) return series;
  let candidates = series;
  let chosen: LabelRequirement | null = null;
  for (const requirement of selector) {
    if (requirement.operator !== 'In') continue;
    const some = valuesOf(series, requirement);
    if (chosen !== null && some.length >= candidates.length) continue;
    candidates = some;
    chosen = requirement;
  }
  const rest = selector.filter((requirement) => requirement !== chosen);
  return rest.length === 0
    ? candidates
    : candidates.filter((one) => rest.every((each) => isFulfilled(each, labelOf(one, each.key))));
}

/** All scalers that use an answer share its index. */
function valuesOf(series: readonly Series[], { key, values }: LabelRequirement): readonly Series[] {
  let indexes = labelIndexes.get(series);
  if (indexes === undefined) {
    indexes = new Map<string, ReadonlyMap<string, readonly Series[]>>();
    labelIndexes.set(series, indexes);
  }
  let index = indexes.get(key);
  if (index === undefined) indexes.set(key, (index = groupByLabel(series, key)));
  // Returns the array of the index, not a copy, so that `podIndexes` can reuse its results for the next
  // scaler.
  const [value] = values;
  if (value !== undefined && values.length === 1) return index.get(value) ?? NO_SERIES;
  return Array.from(new Set(values)).flatMap((each) => index.get(each) ?? []);
}

function groupByLabel(series: readonly Series[], key: string): ReadonlyMap<string, readonly Series[]> {
  const groups = new Map<string, Series[]>();
  for (const one of series) {
    const value = labelOf(one, key);
    if (value === undefined) continue;
    const group = groups.get(value);
    if (group === undefined) groups.set(value, [one]);
    else group.push(one);
  }
  return groups;
}

/** As in Prometheus, an empty label counts as absent. */
export function labelOf({ labels }: Series, name: string): string | undefined {
  const value = Object.hasOwn(labels, name) ? labels[name] : undefined;
  return value === '' ? undefined : value;
}
