import { type ReadDocument, type ReadOptions, failedDocument } from '../scaler/read-scalers.js';
import { scalerKey } from '../scaler/spec.js';
import { takeTurns } from '../units/clock.js';
import type { Clock } from '../units/clock.js';
import type { DocumentReader } from './document-reader.js';
import type { DocumentObject } from './object-document.js';

/** Path and file prefix of documents that are objects of the cluster. */
export const OBJECTS_PATH = 'scalers.promscaler.dev';

/** Scaler objects of the cluster. */
export interface ObjectSource {
  /** The objects that are known now. */
  readonly list: () => Iterable<DocumentObject>;
  /** Whether `list` has all objects: the first list is complete. */
  readonly isComplete: () => boolean;
  /** Calls `listener` when an object is added, changed or removed. Returns the function that unsubscribes it. */
  readonly onChange: (listener: () => void) => () => void;
}

export interface ReadObject {
  readonly object: DocumentObject;
  readonly key: string;
  /** Characters of its JSON. */
  readonly length: number;
  readonly document: ReadDocument;
}

/** Returns `scalers.promscaler.dev/NAMESPACE/NAME`, the file name in problems. */
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
  // One list may bring thousands.
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
  // The stored object has members that cannot be sent to a worker.
  const [first] = await reader.read({ file, content: { object: { namespace, name, specText } } }, read);
  const document = first ?? failedDocument(key, file, 'no document was read');
  // The name is known even if the rest is invalid.
  return { object, key, length: specText.length, document: { ...document, key } };
}
