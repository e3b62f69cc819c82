import { isFulfilled } from '../../scaler/label-requirement.js';
import type { LabelRequirement, LabelSelector } from '../../scaler/spec.js';
import type { Clock } from '../../units/clock.js';
import { groupBy } from '../../units/maps.js';

/** One element of an instant vector. The value may be NaN or infinite; samples.ts decides whether it is usable. */
export interface Series {
  readonly labels: Labels;
  readonly value: number;
}

export type Labels = Readonly<Record<string, string>>;

/** As in Prometheus, an empty label counts as absent. */
export function labelOf({ labels }: Pick<Series, 'labels'>, name: string): string | undefined {
  return labelIn(labels, name);
}

function labelIn(labels: Labels, name: string): string | undefined {
  const value = Object.hasOwn(labels, name) ? labels[name] : undefined;
  return value === '' ? undefined : value;
}

export interface NamespaceSeries {
  /** Maps each pod to its rows in ascending order. The key null is for rows without the label `pod`. */
  readonly pods: ReadonlyMap<string | null, readonly number[]>;
  readonly count: number;
}

interface PodIndex {
  /** Maps each namespace to its series. The key null is for series without the label `namespace`. */
  readonly namespaces: ReadonlyMap<string | null, NamespaceSeries>;
  /** The container of each row; '': the label is absent. */
  readonly containers: readonly string[];
}

/** The labels of an answer's series. Answers share a layout if they have the same labels in the same order. */
export class SeriesLayout {
  readonly count: number;
  readonly #readLabels: () => readonly Labels[];
  #index: PodIndex | null = null;

  constructor(count: number, readLabels: () => readonly Labels[]) {
    this.count = count;
    this.#readLabels = readLabels;
  }

  /** Parses the labels on each call, because parsed labels take four times the memory of their text. */
  readLabels(): readonly Labels[] {
    return this.#readLabels();
  }

  /** Created at the first call. */
  get index(): PodIndex {
    return (this.#index ??= indexPods(this.readLabels()));
  }
}

/** A layout that keeps its labels as the bytes that were sent, so that the next answer can be compared. */
export class SentLayout extends SeriesLayout {
  /** The labels of each row as a JSON object of strings, followed by a comma. */
  readonly bytes: Buffer;
  /** For each row, the position in `bytes` where its object ends. */
  readonly ends: Int32Array;
  readonly counts: Uint32Array;

  constructor(bytes: Buffer, ends: Int32Array, counts: Uint32Array) {
    super(ends.length, () => parseLabels(bytes.toString('utf8', 0, ends.at(-1) ?? 0)));
    this.bytes = bytes;
    this.ends = ends;
    this.counts = counts;
  }
}

/** The cast is safe, because the bytes were checked to be JSON objects of strings when the answer was read. */
function parseLabels(list: string): readonly Labels[] {
  return JSON.parse(`[${list}]`) as readonly Labels[];
}

function indexPods(all: readonly Labels[]): PodIndex {
  const namespaces = new Map<string | null, { pods: Map<string | null, number[]>; count: number }>();
  for (const [row, labels] of all.entries()) {
    const namespace = labelIn(labels, 'namespace') ?? null;
    const pod = labelIn(labels, 'pod') ?? null;
    let series = namespaces.get(namespace);
    if (series === undefined) namespaces.set(namespace, (series = { pods: new Map(), count: 0 }));
    const rows = series.pods.get(pod);
    if (rows === undefined) series.pods.set(pod, [row]);
    else rows.push(row);
    series.count += 1;
  }
  return { namespaces, containers: all.map((labels) => labelIn(labels, 'container') ?? '') };
}

type RowsByValue = ReadonlyMap<string | undefined, readonly number[]>;

/** The series of an answer as rows: a value for each row, and labels that answers of the same layout share. */
export class SeriesColumns {
  readonly layout: SeriesLayout;
  readonly values: readonly number[];
  #labels: readonly Labels[] | null = null;
  #series: readonly Series[] | null = null;
  #byLabel: Map<string, RowsByValue> | null = null;

  constructor(layout: SeriesLayout, values: readonly number[]) {
    this.layout = layout;
    this.values = values;
  }

  get labels(): readonly Labels[] {
    return (this.#labels ??= this.layout.readLabels());
  }

  get series(): readonly Series[] {
    const { values } = this;
    return (this.#series ??= this.labels.map((labels, row) => ({ labels, value: values[row] ?? NaN })));
  }

  /** Maps each value of a label to its rows. The key undefined is for rows without the label. */
  byLabel(name: string): RowsByValue {
    this.#byLabel ??= new Map();
    let rows = this.#byLabel.get(name);
    if (rows === undefined) {
      const { labels } = this;
      rows = groupBy(labels.keys(), (row) => labelIn(labels[row] ?? {}, name));
      this.#byLabel.set(name, rows);
    }
    return rows;
  }
}

const known = new WeakMap<readonly Series[], SeriesColumns>();

/** Returns the columns of an answer. They are created only once for each list of series. */
export function columnsOf(answer: {
  readonly series: readonly Series[];
  readonly columns?: SeriesColumns | undefined;
}): SeriesColumns {
  if (answer.columns !== undefined) return answer.columns;
  const { series } = answer;
  let columns = known.get(series);
  if (columns === undefined) {
    const values = series.map(({ value }) => value);
    const layout = new SeriesLayout(series.length, () => series.map(({ labels }) => labels));
    known.set(series, (columns = new SeriesColumns(layout, values)));
  }
  return columns;
}

/** Returns the series that meet all requirements, or the same array if there are no requirements. */
export function selectSeries(series: readonly Series[], selector: LabelSelector): readonly Series[] {
  const rows = selectRows(columnsOf({ series }), selector);
  return rows === null ? series : rows.map((row) => series[row]).filter((one) => one !== undefined);
}

/**
 * Returns the rows that meet all requirements; null: there are no requirements. The requirement that keeps the fewest
 * rows is applied first.
 */
export function selectRows(columns: SeriesColumns, selector: LabelSelector): readonly number[] | null {
  if (selector.length === 0) return null;
  let candidates: readonly number[] | null = null;
  let chosen: LabelRequirement | null = null;
  for (const requirement of selector) {
    if (requirement.operator !== 'In') continue;
    const some = rowsOf(columns, requirement);
    if (candidates !== null && some.length >= candidates.length) continue;
    candidates = some;
    chosen = requirement;
  }
  const rest = selector.filter((requirement) => requirement !== chosen);
  if (candidates !== null && rest.length === 0) return candidates;
  const { labels } = columns;
  return (candidates ?? Array.from(labels.keys())).filter((row) =>
    rest.every((each) => isFulfilled(each, labelIn(labels[row] ?? {}, each.key))),
  );
}

/** Uses the index of the columns, which all scalers that use the answer share. */
function rowsOf(columns: SeriesColumns, { key, values }: LabelRequirement): readonly number[] {
  const index = columns.byLabel(key);
  const [value] = values;
  if (value !== undefined && values.length === 1) return index.get(value) ?? NO_ROWS;
  return Array.from(new Set(values)).flatMap((each) => index.get(each) ?? []);
}

const NO_ROWS: readonly number[] = [];

/** Limits the memory for the labels of all queries. The labels of 100,000 pods take 12 MB. */
const MAX_BYTES = 64 * 1024 * 1024;
/**
 * Labels that were not used for this time are dropped, so that the labels of deleted documents take no memory. Queries
 * that are sent less often parse their labels each time, which costs little.
 */
const KEEP_MS = 120_000;

/**
 * Keeps the labels of the last answer to each query of one URL, because the next answer nearly always has the same
 * labels. Reading 100,000 series then takes 55 ms of CPU instead of 140 ms, and `pickSeries` finds its last result. At
 * the memory limit, the labels that were kept first stay: otherwise each query would replace the labels of another
 * query in each round.
 */
export class KeptLayouts {
  /** Least recently kept first. */
  readonly #kept = new Map<string, { readonly layout: SentLayout; readonly atMs: number }>();
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #bytes = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Returns the labels of the last answer to the query; null: they are not kept. */
  of(query: string): SentLayout | null {
    return this.#kept.get(query)?.layout ?? null;
  }

  /** Replaces the labels of the query; null: removes them. */
  keep(query: string, layout: SentLayout | null): void {
    const nowMs = this.#clock.monotonicMs();
    this.#remove(query);
    for (const [text, { atMs }] of this.#kept) {
      if (nowMs - atMs <= KEEP_MS) break;
      this.#remove(text);
    }
    if (layout === null || this.#bytes + sizeOf(layout) > MAX_BYTES) return;
    this.#kept.set(query, { layout, atMs: nowMs });
    this.#bytes += sizeOf(layout);
  }

  #remove(query: string): void {
    const kept = this.#kept.get(query);
    if (kept === undefined) return;
    this.#kept.delete(query);
    this.#bytes -= sizeOf(kept.layout);
  }
}

/** Includes a fixed size for the entry, so that answers without series are limited, too. */
function sizeOf({ bytes, ends }: SentLayout): number {
  return 200 + bytes.length + ends.byteLength;
}
