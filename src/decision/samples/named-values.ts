/**
 * A part of parallel lists as a map from name to value, for samples: a tenth of the memory of a `Map`, and the names are
 * shared by all samples with the same pods. Names are distinct, and the values have passed `judgeValues` without NaN.
 */
export class NamedValues implements ReadonlyMap<string, number> {
  readonly size: number;
  readonly #names: readonly string[];
  readonly #values: readonly number[];
  readonly #from: number;
  #next: number;

  constructor(names: readonly string[], values: readonly number[], from = 0, to = names.length) {
    this.#names = names;
    this.#values = values;
    this.#from = from;
    this.#next = from;
    this.size = to - from;
  }

  get(name: string): number | undefined {
    const index = this.#indexOf(name);
    return index === -1 ? undefined : this.#values[index];
  }

  has(name: string): boolean {
    return this.#indexOf(name) !== -1;
  }

  forEach(callback: (value: number, name: string, map: ReadonlyMap<string, number>) => void): void {
    for (const [name, value] of this) callback(value, name, this);
  }

  keys(): MapIterator<string> {
    return this.#part(this.#names).values();
  }

  values(): MapIterator<number> {
    return this.#part(this.#values).values();
  }

  *entries(): Generator<[string, number], undefined> {
    const end = this.#from + this.size;
    for (let index = this.#from; index < end; index += 1)
      yield [this.#names[index] ?? '', this.#values[index] ?? NaN];
    return undefined;
  }

  [Symbol.iterator](): MapIterator<[string, number]> {
    return this.entries();
  }

  /** Callers usually ask for the names in their order. */
  #indexOf(name: string): number {
    const end = this.#from + this.size;
    const names = this.#names;
    const next = this.#next < end ? this.#next : this.#from;
    if (next < end && names[next] === name) {
      this.#next = next + 1;
      return next;
    }
    // The index is that of the whole list, in which the name of a container is once for each pod.
    const isIndexed = this.size > MOST_SCANNED && this.size === names.length;
    const index = isIndexed ? (indexOf(names).get(name) ?? -1) : names.indexOf(name, this.#from);
    if (index < this.#from || index >= end) return -1;
    this.#next = index + 1;
    return index;
  }

  #part<T>(list: readonly T[]): readonly T[] {
    return this.size === list.length ? list : list.slice(this.#from, this.#from + this.size);
  }
}

/** A longer list is indexed for names that are asked for in another order, or are not in it. */
const MOST_SCANNED = 32;

const indexes = new WeakMap<readonly string[], ReadonlyMap<string, number>>();

function indexOf(names: readonly string[]): ReadonlyMap<string, number> {
  let index = indexes.get(names);
  if (index === undefined) indexes.set(names, (index = new Map(names.map((name, at) => [name, at]))));
  return index;
}

/** Where the values of each pod are in parallel lists. */
export interface PodParts {
  readonly pods: readonly string[];
  /** One more than `pods`: where the values of each start, and where the last ones end. */
  readonly starts: readonly number[];
  readonly containers: readonly string[];
}

/** Values by pod and container. */
export class NamedParts implements ReadonlyMap<string, ReadonlyMap<string, number>> {
  readonly size: number;
  readonly #parts: PodParts;
  readonly #values: readonly number[];
  #next = 0;

  constructor(parts: PodParts, values: readonly number[]) {
    this.#parts = parts;
    this.#values = values;
    this.size = parts.pods.length;
  }

  get(pod: string): ReadonlyMap<string, number> | undefined {
    const index = this.#indexOf(pod);
    return index === -1 ? undefined : this.#partOf(index);
  }

  has(pod: string): boolean {
    return this.#indexOf(pod) !== -1;
  }

  forEach(
    callback: (
      value: ReadonlyMap<string, number>,
      pod: string,
      map: ReadonlyMap<string, ReadonlyMap<string, number>>,
    ) => void,
  ): void {
    for (const [pod, value] of this) callback(value, pod, this);
  }

  keys(): MapIterator<string> {
    return this.#parts.pods.values();
  }

  /**
   * Passes the values of a pod, or of one container of it, to `use`; returns whether there are any. `get` would build a
   * map for each pod in each round.
   */
  each(pod: string, container: string | null, use: (value: number) => void): boolean {
    const index = this.#indexOf(pod);
    if (index === -1) return false;
    const { containers, starts } = this.#parts;
    const end = starts[index + 1] ?? 0;
    let hasValue = false;
    for (let at = starts[index] ?? 0; at < end; at += 1) {
      if (container !== null && containers[at] !== container) continue;
      use(this.#values[at] ?? NaN);
      hasValue = true;
    }
    return hasValue;
  }

  *values(): Generator<ReadonlyMap<string, number>, undefined> {
    for (let index = 0; index < this.size; index += 1) yield this.#partOf(index);
    return undefined;
  }

  *entries(): Generator<[string, ReadonlyMap<string, number>], undefined> {
    for (const [index, pod] of this.#parts.pods.entries()) yield [pod, this.#partOf(index)];
    return undefined;
  }

  [Symbol.iterator](): Generator<[string, ReadonlyMap<string, number>], undefined> {
    return this.entries();
  }

  #partOf(index: number): NamedValues {
    const { containers, starts } = this.#parts;
    return new NamedValues(containers, this.#values, starts[index], starts[index + 1]);
  }

  #indexOf(pod: string): number {
    const { pods } = this.#parts;
    const next = this.#next < this.size ? this.#next : 0;
    const index =
      pods[next] === pod
        ? next
        : this.size > MOST_SCANNED
          ? (indexOf(pods).get(pod) ?? -1)
          : pods.indexOf(pod);
    if (index !== -1) this.#next = index + 1;
    return index;
  }
}
