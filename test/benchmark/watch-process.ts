import { readFileSync, writeFileSync } from 'node:fs';
import { Histogram } from 'prom-client';
import type { Watched } from './watch.js';

/**
 * Loaded before the service (`--import`), into its process: records the exact values that `/metrics` has only as
 * buckets, and the delays of the event loop. Writes them to the file named by its own URL when the process is asked to
 * end.
 */
const TICK_MS = 20;
const file = new URL(import.meta.url).searchParams.get('file');
const watched: { -readonly [key in keyof Watched]: Watched[key][number][] } = {
  rounds: [],
  cycles: [],
  queries: [],
  ticks: [],
};

const LISTS = {
  promscaler_sync_lateness_seconds: watched.rounds,
  promscaler_sync_duration_seconds: watched.cycles,
  promscaler_query_duration_seconds: watched.queries,
} as const;

interface Observing {
  readonly name: string;
  observeWithoutExemplar: (this: Observing, ...given: unknown[]) => void;
}

// prom-client declares neither the name of a metric nor the function that `observe` is.
const prototype = Histogram.prototype as unknown as Observing;
const observe = prototype.observeWithoutExemplar;
prototype.observeWithoutExemplar = function (...given) {
  if (isWatched(this.name)) LISTS[this.name].push({ atMs: Date.now(), ms: Number(given.at(-1)) * 1000 });
  observe.apply(this, given);
};

function isWatched(name: string): name is keyof typeof LISTS {
  return Object.hasOwn(LISTS, name);
}

let dueMs = performance.now() + TICK_MS;
setInterval(() => {
  const now = performance.now();
  const { user, system } = process.cpuUsage();
  const cpuMs = (user + system) / 1000;
  watched.ticks.push({ atMs: Date.now(), ms: Math.max(0, now - dueMs), cpuMs, waitedMs: waitedMs() });
  dueMs = now + TICK_MS;
}, TICK_MS).unref();

// On SIGTERM: its last seconds are not measured, and may be truncated.
process.once('SIGTERM', () => {
  if (file !== null) writeFileSync(file, JSON.stringify(watched));
});

/** Returns how long the main thread was runnable without a processor, if the system reports it (Linux). */
function waitedMs(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return Number.NaN;
  }
}
