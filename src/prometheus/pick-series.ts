import type { PodParts } from '../decision/samples/named-values.js';
import type { Pod } from '../decision/snapshot/snapshot.js';
import { isByPod } from '../promql/by-pod.js';
import { podsPattern } from '../promql/pods-pattern.js';
import type { MetricSpec, TargetRef } from '../scaler/spec.js';
import type { NamespaceSeries, PodIndex, PodSeries } from './answers/pod-index.js';
import { selectRows } from './answers/series-index.js';
import type { SeriesColumns } from './answers/series-columns.js';
import type { SeriesLayout } from './answers/series-layout.js';

/** Which series of an answer belong to the pods of a scaler, pod by pod. `parts.containers` is '' without that label. */
export interface PickedSeries {
  /** Their rows if the metric has a selector, otherwise their slots in the index of the answer. */
  readonly places: readonly number[];
  readonly parts: PodParts;
  /** Number of series that the selector of the metric keeps, of any pod; null: the metric has none, and all are kept. */
  readonly selected: number | null;
  readonly isPodMissing: boolean;
  /** Whether no two series count for the same pod, or for the same container of a pod. */
  readonly isDistinct: boolean;
  /** Whether they were all series of the answer, in its order; they still are if the answer has as many. */
  readonly wereWhole: boolean;
}

interface Scope {
  readonly namespace: string;
  readonly workload: TargetRef;
  readonly pods: readonly Pod[];
}

/** The series of the namespace, and those without that label. Other series do not count. */
interface Candidates {
  readonly labeled: NamespaceSeries | undefined;
  readonly unlabeled: NamespaceSeries | undefined;
}

interface Kept extends Candidates {
  readonly namespace: string;
  readonly picked: PickedSeries;
  pods: readonly Pod[];
  layout: SeriesLayout;
  /** Kept for the next answer; null: it can do without. */
  index: PodIndex | null;
}

const kept = new WeakMap<MetricSpec, Kept>();

/**
 * Returns the series of the listed pods. In most rounds the pods and their series are those of the last one, although
 * other workloads in the same answer have changed.
 */
export function pickSeries(metric: MetricSpec, columns: SeriesColumns, scope: Scope): PickedSeries {
  const { layout } = columns;
  const { namespace, workload, pods } = scope;
  const last = kept.get(metric);
  if (last !== undefined && last.namespace === namespace && haveSameNames(last.pods, pods)) {
    last.pods = pods;
    if (last.layout === layout) return last.picked;
    const index = layout.podIndex();
    if (last.index !== null && areSame(last, candidatesOf(index, namespace))) {
      last.layout = layout;
      last.index = index;
      return last.picked;
    }
  }
  const index = layout.podIndex();
  const candidates = candidatesOf(index, namespace);
  const picked = pickNow(metric, columns, { index, candidates, workload, pods });
  const isIndexKept = picked.selected === null && !picked.wereWhole;
  kept.set(metric, { ...candidates, namespace, picked, pods, layout, index: isIndexKept ? index : null });
  return picked;
}

/** Returns the values of picked series. */
export function valuesAt(picked: PickedSeries, { layout, values }: SeriesColumns): readonly number[] {
  const { places, selected, wereWhole } = picked;
  if (wereWhole && places.length === layout.count) return values;
  if (selected !== null) return places.map((row) => values[row] ?? NaN);
  const index = layout.podIndex();
  return places.map((slot) => values[index.rowOf(slot)] ?? NaN);
}

function haveSameNames(some: readonly Pod[], others: readonly Pod[]): boolean {
  if (some === others) return true;
  return some.length === others.length && some.every(({ name }, index) => name === others[index]?.name);
}

function candidatesOf({ namespaces }: PodIndex, namespace: string): Candidates {
  return { labeled: namespaces.get(namespace), unlabeled: namespaces.get(null) };
}

function areSame(some: Candidates, others: Candidates): boolean {
  return some.labeled === others.labeled && some.unlabeled === others.unlabeled;
}

function pickNow(
  metric: MetricSpec,
  columns: SeriesColumns,
  scope: Omit<Scope, 'namespace'> & { readonly index: PodIndex; readonly candidates: Candidates },
): PickedSeries {
  const { index, workload, pods } = scope;
  const pattern = metric.type === 'Pods' && isByPod(metric.query) ? wholePattern(workload) : null;
  const container = metric.type === 'ContainerResource' ? metric.container : null;
  const selected = metric.type === 'Pods' ? selectRows(columns, metric.selector) : null;
  const seriesOf = finder(scope.candidates, index, selected);
  const places: number[] = [];
  const names: string[] = [];
  const starts: number[] = [];
  const containers: string[] = [];
  let isDistinct = true;
  let isInOrder = true;
  for (const { name } of pods) {
    if (pattern !== null && !pattern.test(name)) continue;
    const start = places.length;
    for (const series of seriesOf(name)) {
      if (container !== null && series.container !== container) continue;
      const row = index.rowOf(series.slot);
      isInOrder &&= row === places.length;
      places.push(selected === null ? series.slot : row);
      containers.push(series.container);
    }
    if (places.length === start) continue;
    names.push(name);
    starts.push(start);
    isDistinct &&=
      metric.type === 'Pods' ? places.length === start + 1 : areDistinct(containers.slice(start));
  }
  starts.push(places.length);
  return {
    places,
    parts: { pods: names, starts, containers },
    selected: selected?.length ?? null,
    isPodMissing: seriesOf(null).length > 0,
    isDistinct,
    wereWhole: isInOrder && places.length === columns.layout.count,
  };
}

/**
 * The query may contain several workloads, but only series that a query for this one would return count: a decision must
 * not depend on other documents.
 */
function wholePattern({ kind, name }: TargetRef): RegExp {
  return new RegExp(`^(?:${podsPattern(kind, name)})$`);
}

/** A series without `container` is the whole pod. Other series next to it would count its usage twice. */
function areDistinct(containers: readonly string[]): boolean {
  return (
    containers.length === 1 || (!containers.includes('') && new Set(containers).size === containers.length)
  );
}

const NO_SERIES: readonly PodSeries[] = [];

/** Returns a function that finds the series of a pod; null: those without that label. `selected`: only these rows. */
function finder(
  { labeled, unlabeled }: Candidates,
  index: PodIndex,
  selected: readonly number[] | null,
): (pod: string | null) => readonly PodSeries[] {
  const rows = selected === null ? null : new Set(selected);
  return (pod) => {
    const some = labeled?.pods.get(pod) ?? NO_SERIES;
    const others = unlabeled?.pods.get(pod) ?? NO_SERIES;
    const all = others.length === 0 ? some : [...some, ...others];
    return rows === null ? all : all.filter(({ slot }) => rows.has(index.rowOf(slot)));
  };
}
