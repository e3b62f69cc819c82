import { Session } from 'node:inspector/promises';
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay, performance as timing, PerformanceObserver } from 'node:perf_hooks';
import { writeHeapSnapshot } from 'node:v8';
import { isMainThread } from 'node:worker_threads';
import type { PaceFigures, PaceOrder, PaceReport } from './pace.js';
import { replaceTimers, type SkippingTimers } from './skipping-timers.js';

/**
 * Loaded before the service (`--import`), into its process: notes when rounds and cycles happen and what they cost, and
 * skips the waits between them when its parent says so.
 */
const CHECK_MS = 25;
/** Active for less than that in `CHECK_MS`: nothing but the check itself. */
const IDLE_ACTIVE_MS = 2;
/** A shorter wait belongs to a round: readings of the age of a source are 100 ms apart. */
const SHORTEST_WAIT_MS = 150;
/** Time in which the fake cluster learns of a skipped wait. */
const LEFT_MS = 20;
const DELAY_RESOLUTION_MS = 10;

// The worker that reads documents has its own timers.
if (isMainThread && process.send !== undefined) await begin();

async function begin(): Promise<void> {
  const parameter = (name: string): number => Number(new URL(import.meta.url).searchParams.get(name));
  const scalers = parameter('scalers');
  const rate = parameter('rate');
  const timers = replaceTimers({ originMs: parameter('originMs'), rate });
  const report = (message: PaceReport): void => void process.send?.(message);
  const noted = createNotes(report, { scalers, rate });
  watchIdle(timers, (forMs) => report({ type: 'idle', forMs, round: noted.round() }), report);
  const profiler = createProfiler();
  process.on('message', (order: PaceOrder) => {
    switch (order.type) {
      case 'confirm':
      case 'look-again':
        return;
      case 'reset':
        noted.reset(timers.skippedMs());
        return;
      case 'figures':
        report({ type: 'figures', figures: noted.figures(timers.skippedMs()) });
        return;
      case 'start-profile':
        void profiler.start().then(() => report({ type: 'done' }));
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
  await noted.watch();
}

/** Reports waits; confirms one, and skips it if so ordered, unless something has happened meanwhile. */
function watchIdle(
  timers: SkippingTimers,
  reportIdle: (forMs: number) => void,
  report: (message: PaceReport) => void,
): void {
  let before = timing.eventLoopUtilization();
  let reported: number | null = null;
  const check = setInterval(() => {
    const { active } = timing.eventLoopUtilization(before);
    before = timing.eventLoopUtilization();
    if (active > IDLE_ACTIVE_MS || reported === timers.changes()) return;
    const forMs = timers.nextMs();
    if (forMs < SHORTEST_WAIT_MS || forMs === Infinity) return;
    reported = timers.changes();
    reportIdle(forMs);
  }, CHECK_MS);
  check.unref();
  process.on('message', (order: PaceOrder) => {
    if (order.type === 'look-again') reported = null;
    if (order.type !== 'confirm') return;
    // Answers that have arrived are read first.
    setImmediate(() =>
      setImmediate(() => {
        const forMs = timers.nextMs();
        const isStillIdle = reported === timers.changes() && forMs >= SHORTEST_WAIT_MS;
        if (isStillIdle && order.isSkipping) timers.skip(Math.floor(forMs - LEFT_MS));
        report({ type: 'confirmed', isStillIdle, skippedMs: timers.skippedMs() });
      }),
    );
  });
}

interface Notes {
  /** Begins to note. */
  readonly watch: () => Promise<void>;
  /** The number of rounds that have begun. */
  readonly round: () => number;
  readonly reset: (skippedMs: number) => void;
  readonly figures: (skippedMs: number) => PaceFigures;
}

function createNotes(
  report: (message: PaceReport) => void,
  { scalers, rate }: { readonly scalers: number; readonly rate: number },
): Notes {
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  let garbageMs = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) garbageMs += duration * rate;
  }).observe({ entryTypes: ['gc'] });
  let rounds = 0;
  let allCycles = 0;
  let firstSeconds = 0;
  let since = { skippedMs: 0, garbageMs: 0, cycles: 0 };
  let lateness: number[] = [];
  let spans: { readonly startMs: number; endMs: number }[] = [];

  const noteRound = (seconds: number): void => {
    rounds += 1;
    lateness.push(seconds);
    const nowMs = performance.now();
    spans.push({ startMs: nowMs, endMs: nowMs });
  };
  const noteCycle = (): void => {
    allCycles += 1;
    const nowMs = performance.now();
    const span = spans.at(-1);
    if (span !== undefined) span.endMs = nowMs;
    if (allCycles === 1) firstSeconds = nowMs / 1000;
    if (allCycles % scalers === 0 && rounds <= FIRST_ROUNDS)
      report({ type: 'all-decided', firstSeconds, lastSeconds: nowMs / 1000, cpuSeconds: cpuSeconds() });
  };

  return {
    watch: async () => {
      // Loaded here, so that timers are replaced before.
      const { Histogram } = await import('prom-client');
      const prototype = Histogram.prototype as unknown as Observing;
      const observe = prototype.observeWithoutExemplar;
      prototype.observeWithoutExemplar = function (...given) {
        if (this.name === 'promscaler_sync_lateness_seconds') noteRound(Number(given.at(-1)));
        else if (this.name === 'promscaler_sync_duration_seconds') noteCycle();
        observe.apply(this, given);
      };
    },
    round: () => rounds,
    reset: (skippedMs) => {
      since = { skippedMs, garbageMs, cycles: allCycles };
      lateness = [];
      spans = [];
      delay.reset();
    },
    figures: (skippedMs) => {
      const memory = process.memoryUsage();
      const skipped = skippedMs - since.skippedMs;
      return {
        cpuSeconds: cpuSeconds(),
        residentBytes: memory.rss,
        heapBytes: memory.heapUsed,
        externalBytes: memory.external,
        roundSeconds: spans.map((span) => (span.endMs - span.startMs) / 1000),
        latenessSeconds: lateness,
        cycles: allCycles - since.cycles,
        loopDelay: delayOf(delay, { skippedMs: skipped, rate }),
        garbageSeconds: (garbageMs - since.garbageMs) / 1000,
        skippedSeconds: skipped / 1000,
      };
    },
  };
}

/** Rounds after which the start is over, whatever has been decided. */
const FIRST_ROUNDS = 20;

// prom-client declares neither the name of a metric nor the function that `observe` is.
interface Observing {
  readonly name: string;
  observeWithoutExemplar: (this: Observing, ...given: unknown[]) => void;
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Each sample is a whole interval; in a skipped wait there would have been samples without delay. */
function delayOf(
  delay: ReturnType<typeof monitorEventLoopDelay>,
  { skippedMs, rate }: { readonly skippedMs: number; readonly rate: number },
): PaceFigures['loopDelay'] {
  const toMs = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - DELAY_RESOLUTION_MS) * rate;
  const all = delay.count + skippedMs / rate / DELAY_RESOLUTION_MS;
  const percentile = 100 - (1 * all) / Math.max(1, delay.count);
  const p99Ms = percentile <= 0 ? 0 : toMs(delay.percentile(percentile));
  return { p99Ms, maxMs: delay.count === 0 ? 0 : toMs(delay.max) };
}

function createProfiler(): { start: () => Promise<void>; stop: (file: string) => Promise<void> } {
  const session = new Session();
  return {
    start: async () => {
      session.connect();
      await session.post('Profiler.enable');
      await session.post('Profiler.start');
    },
    stop: async (file) => {
      const { profile } = await session.post('Profiler.stop');
      writeFileSync(file, JSON.stringify(profile));
      session.disconnect();
    },
  };
}
