import { setFlagsFromString } from 'node:v8';

/**
 * Lets the heap grow further before V8 collects garbage in all of it. To a process that is idle most of the time, V8
 * allows about 10 % more than what survived the last collection. With 10,000 scalers, a round allocates more than
 * that, and half of its CPU time went into these collections. `--max-old-space-size` still bounds the heap.
 */
export function allowHeapGrowth(scalers: number): void {
  setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent(scalers)}`);
  if (scalers >= MANY_SCALERS) setFlagsFromString('--semi-space-growth-factor=2');
}

/**
 * Counts the memory of buffers against the limit of the heap, if this version of V8 can. It otherwise collects garbage
 * whenever they exceed what survived by 64 MiB, which the answers to the queries of 10,000 scalers do in each round.
 */
export function countBuffersWithHeap(v8Version: string): void {
  if (Number.parseInt(v8Version, 10) >= FIRST_VERSION_THAT_COUNTS)
    setFlagsFromString('--external-memory-accounted-in-global-limit');
}

/** That of Node.js 24. Earlier ones print an error. */
const FIRST_VERSION_THAT_COUNTS = 13;

const LEAST_SEMI_SPACE = /^--min-semi-space-size=/;

/**
 * Lets the semi-spaces for new objects keep their first size until there are many scalers, if the flags of Node.js set
 * it: the image sets 8 MiB. 16 MiB, to which V8 lets them grow in the first seconds, take 20 MB more of RSS and save a
 * few scalers little CPU time. Without that flag they shrink to 1 MiB at times and must grow again.
 */
export function keepSemiSpaces(nodeFlags: readonly string[]): void {
  // V8 replaces 1 by 2 if it is given as a flag.
  if (nodeFlags.some((flag) => LEAST_SEMI_SPACE.test(flag)))
    setFlagsFromString('--semi-space-growth-factor=1');
}

/** In percent of what survived, 40 to 100: a few scalers save little CPU time, but each percent costs them memory. */
export function heapGrowthPercent(scalers: number): number {
  return Math.round(Math.min(100, Math.max(40, scalers / SCALERS_PER_PERCENT)));
}

const SCALERS_PER_PERCENT = 50;
const MANY_SCALERS = 2000;
