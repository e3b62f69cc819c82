import { type ReadDocument, type ReadOptions, failedDocument } from '../scaler/read-scalers.js';
import { scalerKey } from '../scaler/spec.js';
import { takeTurns } from '../units/clock.js';
import type { Clock } from '../units/clock.js';
import type { DocumentReader } from './document-reader.js';
import type { DocumentObject } from './object-document.js';

/** What stands for a path and a file where a document is an object of the cluster. */
export const OBJECTS_PATH = 'scalers.promscaler.dev';

/** Where documents come from that are no files. */
export interface ObjectSource {
  /** Those that are known by now. */
  readonly list: () => Iterable<DocumentObject>;
  /** Whether that is all of them. */
  readonly isComplete: () => boolean;
  /** Calls back when a document came, changed or went, until the answer is called. */
  readonly onChange: (listener: () => void) => () => void;
}

/** An object, and what the rules for documents say of it. */
export interface ReadObject {
  readonly object: DocumentObject;
  readonly key: string;
  /** Of its JSON, in UTF-16 units. */
  readonly length: number;
  readonly document: ReadDocument;
}

/** `scalers.promscaler.dev/NAMESPACE/NAME`: what stands for the file in problems. */
export function objectFile({ namespace, name }: Pick<DocumentObject, 'namespace' | 'name'>): string {
  return `${OBJECTS_PATH}/${namespace}/${name}`;
}

/**
 * Checks objects by the same rules as files. Of their metadata only namespace and name are used. An object whose spec
 * is the same as in `before` is not read again. Yields to other work every 20 ms.
 */
export async function readObjects(
  objects: Iterable<DocumentObject>,
  before: ReadonlyMap<string, ReadObject>,
  {
    read,
    reader,
    clock,
  }: { readonly read: ReadOptions; readonly reader: DocumentReader; readonly clock: Clock },
): Promise<ReadonlyMap<string, ReadObject>> {
  const all = new Map<string, ReadObject>();
  // Thousands of them come with one list.
  const nextTurn = takeTurns(clock);
  for (const object of [...objects]) {
    const key = scalerKey(object);
    const known = before.get(key);
    all.set(
      key,
      known?.object.specText === object.specText ? known : await readObject(object, key, { read, reader }),
    );
    await nextTurn();
  }
  return all;
}

async function readObject(
  object: DocumentObject,
  key: string,
  { read, reader }: { readonly read: ReadOptions; readonly reader: DocumentReader },
): Promise<ReadObject> {
  const file = objectFile(object);
  const { namespace, name, specText } = object;
  // An object of the store has more than can be sent to another thread.
  const [first] = await reader.read({ file, content: { object: { namespace, name, specText } } }, read);
  const document = first ?? failedDocument(key, file, 'no document was read');
  // Its name is known, however broken the rest of it is.
  return { object, key, length: specText.length, document: { ...document, key } };
}
