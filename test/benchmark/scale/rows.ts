import type { SizeFigures } from './run-size.js';

/** A figure of a size. */
export interface Row {
  readonly name: string;
  readonly value: (figures: SizeFigures) => number;
  readonly format: (value: number) => string;
  /** Whether it is one that should grow with the number of scalers. */
  readonly grows: boolean;
}

const seconds = (value: number): string => `${value.toFixed(value < 1 ? 3 : 2)} s`;
const milliseconds = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
const megabytes = (value: number): string => `${(value / 1e6).toFixed(value < 1e7 ? 2 : 0)} MB`;
const count = (value: number): string => (Number.isInteger(value) ? `${value}` : value.toFixed(2));

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, number) => total + number, 0);
}

/** The nearest rank: a value that was measured. */
export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? NaN;
}

function mean(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0) / values.length;
}

export const ROWS: readonly Row[] = [
  { name: 'CPU of a round', value: ({ roundCpuSeconds }) => roundCpuSeconds, format: seconds, grows: true },
  {
    name: '... of it garbage collection (wall time of pauses)',
    value: ({ rounds }) => rounds.garbageSeconds / rounds.roundSeconds.length,
    format: seconds,
    grows: true,
  },
  {
    name: 'evaluations of scalers per CPU second',
    value: ({ size, roundCpuSeconds }) => Math.round(size.scalers / roundCpuSeconds),
    format: count,
    grows: false,
  },
  {
    name: 'wall time of a round',
    value: ({ rounds }) => mean(rounds.roundSeconds),
    format: seconds,
    grows: true,
  },
  {
    name: 'lateness of rounds, p99',
    value: ({ rounds }) => percentile(rounds.latenessSeconds, 0.99) * 1000,
    format: milliseconds,
    grows: false,
  },
  {
    name: 'event-loop delay, p99',
    value: ({ delayRounds }) => delayRounds.loopDelay?.p99Ms ?? NaN,
    format: milliseconds,
    grows: false,
  },
  {
    name: 'event-loop delay, max',
    value: ({ delayRounds }) => delayRounds.loopDelay?.maxMs ?? NaN,
    format: milliseconds,
    grows: false,
  },
  {
    name: '... while /metrics is read each second, p99',
    value: ({ readRounds }) => readRounds.loopDelay?.p99Ms ?? NaN,
    format: milliseconds,
    grows: false,
  },
  {
    name: '... while /metrics is read each second, max',
    value: ({ readRounds }) => readRounds.loopDelay?.maxMs ?? NaN,
    format: milliseconds,
    grows: false,
  },
  {
    name: 'RSS after the rounds',
    value: ({ rounds }) => rounds.residentBytes,
    format: megabytes,
    grows: true,
  },
  {
    name: 'heap used after the rounds',
    value: ({ rounds }) => rounds.heapBytes,
    format: megabytes,
    grows: true,
  },
  {
    name: 'requests to the API server per round',
    value: ({ traffic }) => sum(traffic.apiRequests),
    format: count,
    grows: true,
  },
  {
    name: '... of them lists',
    value: ({ traffic }) =>
      Object.entries(traffic.apiRequests).reduce((n, [what, c]) => n + (what.startsWith('list ') ? c : 0), 0),
    format: count,
    grows: false,
  },
  {
    name: 'bytes from the API server per round',
    value: ({ traffic }) => traffic.apiBytes,
    format: megabytes,
    grows: true,
  },
  { name: 'queries per round', value: ({ traffic }) => sum(traffic.queries), format: count, grows: true },
  {
    name: 'bytes from Prometheus per round',
    value: ({ traffic }) => traffic.queryBytes,
    format: megabytes,
    grows: true,
  },
  { name: 'CPU of a /metrics page', value: ({ page }) => page.cpuSeconds, format: seconds, grows: true },
  { name: 'size of a /metrics page', value: ({ page }) => page.bytes, format: megabytes, grows: true },
  {
    name: 'first decision after the start',
    value: ({ start }) => start.firstSeconds,
    format: seconds,
    grows: true,
  },
  {
    name: 'last decision after the start',
    value: ({ start }) => start.lastSeconds,
    format: seconds,
    grows: true,
  },
  {
    name: 'CPU until the last decision',
    value: ({ start }) => start.cpuSeconds,
    format: seconds,
    grows: true,
  },
  {
    name: 'peak RSS during the start',
    value: ({ start }) => start.peakBytes,
    format: megabytes,
    grows: true,
  },
  { name: 'lists during the start', value: ({ start }) => start.lists, format: count, grows: true },
  {
    name: 'bytes from the API server during the start',
    value: ({ start }) => start.bytes,
    format: megabytes,
    grows: true,
  },
];

/** Cost per scaler relative to that of the smallest size: 1 is linear. */
export function growthOf(row: Row, figures: SizeFigures, smallest: SizeFigures): number {
  return row.value(figures) / figures.size.scalers / (row.value(smallest) / smallest.size.scalers);
}
