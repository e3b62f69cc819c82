import { type Labels, labelIn } from './series.js';

/** A series of a pod. `container` is '' without that label. */
export interface PodSeries {
  /** A number that the series keeps while others come and go. */
  readonly slot: number;
  readonly container: string;
}

/**
 * The series of a namespace by their label `pod`, in the order of their rows; null: no such label. Another object if a
 * series has come or gone, so what was derived from this one is valid as long as an index has it.
 */
export interface NamespaceSeries {
  readonly pods: ReadonlyMap<string | null, readonly PodSeries[]>;
  /** Number of series. */
  readonly count: number;
}

/** `removed` rows from row `from` are replaced by `added` rows. */
export interface RowSplice {
  readonly from: number;
  readonly removed: number;
  readonly added: number;
}

type Namespaces = ReadonlyMap<string | null, NamespaceSeries>;

/** Which series an answer has for each pod. Never changes. */
export class PodIndex {
  /** Null: without the label `namespace`. */
  readonly namespaces: Namespaces;
  readonly #count: number;
  /** The row of each slot, -1 for a free slot; null: each slot is its row. */
  readonly #rows: Int32Array | null;

  constructor(namespaces: Namespaces, count: number, rows: Int32Array | null = null) {
    this.namespaces = namespaces;
    this.#count = count;
    this.#rows = rows;
  }

  rowOf(slot: number): number {
    return this.#rows === null ? slot : (this.#rows[slot] ?? -1);
  }

  /**
   * Returns the index after splices, in ascending order. It shares the namespaces whose series are the same. The
   * functions return the labels of a row before and after.
   */
  spliced(
    splices: readonly RowSplice[],
    labelsBefore: (row: number) => Labels,
    labelsAfter: (row: number) => Labels,
  ): PodIndex {
    const draft = createDraft(this.namespaces);
    const { slots: before, free } = this.#slots();
    const count = splices.reduce((sum, { removed, added }) => sum + added - removed, this.#count);
    const after = new Int32Array(count);
    let next = 0;
    let to = 0;
    for (const { from, removed, added } of splices) {
      after.set(before.subarray(next, from), to);
      to += from - next + added;
      next = from + removed;
      for (let row = from; row < next; row += 1) {
        const slot = before[row] ?? 0;
        draft.remove(labelsBefore(row), slot);
        free.push(slot);
      }
    }
    after.set(before.subarray(next), to);
    let slotCount = before.length + free.length - splices.reduce((sum, { removed }) => sum + removed, 0);
    let shift = 0;
    for (const { from, removed, added } of splices) {
      for (let row = from + shift; row < from + shift + added; row += 1) {
        const slot = free.pop() ?? slotCount++;
        after[row] = slot;
        draft.add(labelsAfter(row), slot);
      }
      shift += added - removed;
    }
    const rows = new Int32Array(slotCount).fill(-1);
    for (let row = 0; row < count; row += 1) rows[after[row] ?? 0] = row;
    return new PodIndex(draft.finish(rows), count, rows);
  }

  /** The slot of each row, and those of none. */
  #slots(): { readonly slots: Int32Array; readonly free: number[] } {
    const rows = this.#rows ?? Int32Array.from({ length: this.#count }, (_, row) => row);
    const slots = new Int32Array(this.#count);
    const free: number[] = [];
    for (let slot = 0; slot < rows.length; slot += 1) {
      const row = rows[slot] ?? -1;
      if (row === -1) free.push(slot);
      else slots[row] = slot;
    }
    return { slots, free };
  }
}

export function indexPods(all: readonly Labels[]): PodIndex {
  const namespaces = new Map<string | null, Map<string | null, PodSeries[]>>();
  /** Series share the few names that containers have. */
  const containers = new Map<string, string>();
  for (const [slot, labels] of all.entries()) {
    const { namespace, pod, container } = placeOf(labels);
    let pods = namespaces.get(namespace);
    if (pods === undefined) namespaces.set(namespace, (pods = new Map<string | null, PodSeries[]>()));
    let name = containers.get(container);
    if (name === undefined) containers.set(container, (name = container));
    const series = { slot, container: name };
    const known = pods.get(pod);
    if (known === undefined) pods.set(pod, [series]);
    else known.push(series);
  }
  return new PodIndex(
    new Map(Array.from(namespaces, ([namespace, pods]) => [namespace, counted(pods)])),
    all.length,
  );
}

interface Draft {
  readonly remove: (labels: Labels, slot: number) => void;
  readonly add: (labels: Labels, slot: number) => void;
  /** `rows`: the row of each slot. */
  readonly finish: (rows: Int32Array) => Namespaces;
}

/** Copies the namespaces that change. */
function createDraft(before: Namespaces): Draft {
  const changed = new Map<string | null, Map<string | null, readonly PodSeries[]>>();
  const unsorted: PodSeries[][] = [];
  const podsOf = (namespace: string | null): Map<string | null, readonly PodSeries[]> => {
    let pods = changed.get(namespace);
    if (pods === undefined) changed.set(namespace, (pods = new Map(before.get(namespace)?.pods)));
    return pods;
  };
  return {
    remove: (labels, slot) => {
      const { namespace, pod } = placeOf(labels);
      const pods = podsOf(namespace);
      const rest = (pods.get(pod) ?? []).filter((series) => series.slot !== slot);
      if (rest.length === 0) pods.delete(pod);
      else pods.set(pod, rest);
    },
    add: (labels, slot) => {
      const { namespace, pod, container } = placeOf(labels);
      const pods = podsOf(namespace);
      const series = [...(pods.get(pod) ?? []), { slot, container }];
      pods.set(pod, series);
      unsorted.push(series);
    },
    finish: (rows) => {
      for (const series of unsorted) series.sort((a, b) => (rows[a.slot] ?? 0) - (rows[b.slot] ?? 0));
      const namespaces = new Map(before);
      for (const [namespace, pods] of changed)
        if (pods.size === 0) namespaces.delete(namespace);
        else namespaces.set(namespace, counted(pods));
      return namespaces;
    },
  };
}

function counted(pods: NamespaceSeries['pods']): NamespaceSeries {
  let count = 0;
  for (const { length } of pods.values()) count += length;
  return { pods, count };
}

function placeOf(labels: Labels): {
  readonly namespace: string | null;
  readonly pod: string | null;
  readonly container: string;
} {
  return {
    namespace: labelIn(labels, 'namespace') ?? null,
    pod: labelIn(labels, 'pod') ?? null,
    container: labelIn(labels, 'container') ?? '',
  };
}
