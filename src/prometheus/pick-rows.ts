import type { PodParts } from '../decision/samples/named-values.js';
import type { Pod } from '../decision/snapshot/snapshot.js';
import type { LabelSelector, MetricSpec } from '../scaler/spec.js';
import { selectRows } from './answers/series-index.js';
import { labelIn } from './answers/series.js';
import type { SeriesColumns } from './answers/series-columns.js';
import type { SeriesLayout } from './answers/series-layout.js';

/** Which rows of an answer belong to the pods of a scaler, pod by pod. `parts.containers` is '' without that label. */
export interface PickedRows {
  readonly rows: readonly number[];
  readonly parts: PodParts;
  /** Rows that the selector of the metric keeps, of any pod. */
  readonly selected: number;
  readonly isPodMissing: boolean;
  /** Whether no two rows count for the same pod, or for the same container of a pod. */
  readonly isDistinct: boolean;
  /** Whether these are all rows of the answer, in its order. */
  readonly isWhole: boolean;
}

interface Place {
  readonly namespace: string;
  readonly pods: readonly Pod[];
}

interface Kept extends Place {
  readonly layout: SeriesLayout;
  readonly picked: PickedRows;
}

const kept = new WeakMap<MetricSpec, Kept>();

/**
 * Returns the rows of the listed pods. In most rounds the labels and the pods are those of the last one, and so are the
 * rows. `container`: only rows of that container; null: all.
 */
export function pickRows(metric: MetricSpec, columns: SeriesColumns, { namespace, pods }: Place): PickedRows {
  const last = kept.get(metric);
  const isKept = last?.layout === columns.layout && last.namespace === namespace;
  if (isKept && (last.pods === pods || haveSameNames(last.pods, pods))) {
    if (last.pods !== pods) kept.set(metric, { ...last, pods });
    return last.picked;
  }
  const picked = pickNow(metric, columns, { namespace, pods });
  kept.set(metric, { layout: columns.layout, namespace, pods, picked });
  return picked;
}

function haveSameNames(some: readonly Pod[], others: readonly Pod[]): boolean {
  return some.length === others.length && some.every(({ name }, index) => name === others[index]?.name);
}

function pickNow(metric: MetricSpec, columns: SeriesColumns, { namespace, pods }: Place): PickedRows {
  const container = metric.type === 'ContainerResource' ? metric.container : null;
  const find = finder(columns, namespace, metric.type === 'Pods' ? metric.selector : NO_SELECTOR);
  const rows: number[] = [];
  const names: string[] = [];
  const starts: number[] = [];
  const containers: string[] = [];
  let isDistinct = true;
  for (const { name } of pods) {
    const start = rows.length;
    for (const row of find.rowsOf(name)) {
      const of = labelIn(columns.labels[row] ?? {}, 'container') ?? '';
      if (container !== null && of !== container) continue;
      rows.push(row);
      containers.push(of);
    }
    if (rows.length === start) continue;
    names.push(name);
    starts.push(start);
    isDistinct &&= metric.type === 'Pods' ? rows.length === start + 1 : areDistinct(containers.slice(start));
  }
  starts.push(rows.length);
  return {
    rows,
    parts: { pods: names, starts, containers },
    selected: find.selected,
    isPodMissing: find.isPodMissing,
    isDistinct,
    isWhole: rows.length === columns.values.length && rows.every((row, index) => row === index),
  };
}

const NO_SELECTOR: LabelSelector = [];
const NO_ROWS: readonly number[] = [];

/** A series without `container` is the whole pod. Other series next to it would count its usage twice. */
function areDistinct(containers: readonly string[]): boolean {
  return (
    containers.length === 1 || (!containers.includes('') && new Set(containers).size === containers.length)
  );
}

interface RowFinder {
  readonly selected: number;
  readonly isPodMissing: boolean;
  readonly rowsOf: (pod: string) => readonly number[];
}

/** Only rows of the namespace count, and rows without that label. */
function finder(columns: SeriesColumns, namespace: string, selector: LabelSelector): RowFinder {
  const selected = selectRows(columns, selector);
  const index = columns.byPod(selected);
  const labeled = index.get(namespace);
  const unlabeled = index.get(null);
  return {
    selected: selected?.length ?? columns.values.length,
    isPodMissing: labeled?.has(null) === true || unlabeled?.has(null) === true,
    rowsOf: (pod) => {
      const some = labeled?.get(pod) ?? NO_ROWS;
      const others = unlabeled?.get(pod) ?? NO_ROWS;
      return others.length === 0 ? some : [...some, ...others];
    },
  };
}
