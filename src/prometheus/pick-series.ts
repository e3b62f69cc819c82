import type { ContainerUsage, Pod } from '../decision/snapshot/snapshot.js';
import { isByPod } from '../promql/by-pod.js';
import { podsPattern } from '../promql/pods-pattern.js';
import { largestWrittenRangeSeconds } from '../promql/ranges.js';
import type { MetricSpec, TargetRef } from '../scaler/spec.js';
import { RecentMap } from '../units/recent-map.js';
import type { Instant } from '../units/time.js';
import { selectRows } from './answers/series-index.js';
import type { SeriesColumns } from './answers/series-columns.js';
import type { PodSeries, SeriesLayout } from './answers/series-layout.js';

/** The series of an answer that belong to the pods of a scaler, pod by pod. */
export interface PickedSeries {
  readonly rows: readonly number[];
  readonly places: Omit<ContainerUsage, 'values'>;
  /** Whether the metric has a selector that no series fulfills. */
  readonly isNoneSelected: boolean;
  readonly isPodMissing: boolean;
  /** Whether no two series count for the same pod, or for the same container of a pod. */
  readonly isDistinct: boolean;
  /** The largest range in the query of a Pods metric; 0 for other metrics. */
  readonly windowSeconds: number;
}

interface Scope {
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

/** Returns the series of the listed pods. In most rounds they are those of the last one. */
export function pickSeries(metric: MetricSpec, columns: SeriesColumns, scope: Scope): PickedSeries {
  const { layout } = columns;
  const { namespace, pods, now } = scope;
  const last = lastPicked.get(metric, now);
  if (last?.layout === layout && last.namespace === namespace && haveSameNames(last.pods, pods)) {
    // The earlier list need not be kept for the next round.
    last.pods = pods;
    return last.picked;
  }
  const windowSeconds = last?.picked.windowSeconds ?? windowOf(metric);
  const picked = { ...pickNow(metric, columns, scope), windowSeconds };
  lastPicked.set(metric, { namespace, pods, layout, picked }, now);
  return picked;
}

function haveSameNames(some: readonly Pod[], others: readonly Pod[]): boolean {
  if (some === others) return true;
  return some.length === others.length && some.every(({ name }, index) => name === others[index]?.name);
}

function windowOf(metric: MetricSpec): number {
  return metric.type === 'Pods' ? largestWrittenRangeSeconds(metric.query) : 0;
}

function pickNow(
  metric: MetricSpec,
  columns: SeriesColumns,
  scope: Scope,
): Omit<PickedSeries, 'windowSeconds'> {
  const { namespace, workload, pods } = scope;
  const pattern = metric.type === 'Pods' && isByPod(metric.query) ? wholePattern(workload) : null;
  const container = metric.type === 'ContainerResource' ? metric.container : null;
  const selected = metric.type === 'Pods' ? selectRows(columns, metric.selector) : null;
  const seriesOf = finder(columns.layout, namespace, selected);
  const rows: number[] = [];
  const names: string[] = [];
  const starts: number[] = [];
  const containers: string[] = [];
  let isDistinct = true;
  for (const { name } of pods) {
    if (pattern !== null && !pattern.test(name)) continue;
    const start = rows.length;
    for (const series of seriesOf(name)) {
      if (container !== null && series.container !== container) continue;
      rows.push(series.row);
      containers.push(series.container);
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
    isPodMissing: seriesOf(null).length > 0,
    isDistinct,
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

/**
 * Returns a function that finds the series of a pod, with the namespace or without that label; null: those without the
 * label `pod`. `selected`: only these rows; null: all.
 */
function finder(
  { namespaces }: SeriesLayout,
  namespace: string,
  selected: readonly number[] | null,
): (pod: string | null) => readonly PodSeries[] {
  const labeled = namespaces.get(namespace)?.pods;
  const unlabeled = namespaces.get(null)?.pods;
  const rows = selected === null ? null : new Set(selected);
  return (pod) => {
    const some = labeled?.get(pod) ?? NO_SERIES;
    const others = unlabeled?.get(pod) ?? NO_SERIES;
    const all = others.length === 0 ? some : [...some, ...others];
    return rows === null ? all : all.filter(({ row }) => rows.has(row));
  };
}
