import { type Labels, labelIn, type Series } from './series.js';
import { SeriesLayout } from './series-layout.js';

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
