import { Session } from 'node:inspector/promises';
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { writeHeapSnapshot } from 'node:v8';
import { isMainThread } from 'node:worker_threads';
import { replaceTimers } from './faster-timers.js';
import type { FasterTimers } from './faster-timers.js';
import type { PaceFigures, PaceOrder, PaceReport, ProfileKind } from './pace.js';

/**
 * Loaded before the service (`--import`), into its process: notes when rounds and cycles happen and what they cost, and
 * lets the clock run faster when its parent says so.
 */
const DELAY_RESOLUTION_MS = 20;

// The worker that reads documents has its own timers.
if (isMainThread && process.send !== undefined) await begin();

async function begin(): Promise<void> {
  const settings = new URL(import.meta.url).searchParams;
  const scalers = Number(settings.get('scalers'));
  const timers = replaceTimers();
  const report = (message: PaceReport): void => void process.send?.(message);
  const notes = createNotes(report, timers, scalers);
  const profiler = createProfiler();
  const kind = settings.get('profile');
  if (kind === 'cpu' || kind === 'heap') await profiler.start(kind);
  process.on('message', (order: PaceOrder) => {
    switch (order.type) {
      case 'set-rate':
        timers.setRate(order.rate);
        notes.setRate(order.rate.rate);
        report({ type: 'done' });
        return;
      case 'reset':
        notes.reset(order.watchesDelay);
        return;
      case 'figures':
        report({ type: 'figures', figures: notes.figures() });
        return;
      case 'start-profile':
        void profiler.start(order.kind).then(() => report({ type: 'done' }));
        return;
      case 'stop-profile':
        void profiler.stop(order.file).then(() => report({ type: 'done' }));
        return;
      case 'heap-snapshot':
        writeHeapSnapshot(order.file);
        report({ type: 'done' });
        return;
      default:
        order satisfies never;
    }
  });
  process.channel?.unref();
  await notes.watch();
}

interface Notes {
  /** Begins to note. */
  readonly watch: () => Promise<void>;
  readonly setRate: (rate: number) => void;
  readonly reset: (watchesDelay: boolean) => void;
  readonly figures: () => PaceFigures;
}

function createNotes(
  report: (message: PaceReport) => void,
  { system }: FasterTimers,
  scalers: number,
): Notes {
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  let watchesDelay = false;
  let garbageMs = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) garbageMs += duration;
  }).observe({ entryTypes: ['gc'] });
  let rate = 1;
  let allCycles = 0;
  let firstSeconds = 0;
  let lastSeconds = 0;
  let since = { garbageMs: 0, cycles: 0 };
  let lateness: number[] = [];
  let spans: { readonly startMs: number; endMs: number }[] = [];
  /** Of the last round; null: it is over, or there was none. */
  let openCycles: number | null = null;

  const endRound = (): void => {
    openCycles = null;
    report({ type: 'round-over', start: { firstSeconds, lastSeconds, cpuSeconds: cpuSeconds() } });
  };
  const noteRound = (latenessSeconds: number): void => {
    if (openCycles !== null) endRound();
    openCycles = 0;
    lateness.push(latenessSeconds / rate);
    const nowMs = system.nowMs();
    spans.push({ startMs: nowMs, endMs: nowMs });
  };
  const noteCycle = (): void => {
    allCycles += 1;
    const nowMs = system.nowMs();
    lastSeconds = nowMs / 1000;
    if (allCycles === 1) firstSeconds = lastSeconds;
    const span = spans.at(-1);
    if (span !== undefined) span.endMs = nowMs;
    if (openCycles === null) return;
    openCycles += 1;
    if (openCycles === scalers) endRound();
  };

  return {
    watch: async () => {
      // Loaded here, so that timers are replaced before.
      const { Histogram } = await import('prom-client');
      const prototype = Histogram.prototype as unknown as Observing;
      const observe = prototype.observeWithoutExemplar;
      prototype.observeWithoutExemplar = function (...given) {
        observe.apply(this, given);
        if (this.name === 'promscaler_sync_lateness_seconds') noteRound(Number(given.at(-1)));
        else if (this.name === 'promscaler_sync_duration_seconds') noteCycle();
      };
    },
    setRate: (next) => (rate = next),
    reset: (nextWatchesDelay) => {
      watchesDelay = nextWatchesDelay;
      if (watchesDelay) delay.enable();
      else delay.disable();
      since = { garbageMs, cycles: allCycles };
      lateness = [];
      spans = [];
      delay.reset();
    },
    figures: () => {
      const memory = process.memoryUsage();
      return {
        cpuSeconds: cpuSeconds(),
        residentBytes: memory.rss,
        heapBytes: memory.heapUsed,
        externalBytes: memory.external,
        roundSeconds: spans.map((span) => (span.endMs - span.startMs) / 1000),
        latenessSeconds: lateness,
        cycles: allCycles - since.cycles,
        loopDelay: watchesDelay ? { p99Ms: toMs(delay.percentile(99)), maxMs: toMs(delay.max) } : null,
        garbageSeconds: (garbageMs - since.garbageMs) / 1000,
      };
    },
  };
}

// prom-client declares neither the name of a metric nor the function that `observe` is.
interface Observing {
  readonly name: string;
  observeWithoutExemplar: (this: Observing, ...given: unknown[]) => void;
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Each sample is a whole interval. */
function toMs(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e6 - DELAY_RESOLUTION_MS);
}

interface Profiler {
  readonly start: (kind: ProfileKind) => Promise<void>;
  readonly stop: (file: string) => Promise<void>;
}

function createProfiler(): Profiler {
  const session = new Session();
  let stopProfile: () => Promise<object> = () => Promise.reject(new Error('no profile was started'));
  return {
    start: async (kind) => {
      session.connect();
      if (kind === 'cpu') {
        await session.post('Profiler.enable');
        await session.post('Profiler.start');
        stopProfile = async () => (await session.post('Profiler.stop')).profile;
        return;
      }
      await session.post('HeapProfiler.enable');
      await session.post('HeapProfiler.startSampling', { includeObjectsCollectedByMajorGC: true });
      stopProfile = async () => (await session.post('HeapProfiler.stopSampling')).profile;
    },
    stop: async (file) => {
      writeFileSync(file, JSON.stringify(await stopProfile()));
      session.disconnect();
    },
  };
}
