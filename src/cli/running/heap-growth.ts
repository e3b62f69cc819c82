import { setFlagsFromString } from 'node:v8';

/**
 * Lets the heap grow further before V8 collects garbage in all of it. To a process that is idle most of the time, V8
 * allows about 10 % more than what survived the last collection. With 10,000 scalers, a round allocates more than
 * that, and half of its CPU time went into these collections. `--max-old-space-size` still bounds the heap.
 */
export function allowHeapGrowth(scalers: number): void {
  setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent(scalers)}`);
}

/** In percent of what survived, 40 to 100: a few scalers save little CPU time, but each percent costs them memory. */
export function heapGrowthPercent(scalers: number): number {
  return Math.round(Math.min(100, Math.max(40, scalers / SCALERS_PER_PERCENT)));
}

const SCALERS_PER_PERCENT = 50;
