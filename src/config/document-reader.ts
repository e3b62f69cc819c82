import {
  type ReadDocument,
  type ReadOptions,
  eachDocument,
  failedDocument,
  readScalerDocument,
} from '../scaler/read/read-scalers.js';
import { takeTurns } from '../units/clock.js';
import type { Clock } from '../units/clock.js';
import { type DocumentObject, readObjectDocument } from './object-document.js';

export interface DocumentSource {
  readonly file: string;
  readonly content: { readonly text: string } | { readonly object: DocumentObject };
}

/** Reads scaler documents without blocking the event loop for long. */
export interface DocumentReader {
  /** Never rejects: a failure is a problem of the document. */
  readonly read: (source: DocumentSource, options: ReadOptions) => Promise<readonly ReadDocument[]>;
  /** Terminates the worker, if any. The next `read` starts a new one. */
  readonly close: () => void;
}

/**
 * Reads in this thread and yields to other work between documents, but not within one. For sources up to
 * `MAX_SMALL_LENGTH`, and for commands without other work.
 */
export function readerOfThisThread(clock: Clock): DocumentReader {
  // Shared by all sources, because thousands of small ones would block as long as one large one.
  const nextTurn = takeTurns(clock);
  return {
    read: async (source, options) => {
      const documents: ReadDocument[] = [];
      for (const document of eachSourceDocument(source, options)) {
        documents.push(document);
        await nextTurn();
      }
      return documents;
    },
    close: () => undefined,
  };
}

/**
 * Reading takes up to 3 us per character, or 30 us before the parser is compiled: a longer source would block the event
 * loop for more than 100 ms.
 */
const MAX_SMALL_LENGTH = 4096;

export function isSmall({ content }: DocumentSource): boolean {
  return ('text' in content ? content.text : content.object.specText).length <= MAX_SMALL_LENGTH;
}

/** Never throws: a failure is a problem of the document. */
export function* eachSourceDocument(
  { file, content }: DocumentSource,
  options: ReadOptions,
): Generator<ReadDocument> {
  try {
    if ('text' in content) yield* eachDocument(content.text, file, options);
    else yield readScalerDocument(readObjectDocument(content.object, file), file, options);
  } catch (cause) {
    yield failedDocument(null, file, cause);
  }
}
