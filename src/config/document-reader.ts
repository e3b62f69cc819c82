import {
  type ReadDocument,
  type ReadOptions,
  eachDocument,
  failedDocument,
  readScalerDocument,
} from '../scaler/read-scalers.js';
import { takeTurns } from '../units/clock.js';
import type { Clock } from '../units/clock.js';
import { type DocumentObject, readObjectDocument } from './object-document.js';

/** What is to be read: a text, or an object of the cluster as the text that it would be in a file. */
export interface DocumentSource {
  /** What the user calls it. */
  readonly file: string;
  readonly content: { readonly text: string } | { readonly object: DocumentObject };
}

/** Reads documents without keeping anybody waiting. */
export interface DocumentReader {
  /** Never rejects: whatever goes wrong is a problem of the document. */
  readonly read: (source: DocumentSource, options: ReadOptions) => Promise<readonly ReadDocument[]>;
  /** Gives back what reading needs; it may be used again. */
  readonly close: () => void;
}

/**
 * Reads in this thread, and lets others have a turn between two documents, not within one: for texts of up to
 * `MAX_SMALL_LENGTH`, and where nobody else waits.
 */
export function readerOfThisThread(clock: Clock): DocumentReader {
  // One for all texts: thousands of small ones keep others waiting as a large one does.
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

/** Reading a text takes up to 5 us a character: a longer one would keep everybody waiting for more than 100 ms. */
const MAX_SMALL_LENGTH = 16_384;

/** Whether the text is short enough to be read beside other work. */
export function isSmall({ content }: DocumentSource): boolean {
  return ('text' in content ? content.text : content.object.specText).length <= MAX_SMALL_LENGTH;
}

/** The documents of a source one by one. Never throws. */
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
