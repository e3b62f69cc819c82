import { setFlagsFromString } from 'node:v8';

/**
 * Lets the heap grow further before V8 collects garbage in the whole heap. By default, V8 lets the heap of a mostly
 * idle process grow by about 10 % after a collection, but a round with 10,000 scalers allocates more. The limit of
 * `--max-old-space-size` still applies.
 *
 * Measured with and without all functions of this file (Node.js 24.21, 10 pods per scaler, a loaded machine). With
 * 10,000 scalers, a round takes 1.39 s of CPU instead of 1.59 s, of which 0.2 s are pauses for garbage collection, and
 * the RSS is 742 MB instead of 568 MB. With 1,000 scalers, the RSS is 194 MB instead of 219 MB.
 */
export function allowHeapGrowth(scalers: number): void {
  setFlagsFromString(`--heap-growing-percent=${heapGrowthPercent(scalers)}`);
  if (scalers >= MANY_SCALERS) setFlagsFromString('--semi-space-growth-factor=2');
}

/**
 * Counts the memory of buffers against the limit of the heap, if this version of V8 can do so. Otherwise, V8 collects
 * garbage whenever buffers have grown by 64 MiB since the last collection, which happens in each round with 10,000
 * scalers.
 */
export function countBuffersWithHeap(v8Version: string): void {
  if (Number.parseInt(v8Version, 10) >= FIRST_VERSION_THAT_COUNTS)
    setFlagsFromString('--external-memory-accounted-in-global-limit');
}

/** The version of V8 in Node.js 24. Earlier versions do not know the flag and print an error. */
const FIRST_VERSION_THAT_COUNTS = 13;

const LEAST_SEMI_SPACE = /^--min-semi-space-size=/;

/**
 * Stops the growth of the semi-spaces (for new objects) if a flag of Node.js sets their initial size, as the image does
 * with 8 MiB. By default, V8 lets them grow to 16 MiB in the first seconds. With a few scalers, this growth costs 20 MB
 * of RSS and saves little CPU time. Without the flag, the semi-spaces sometimes shrink to 1 MiB and must grow again.
 */
export function keepSemiSpaces(nodeFlags: readonly string[]): void {
  // The factor is set at run time, because V8 replaces 1 by 2 if the factor is a flag of the process.
  if (nodeFlags.some((flag) => LEAST_SEMI_SPACE.test(flag)))
    setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Returns by how many percent the heap may grow after a collection: 40 for few scalers, up to 100 for many. With few
 * scalers, a larger heap saves little CPU time.
 */
export function heapGrowthPercent(scalers: number): number {
  return Math.round(Math.min(100, Math.max(40, scalers / SCALERS_PER_PERCENT)));
}

const SCALERS_PER_PERCENT = 50;
const MANY_SCALERS = 2000;
