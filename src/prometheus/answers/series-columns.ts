import { type Labels, labelIn, type Series } from './series.js';
import { KnownLayout, type SeriesLayout } from './series-layout.js';

/** Rows by namespace, then by pod; null: no such label. */
export type PodRows = ReadonlyMap<string | null, ReadonlyMap<string | null, readonly number[]>>;

/** The series of an answer as rows: a value for each, and the labels that answers share. */
export class SeriesColumns {
  readonly layout: SeriesLayout;
  readonly values: readonly number[];
  #labels: readonly Labels[] | null = null;
  #series: readonly Series[] | null = null;
  #byPod: Map<readonly number[], PodRows> | null = null;
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

  /**
   * Returns the rows by their labels `namespace` and `pod`; `rows`: only these. Built once for all scalers that use the
   * answer: otherwise each of 1,000 scalers would look through 5,000 rows.
   */
  byPod(rows: readonly number[] | null = null): PodRows {
    const key = rows ?? ALL_ROWS;
    this.#byPod ??= new Map();
    let index = this.#byPod.get(key);
    if (index === undefined) this.#byPod.set(key, (index = groupByPod(this.labels, rows)));
    return index;
  }

  /** Rows by the value of a label. Rows without it are in no group. */
  byLabel(name: string): ReadonlyMap<string, readonly number[]> {
    this.#byLabel ??= new Map();
    let rows = this.#byLabel.get(name);
    if (rows === undefined) this.#byLabel.set(name, (rows = groupByLabel(this.labels, name)));
    return rows;
  }
}

/** Stands for all rows in an index. */
const ALL_ROWS: readonly number[] = [];

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
    known.set(series, (columns = new SeriesColumns(new KnownLayout(series), values)));
  }
  return columns;
}

function groupByPod(all: readonly Labels[], rows: readonly number[] | null): PodRows {
  const index = new Map<string | null, Map<string | null, number[]>>();
  for (const row of rows ?? all.keys()) {
    const labels = all[row] ?? {};
    const namespace = labelIn(labels, 'namespace') ?? null;
    let pods = index.get(namespace);
    if (pods === undefined) index.set(namespace, (pods = new Map<string | null, number[]>()));
    append(pods, labelIn(labels, 'pod') ?? null, row);
  }
  return index;
}

function groupByLabel(all: readonly Labels[], name: string): ReadonlyMap<string, readonly number[]> {
  const groups = new Map<string, number[]>();
  for (const [row, labels] of all.entries()) {
    const value = labelIn(labels, name);
    if (value !== undefined) append(groups, value, row);
  }
  return groups;
}

function append<K>(groups: Map<K, number[]>, key: K, row: number): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [row]);
  else group.push(row);
}
