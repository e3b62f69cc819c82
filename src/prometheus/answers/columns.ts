import { isFulfilled } from '../../scaler/label-requirement.js';
import type { LabelRequirement, LabelSelector } from '../../scaler/spec.js';

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

export function labelIn(labels: Labels, name: string): string | undefined {
  const value = Object.hasOwn(labels, name) ? labels[name] : undefined;
  return value === '' ? undefined : value;
}

/** `container` is '' without that label. */
export interface PodSeries {
  readonly row: number;
  readonly container: string;
}

/** The series of each pod, in the order of their rows; null: without the label `pod`. */
export interface NamespaceSeries {
  readonly pods: ReadonlyMap<string | null, readonly PodSeries[]>;
  /** Number of series. */
  readonly count: number;
}

/** The labels of the series of an answer. Answers with the same layout have the same labels in the same order. */
export class SeriesLayout {
  readonly count: number;
  readonly #readLabels: () => readonly Labels[];
  #namespaces: ReadonlyMap<string | null, NamespaceSeries> | null = null;

  constructor(count: number, readLabels: () => readonly Labels[]) {
    this.count = count;
    this.#readLabels = readLabels;
  }

  /** Each call parses them again: they take four times the memory of their text. */
  readLabels(): readonly Labels[] {
    return this.#readLabels();
  }

  /** The series of each namespace; null: without that label. */
  get namespaces(): ReadonlyMap<string | null, NamespaceSeries> {
    return (this.#namespaces ??= indexPods(this.readLabels()));
  }
}

/** A layout as the bytes that the server has sent, to compare the next answer with. */
export class SentLayout extends SeriesLayout {
  /** Objects with strings, each followed by a comma. */
  readonly bytes: Buffer;
  /** Where each object ends in `bytes`. */
  readonly ends: Int32Array;
  /** The number of labels. */
  readonly items: number;

  constructor(bytes: Buffer, ends: Int32Array, items: number) {
    super(ends.length, () => {
      const list = bytes.toString('utf8', 0, ends.at(-1) ?? 0);
      // The bytes have been checked: objects with strings.
      return JSON.parse(`[${list}]`) as readonly Labels[];
    });
    this.bytes = bytes;
    this.ends = ends;
    this.items = items;
  }
}

function indexPods(all: readonly Labels[]): ReadonlyMap<string | null, NamespaceSeries> {
  const namespaces = new Map<string | null, { pods: Map<string | null, PodSeries[]>; count: number }>();
  /** Series share the few names that containers have. */
  const containers = new Map<string, string>();
  for (const [row, labels] of all.entries()) {
    const namespace = labelIn(labels, 'namespace') ?? null;
    const pod = labelIn(labels, 'pod') ?? null;
    const name = labelIn(labels, 'container') ?? '';
    let series = namespaces.get(namespace);
    if (series === undefined) namespaces.set(namespace, (series = { pods: new Map(), count: 0 }));
    let container = containers.get(name);
    if (container === undefined) containers.set(name, (container = name));
    const known = series.pods.get(pod);
    if (known === undefined) series.pods.set(pod, [{ row, container }]);
    else known.push({ row, container });
    series.count += 1;
  }
  return namespaces;
}

/** The series of an answer as rows: a value for each, and the labels that answers share. */
export class SeriesColumns {
  readonly layout: SeriesLayout;
  readonly values: readonly number[];
  #labels: readonly Labels[] | null = null;
  #series: readonly Series[] | null = null;
  #byLabel: Map<string, ReadonlyMap<string, readonly number[]>> | null = null;

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

  /** Rows by the value of a label. Rows without it are in no group. */
  byLabel(name: string): ReadonlyMap<string, readonly number[]> {
    this.#byLabel ??= new Map();
    let rows = this.#byLabel.get(name);
    if (rows === undefined) this.#byLabel.set(name, (rows = groupByLabel(this.labels, name)));
    return rows;
  }
}

const known = new WeakMap<readonly Series[], SeriesColumns>();

/** Returns the columns of an answer, of which there is one for each list of series. */
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

function groupByLabel(all: readonly Labels[], name: string): ReadonlyMap<string, readonly number[]> {
  const groups = new Map<string, number[]>();
  for (const [row, labels] of all.entries()) {
    const value = labelIn(labels, name);
    if (value === undefined) continue;
    const group = groups.get(value);
    if (group === undefined) groups.set(value, [row]);
    else group.push(row);
  }
  return groups;
}

/** Returns the series that meet all requirements, or the same array if there are no requirements. */
export function selectSeries(series: readonly Series[], selector: LabelSelector): readonly Series[] {
  const rows = selectRows(columnsOf({ series }), selector);
  return rows === null ? series : rows.map((row) => series[row]).filter((one) => one !== undefined);
}

/**
 * Returns the rows that meet all requirements; null: there are no requirements. Starts with the requirement that keeps
 * the fewest rows.
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

/** All scalers that use an answer share its index. */
function rowsOf(columns: SeriesColumns, { key, values }: LabelRequirement): readonly number[] {
  const index = columns.byLabel(key);
  const [value] = values;
  if (value !== undefined && values.length === 1) return index.get(value) ?? NO_ROWS;
  return Array.from(new Set(values)).flatMap((each) => index.get(each) ?? []);
}

const NO_ROWS: readonly number[] = [];
