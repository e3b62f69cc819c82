import { constants, platform, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { BacktestError, runJob, type RunJobs } from '../backtest/compare/variant.js';
import type { Fetching } from '../backtest/history/fetch-series.js';
import type { RangeAnswer } from '../prometheus/answers/classify.js';
import type { SourceConfig } from '../prometheus/data-source/source-config.js';
import {
  type BackTestData,
  beginWait,
  takeTurn,
  type WorkerAnswer,
  type WorkerMessage,
} from './back-test.js';
import { suggest } from './suggest.js';

// Lowers the priority of this thread. On systems other than Linux, this would lower the priority of the whole process.
if (platform() === 'linux') setPriority(constants.priority.PRIORITY_LOW);

const { scaler, range, now, sources, turns } = workerData as BackTestData;
const waiting = new Map<number, (answer: RangeAnswer) => void>();
let queries = 0;

function send(message: WorkerMessage): void {
  parentPort?.postMessage(message);
}

function fetchingOf(source: SourceConfig): Fetching {
  return {
    source,
    client: {
      queryRange: (query) =>
        new Promise((resolve) => {
          queries += 1;
          waiting.set(queries, resolve);
          send({ kind: 'query', number: queries, source: source.name, query });
          beginWait(turns);
        }),
    },
    cache: null,
    progress: { add: () => undefined, done: () => undefined },
    now: () => now,
    // Never aborted: the service stops a back-test by terminating the thread.
    signal: new AbortController().signal,
  };
}

const runJobs: RunJobs = (jobs) =>
  Promise.resolve(
    jobs.map((job) => {
      takeTurn(turns);
      return runJob(job, () => takeTurn(turns));
    }),
  );

parentPort?.on('message', ({ number, answer }: WorkerAnswer) => {
  takeTurn(turns);
  waiting.get(number)?.(answer);
  waiting.delete(number);
  if (waiting.size > 0) beginWait(turns);
});

const byName = new Map(sources.map((source) => [source.name, fetchingOf(source)]));
try {
  send({ kind: 'found', suggestion: await suggest(scaler, { range, sources: byName, runJobs }) });
} catch (error) {
  if (!(error instanceof BacktestError)) throw error;
  send({ kind: 'impossible', why: error.message });
}
