import { Worker } from 'node:worker_threads';
import { deepFreeze } from '../scaler/plain-json.js';
import { type ReadDocument, failedDocument } from '../scaler/read/read-scalers.js';
import { unplacedProblem } from '../scaler/problems/finding.js';
import { onAbort } from '../units/abort.js';
import type { Clock } from '../units/clock.js';
import { errorCode } from '../units/failure.js';
import { type DocumentReader, isSmall, readerOfThisThread } from './document-reader.js';
import type { WorkerAnswer, WorkerRequest } from './reading-worker.js';

/** Time limit for reading one source. 1 MiB takes 1 to 5 s of CPU time, and a container may have a fifth of a CPU. */
const DEADLINE_MS = 60_000;

/**
 * Heap limit of the worker: reading 1 MiB takes up to 300 MiB. The memory limit of the container is higher, so the
 * process survives a worker that exceeds its heap limit.
 */
const MEMORY_MIB = 384;

interface BackgroundReaderOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The module of the worker. Default: reading-worker.js. */
  readonly entry?: URL;
}

/**
 * Creates a reader that reads small sources in this thread and large sources in a worker. Therefore no document delays
 * rounds, probes or the renewal of the Lease. The worker starts with the first large source (50 ms) and stops with
 * `close`. If it exceeds its time or memory, it is terminated, and the source that it was reading gets a problem.
 */
export function createBackgroundReader(options: BackgroundReaderOptions): DocumentReader {
  const here = readerOfThisThread(options.clock);
  let worker: Worker | null = null;
  const end = (): void => {
    void worker?.terminate();
    worker = null;
  };
  const ask = (request: WorkerRequest): Promise<WorkerAnswer> => {
    worker ??= startWorker(options.entry);
    return requestAnswer(worker, request, options);
  };
  return {
    read: async (source, read) => {
      if (isSmall(source)) return here.read(source, read);
      const documents: ReadDocument[] = [];
      try {
        let answer = await ask({ source, options: read });
        documents.push(...answer.documents.map(frozen));
        while (!answer.isLast) {
          answer = await ask(null);
          documents.push(...answer.documents.map(frozen));
        }
      } catch (cause) {
        end();
        documents.push(abortedDocument(source.file, cause));
      }
      return documents;
    },
    close: end,
  };
}

/** Starts a worker without environment variables: they may contain secrets, and the worker does not need them. */
function startWorker(entry = new URL('./reading-worker.js', import.meta.url)): Worker {
  return new Worker(entry, { env: {}, resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB } });
}

class ReadingError extends Error {
  override name = 'ReadingError';
}

function abortedDocument(file: string, cause: unknown): ReadDocument {
  const why =
    errorCode(cause) === 'ERR_WORKER_OUT_OF_MEMORY'
      ? `reading takes more than ${MEMORY_MIB} MiB of memory`
      : cause instanceof ReadingError
        ? cause.message
        : null;
  if (why === null) return failedDocument(null, file, cause);
  const message = `reading ${file}: ${why}; the documents that were read before stay in effect`;
  const problem = unplacedProblem({ code: 'yaml-size', message }, file);
  return { key: null, scaler: null, problems: [problem], file, place: null, nameLine: null };
}

function requestAnswer(
  worker: Worker,
  request: WorkerRequest,
  { clock, signal }: BackgroundReaderOptions,
): Promise<WorkerAnswer> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      cancel();
      forget();
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      act();
    };
    const fail = (error: Error): void => settle(() => reject(error));
    const onMessage = (answer: WorkerAnswer): void => settle(() => resolve(answer));
    const onError = (error: unknown): void => fail(error instanceof Error ? error : new Error(String(error)));
    const onExit = (): void => fail(new ReadingError('the worker thread exited'));
    const onStop = (): void => fail(new ReadingError('the service stops'));
    const late = (): void => fail(new ReadingError(`reading takes longer than ${DEADLINE_MS / 1000} s`));
    const cancel = clock.after(DEADLINE_MS, late);
    const forget = onAbort(signal, onStop);
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    if (signal.aborted) onStop();
    else worker.postMessage(request);
  });
}

/** Freezes the scaler again, because an object that is sent between threads loses its frozen state. */
function frozen(document: ReadDocument): ReadDocument {
  return { ...document, scaler: deepFreeze(document.scaler) };
}
