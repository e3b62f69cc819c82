import { createLoad, type Load, type LoadData } from './load.js';
import type { MetricModel } from './samples.js';
import type { QueueInput } from './queue.js';
import type { RunInput } from './run-variant.js';

/** The input of a run without functions, for a worker thread. Loads are replaced by their index. */
export interface PortableInput extends Omit<RunInput, 'models' | 'queue' | 'ceiling'> {
  readonly models: readonly (PortableModel | null)[];
  readonly queue: (Omit<QueueInput, 'load'> & { readonly load: number }) | null;
  readonly ceiling: number | null;
}

type PortableModel = WithNumber<MetricModel>;
type WithNumber<Model> = Model extends unknown ? Omit<Model, 'load'> & { readonly load: number } : never;

export function packInput(input: RunInput, numberOf: (load: Load) => number): PortableInput {
  const { queue, ceiling } = input;
  return {
    ...input,
    models: input.models.map((model): PortableModel | null =>
      model === null ? null : { ...model, load: numberOf(model.load) },
    ),
    queue: queue === undefined ? null : { ...queue, load: numberOf(queue.load) },
    ceiling: ceiling === undefined ? null : numberOf(ceiling),
  };
}

/** Throws `Error` if a load is missing. */
export function unpackInput(input: PortableInput, loadOf: (number: number) => Load): RunInput {
  const { queue, ceiling, ...others } = input;
  return {
    ...others,
    ...(queue === null ? {} : { queue: { ...queue, load: loadOf(queue.load) } }),
    ...(ceiling === null ? {} : { ceiling: loadOf(ceiling) }),
    models: input.models.map((model): MetricModel | null =>
      model === null ? null : { ...model, load: loadOf(model.load) },
    ),
  };
}

/** Returns the data of a load in shared memory, so threads do not copy it. */
export function shareLoad({ data }: Load): LoadData {
  return { ...data, times: shared(data.times), values: shared(data.values) };
}

export function openLoad({ times, values, end, isInterpolated }: LoadData): Load {
  return createLoad(times, values, end, isInterpolated);
}

function shared(column: Float64Array): Float64Array {
  const copy = new Float64Array(new SharedArrayBuffer(column.byteLength));
  copy.set(column);
  return copy;
}
