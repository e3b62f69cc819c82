import type { ContainerUsage, Pod } from '../decision/snapshot/snapshot.js';
import { isByPod } from '../promql/by-pod.js';
import { podsPattern } from '../promql/pods-pattern.js';
import { largestWrittenRangeSeconds } from '../promql/ranges.js';
import type { MetricSpec, TargetRef } from '../scaler/spec.js';
import { RecentMap } from '../units/recent-map.js';
import type { Instant } from '../units/time.js';
import { selectRows, type SeriesColumns, type SeriesLayout } from './answers/columns.js';

/** The series of an answer that belong to the pods of a scaler, ordered by pod. */
export interface PickedSeries {
  readonly rows: readonly number[];
  readonly places: Omit<ContainerUsage, 'values'>;
  /** Whether the metric has a selector that matches no series. */
  readonly isNoneSelected: boolean;
  readonly isPodMissing: boolean;
  /** Whether each pod, or each container of a pod, has only one series. */
  readonly isDistinct: boolean;
  /** The largest range in the query of a Pods metric, in seconds; 0 for other metrics. */
  readonly windowSeconds: number;
}

/** The pods of a scaler, whose series are picked. */
export interface SeriesScope {
  readonly namespace: string;
  readonly workload: TargetRef;
  readonly pods: readonly Pod[];
  readonly now: Instant;
}

interface LastPicked {
  readonly namespace: string;
  pods: readonly Pod[];
  readonly layout: SeriesLayout;
  readonly picked: PickedSeries;
}

const lastPicked = new RecentMap<MetricSpec, LastPicked>();

/**
 * Returns the series of the listed pods in the namespace of the scaler, or without a label `namespace`. Caches the last
 * result, because the series are the same in most rounds: for 10,000 scalers with 10 metrics and 3 pods, picking took
 * 400 ms of CPU without the cache, and 10 ms with it.
 */
export function pickSeries(metric: MetricSpec, columns: SeriesColumns, scope: SeriesScope): PickedSeries {
  const { layout } = columns;
  const { namespace, pods, now } = scope;
  const last = lastPicked.get(metric, now);
  if (last?.layout === layout && last.namespace === namespace && haveSameNames(last.pods, pods)) {
    // Keeps the new list of pods, so that the old one can be freed.
    last.pods = pods;
    return last.picked;
  }
  const windowSeconds =
    last?.picked.windowSeconds ?? (metric.type === 'Pods' ? largestWrittenRangeSeconds(metric.query) : 0);
  const picked = { ...pickNow(metric, columns, scope), windowSeconds };
  lastPicked.set(metric, { namespace, pods, layout, picked }, now);
  return picked;
}

function haveSameNames(some: readonly Pod[], others: readonly Pod[]): boolean {
  if (some === others) return true;
  return some.length === others.length && some.every(({ name }, index) => name === others[index]?.name);
}

function pickNow(
  metric: MetricSpec,
  columns: SeriesColumns,
  scope: SeriesScope,
): Omit<PickedSeries, 'windowSeconds'> {
  const { namespace, workload, pods } = scope;
  const pattern = metric.type === 'Pods' && isByPod(metric.query) ? wholePattern(workload) : null;
  const container = metric.type === 'ContainerResource' ? metric.container : null;
  const selected = metric.type === 'Pods' ? selectRows(columns, metric.selector) : null;
  const { layout } = columns;
  const rowsOf = finder(layout, namespace, selected);
  const rows: number[] = [];
  const names: string[] = [];
  const starts: number[] = [];
  const containers: string[] = [];
  let isDistinct = true;
  for (const { name } of pods) {
    if (pattern !== null && !pattern.test(name)) continue;
    const start = rows.length;
    for (const row of rowsOf(name)) {
      const label = layout.index.containers[row] ?? '';
      if (container !== null && label !== container) continue;
      rows.push(row);
      containers.push(label);
    }
    if (rows.length === start) continue;
    names.push(name);
    starts.push(start);
    isDistinct &&= metric.type === 'Pods' ? rows.length === start + 1 : areDistinct(containers.slice(start));
  }
  starts.push(rows.length);
  return {
    rows,
    places: { pods: names, starts, containers },
    isNoneSelected: selected?.length === 0,
    isPodMissing: rowsOf(null).length > 0,
    isDistinct,
  };
}

/**
 * Matches the pods of one workload. The query is merged for many workloads: a pod with another name would only have a
 * series if another document covered it.
 */
function wholePattern({ kind, name }: TargetRef): RegExp {
  return new RegExp(`^(?:${podsPattern(kind, name)})$`);
}

/** Returns whether no usage is counted twice: a series without `container` contains the usage of the whole pod. */
function areDistinct(containers: readonly string[]): boolean {
  return (
    containers.length === 1 || (!containers.includes('') && new Set(containers).size === containers.length)
  );
}

const NO_ROWS: readonly number[] = [];

/**
 * Returns a function that finds the rows of a pod (null: rows without the label `pod`) in this namespace or without the
 * label `namespace`. `selected`: only these rows count; null: all rows count.
 */
function finder(
  { index: { namespaces } }: SeriesLayout,
  namespace: string,
  selected: readonly number[] | null,
): (pod: string | null) => readonly number[] {
  const labeled = namespaces.get(namespace)?.pods;
  const unlabeled = namespaces.get(null)?.pods;
  const chosen = selected === null ? null : new Set(selected);
  return (pod) => {
    const some = labeled?.get(pod) ?? NO_ROWS;
    const others = unlabeled?.get(pod) ?? NO_ROWS;
    const all = others.length === 0 ? some : [...some, ...others];
    return chosen === null ? all : all.filter((row) => chosen.has(row));
  };
}
