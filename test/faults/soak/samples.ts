import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Replica } from '../processes/replica.js';

/** Values that a process reports about itself, after garbage collection. */
export interface InsideSample {
  readonly heapBytes: number;
  readonly residentBytes: number;
  /** Number of resources of each kind that keep it alive: timers, sockets, requests. */
  readonly resources: Readonly<Record<string, number>>;
  /** Listeners on `process` itself. */
  readonly listeners: number;
}

/** One sample of a process. */
export interface Sample {
  /** Since the start of the soak. */
  readonly atSeconds: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly timers: number;
  readonly listeners: number;
  readonly descriptors: number;
  readonly sockets: number;
  /** Requests that the API server has received so far from both replicas. */
  readonly requests: number;
  readonly fault: string;
}

/** Samples a process from inside and, by /proc, from outside. */
export async function takeSample(
  replica: Replica,
  {
    startMs,
    requests,
    fault,
  }: { readonly startMs: number; readonly requests: number; readonly fault: string },
): Promise<Sample> {
  const inside = (await replica.sample()) as InsideSample;
  const directory = `/proc/${replica.pid}/fd`;
  const links = await Promise.all(
    (await readdir(directory)).map((name) => readlink(join(directory, name)).catch(() => null)),
  );
  return {
    atSeconds: (performance.now() - startMs) / 1000,
    heapBytes: inside.heapBytes,
    residentBytes: inside.residentBytes,
    timers: inside.resources['Timeout'] ?? 0,
    listeners: inside.listeners,
    descriptors: links.filter((link) => link !== null).length,
    sockets: links.filter((link) => link?.startsWith('socket:') === true).length,
    requests,
    fault,
  };
}

/** Prints a sample as a line of the table. */
export function printSample(sample: Sample): void {
  const cells = [
    sample.atSeconds.toFixed(0),
    megabytes(sample.heapBytes),
    megabytes(sample.residentBytes),
    sample.descriptors,
    sample.sockets,
    sample.timers,
    sample.listeners,
    sample.requests,
  ];
  console.log(`${cells.map((cell) => String(cell).padStart(8)).join('')}  ${sample.fault}`);
}

/** Prints the header of the table. */
export function printHead(): void {
  const names = ['second', 'heap MB', 'rss MB', 'fds', 'sockets', 'timers', 'listen.', 'requests'];
  console.log(`${names.map((name) => name.padStart(8)).join('')}  fault`);
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
