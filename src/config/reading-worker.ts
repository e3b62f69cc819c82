import { parentPort } from 'node:worker_threads';
import type { ReadDocument, ReadOptions } from '../scaler/read/read-scalers.js';
import { type DocumentSource, eachOfSource } from './document-reader.js';

/** A source to read; null requests the next documents of the current source. */
export type WorkerRequest = { readonly source: DocumentSource; readonly options: ReadOptions } | null;

export interface WorkerAnswer {
  readonly documents: readonly ReadDocument[];
  readonly isLast: boolean;
}

/** Limits the documents in a message, because deserializing it blocks the thread that receives it. */
const DOCUMENTS_AT_ONCE = 100;

let documents: Iterator<ReadDocument> = [][Symbol.iterator]();

parentPort?.on('message', (request: WorkerRequest) => {
  if (request !== null) documents = eachOfSource(request.source, request.options);
  const part: ReadDocument[] = [];
  let isLast = false;
  while (!isLast && part.length < DOCUMENTS_AT_ONCE) {
    const next = documents.next();
    if (next.done === true) isLast = true;
    else part.push(next.value);
  }
  parentPort?.postMessage({ documents: part, isLast } satisfies WorkerAnswer);
});
