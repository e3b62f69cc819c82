import { readFileSync } from 'node:fs';
import { availableParallelism, freemem } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type Job, type JobResult, roundsOf, type RunJobs } from '../../backtest/compare/variant.js';
import type { Load, LoadData } from '../../backtest/simulation/load.js';
import { mapLoads, runTracedJob, type TracedResult, type Traces } from './run-job.js';
import { onAbort } from '../../units/abort.js';
import { type Clock, periodicYield } from '../../units/clock.js';
import type { Progress } from '../output/progress.js';
import type { JobRequest } from './job-worker.js';
import { errorMessage } from '../../units/failure.js';

export interface WorkerPool {
  readonly runJobs: RunJobs;
  readonly close: () => void;
}

/** Jobs with fewer rounds take at most a second, so starting worker threads would save little. */
const FEWEST_ROUNDS = 40_000;

/**
 * Creates a pool that runs jobs in worker threads: one for each processor, if memory allows. A few short jobs run in
 * this thread. If a worker fails, its job has an error as the result. Aborting the signal ends all workers.
 */
export function createWorkerPool({
  signal,
  clock,
  progress = null,
  traces = null,
  parallel = null,
  fewestRounds = FEWEST_ROUNDS,
  entry = new URL('./job-worker.js', import.meta.url),
}: {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly progress?: Progress | null;
  /** Receives a trace of each run; null: no traces are made. */
  readonly traces?: Traces | null;
  /** Maximum number of worker threads; null: as many as the machine allows. */
  readonly parallel?: number | null;
  readonly fewestRounds?: number;
  readonly entry?: URL;
}): WorkerPool {
  const shared = new Map<Load, SharedLoad>();
  const idle: JobThread[] = [];
  const all = new Set<JobThread>();
  const yieldIfDue = periodicYield(clock);

  const share = (load: Load): SharedLoad => {
    const known = shared.get(load) ?? shareLoad(load, shared.size);
    shared.set(load, known);
    return known;
  };

  const runOne = async (job: Job, traceCharacters: number | null): Promise<TracedResult> => {
    if (signal.aborted) return withoutTrace('interrupted');
    const thread = idle.pop() ?? startThread(entry, share, signal);
    all.add(thread);
    const result = await thread.run(job, traceCharacters);
    if (thread.hasEnded()) all.delete(thread);
    else idle.push(thread);
    return result;
  };

  return {
    runJobs: async (jobs) => {
      const rounds = jobs.reduce((sum, job) => sum + roundsOf(job) * weightOf(job), 0);
      const width = Math.min(parallel ?? threadsFor(readMachineLimits(), pointsOf(jobs)), jobs.length);
      const results: JobResult[] = [];
      const charactersOf = (index: number): number | null => traces?.charactersOf(index, jobs.length) ?? null;
      const keep = (index: number, job: Job, { result, trace }: TracedResult): void => {
        results[index] = result;
        if (trace !== null) traces?.add(job.scaler, trace);
      };
      // Only short jobs run here: this thread notices an interrupt only between two jobs.
      if (rounds < fewestRounds) {
        for (const [index, job] of jobs.entries()) {
          await yieldIfDue();
          const isEnded = signal.aborted;
          keep(index, job, isEnded ? withoutTrace('interrupted') : runTracedJob(job, charactersOf(index)));
        }
        return results;
      }
      progress?.add(jobs.length);
      const queue = [...jobs.entries()];
      const work = async (): Promise<void> => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
          const [index, job] = next;
          keep(index, job, await runOne(job, charactersOf(index)));
          progress?.done();
        }
      };
      await Promise.all(Array.from({ length: width }, work));
      return results;
    },
    close: () => {
      for (const thread of all) thread.end();
      all.clear();
      idle.length = 0;
    },
  };
}

/** A round with more pods counts as several rounds, because it iterates over all pods. */
const PODS_OF_A_ROUND = 200;

function weightOf({ scaler: { spec }, input: { initialReplicas } }: Job): number {
  return Math.max(1, Math.max(spec.maxReplicas, initialReplicas) / PODS_OF_A_ROUND);
}

function pointsOf(jobs: readonly Job[]): number {
  const loads = new Set(jobs.flatMap(({ input }) => input.models.flatMap((model) => model?.load ?? [])));
  return [...loads].reduce((sum, { points }) => sum + points, 0);
}

function withoutTrace(error: string): TracedResult {
  return { result: { error }, trace: null };
}

interface SharedLoad {
  readonly number: number;
  readonly data: LoadData;
}

/** Copies the data of a load into shared memory, so that it is not copied for each thread. */
function shareLoad({ data }: Load, number: number): SharedLoad {
  const copy = (column: Float64Array): Float64Array => {
    const shared = new Float64Array(new SharedArrayBuffer(column.byteLength));
    shared.set(column);
    return shared;
  };
  return { number, data: { ...data, times: copy(data.times), values: copy(data.values) } };
}

interface JobThread {
  readonly run: (job: Job, traceCharacters: number | null) => Promise<TracedResult>;
  readonly hasEnded: () => boolean;
  readonly end: () => void;
}

/** The worker gets no environment variables: it needs none, and they may contain secrets. */
function startThread(entry: URL, share: (load: Load) => SharedLoad, signal: AbortSignal): JobThread {
  const worker = new Worker(entry, { env: {} });
  const sent = new Set<number>();
  let hasEnded = false;
  const end = (): void => {
    hasEnded = true;
    void worker.terminate();
  };
  // If a worker fails between two jobs, the process continues, and the next job starts another worker.
  worker.on('error', () => (hasEnded = true)).on('exit', () => (hasEnded = true));

  return {
    hasEnded: () => hasEnded,
    end,
    run: ({ scaler, input }, traceCharacters) =>
      new Promise((resolve) => {
        const loads = new Map<number, LoadData>();
        const settle = (result: TracedResult): void => {
          forget();
          worker.off('message', settle).off('error', onError).off('exit', onExit);
          resolve(result);
        };
        const onError = (error: unknown): void =>
          settle(withoutTrace(`its worker thread failed: ${errorMessage(error)}`));
        const onExit = (): void => settle(withoutTrace('its worker thread exited'));
        const onStop = (): void => {
          end();
          settle(withoutTrace('interrupted'));
        };
        const forget = onAbort(signal, onStop);
        worker.on('message', settle).on('error', onError).on('exit', onExit);
        const numbered = mapLoads(input, (load) => {
          const { number, data } = share(load);
          if (!sent.has(number)) loads.set(number, data);
          sent.add(number);
          return number;
        });
        const request: JobRequest = { scaler, input: numbered, loads, traceCharacters };
        if (hasEnded) onExit();
        else worker.postMessage(request);
      }),
  };
}

/** The resources of the machine or container that are left for this process. */
interface MachineLimits {
  readonly processors: number;
  readonly availableBytes: number;
}

const CGROUP = '/sys/fs/cgroup';

/**
 * Reads the limits of the cgroup, which Node.js before version 22 ignores. `read` returns null if the file does not
 * exist.
 */
export function readMachineLimits(read: (path: string) => string | null = readText): MachineLimits {
  const quota = cpuQuota(read(`${CGROUP}/cpu.max`));
  const left = bytesLeft(read);
  return {
    processors: Math.max(1, Math.min(availableParallelism(), quota === null ? Infinity : Math.ceil(quota))),
    availableBytes: Math.min(freemem(), left ?? Infinity),
  };
}

/** Parses `cpu.max`: `200000 100000` allows 2 processors; `max 100000` has no limit, for which null is returned. */
function cpuQuota(text: string | null): number | null {
  const [quota = NaN, period = NaN] = (text ?? '').trim().split(' ').map(Number);
  return quota > 0 && period > 0 ? quota / period : null;
}

/** Returns the free memory of the cgroup (version 2 or 1); null: no limit. The page cache counts as free. */
function bytesLeft(read: (path: string) => string | null): number | null {
  const [limit, used] = ['memory.max', 'memory.current'].map((name) => numberOf(read(`${CGROUP}/${name}`)));
  const [limit1, used1] = ['limit_in_bytes', 'usage_in_bytes'].map((name) =>
    numberOf(read(`${CGROUP}/memory/memory.${name}`)),
  );
  const [most, now] = limit === null || limit === undefined ? [limit1, used1] : [limit, used];
  if (most === null || most === undefined) return null;
  const stat = read(`${CGROUP}/memory.stat`) ?? read(`${CGROUP}/memory/memory.stat`) ?? '';
  const files = Number(/^(?:total_)?inactive_file (\d+)$/m.exec(stat)?.[1] ?? 0);
  return Math.max(0, most - Math.max(0, (now ?? 0) - files));
}

function numberOf(text: string | null): number | null {
  return text !== null && /^\d{1,20}$/.test(text.trim()) ? Number(text) : null;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** Estimated memory of a thread: its code, its heap, and a young generation of the default size. */
const THREAD_BYTES = 100 * 1024 * 1024;
/** Estimated memory for each point of the load: the sums of the load, and the data of the run. */
const BYTES_PER_POINT = 64;
/** Share of the free memory for worker threads. The rest is for the main thread. */
const SHARE_OF_THREADS = 0.75;

/** Returns how many worker threads run in parallel, at least 1. `points`: number of points of the load. */
export function threadsFor({ processors, availableBytes }: MachineLimits, points: number): number {
  const each = THREAD_BYTES + BYTES_PER_POINT * points;
  return Math.max(1, Math.min(processors, Math.floor((availableBytes * SHARE_OF_THREADS) / each)));
}
