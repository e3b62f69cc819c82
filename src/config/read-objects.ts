import { type ReadDocument, type ReadOptions, failedDocument } from '../scaler/read/read-scalers.js';
import { OBJECTS_PATH } from '../scaler/problems/problem.js';
import { scalerKey } from '../scaler/spec.js';
import { takeTurns } from '../units/clock.js';
import type { Clock } from '../units/clock.js';
import type { DocumentReader, DocumentObject } from './document-reader.js';

export interface ObjectSource {
  readonly list: () => Iterable<DocumentObject>;
  readonly isComplete: () => boolean;
  /** Calls `listener` when an object is added, changed or removed. Returns a function that unsubscribes. */
  readonly onChange: (listener: () => void) => () => void;
}

export interface ReadObject {
  readonly object: DocumentObject;
  readonly key: string;
  readonly length: number;
  readonly document: ReadDocument;
}

/** Returns `scalers.promscaler.dev/NAMESPACE/NAME`, the file name in problems. */
export function objectFile({ namespace, name }: Pick<DocumentObject, 'namespace' | 'name'>): string {
  return `${OBJECTS_PATH}/${namespace}/${name}`;
}

/**
 * Checks objects by the same rules as files, and uses only namespace, name and the annotations for promscaler of their
 * metadata. An object with the same `spec` and annotations as in `before` is not read again. Yields to other work every 20 ms.
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
  const nextTurn = takeTurns(clock);
  for (const object of [...objects]) {
    const key = scalerKey(object);
    const known = before.get(key);
    const isSame =
      known?.object.specText === object.specText && known.object.annotationsText === object.annotationsText;
    all.set(key, isSame ? known : await readObject(object, key, { read, reader }));
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
  const { namespace, name, specText, annotationsText } = object;
  // Sends only these members, because the stored object has others that cannot be sent to a worker.
  const sent = { namespace, name, specText, ...(annotationsText === undefined ? {} : { annotationsText }) };
  const [first] = await reader.read({ file, content: { object: sent } }, read);
  const document = first ?? failedDocument(key, file, 'no document was read');
  // The key of an object is known even if its `spec` is invalid.
  return { object, key, length: specText.length, document: { ...document, key } };
}
