import { type Labels, labelIn } from './series.js';

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
