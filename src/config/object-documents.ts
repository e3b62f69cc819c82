import { stringify } from 'yaml';
import { type ReadDocument, type ReadOptions, readDocuments } from '../scaler/read-scalers.js';
import { API_VERSION } from '../scaler/schema.js';
import { scalerKey } from '../scaler/spec.js';
import { takeTurns } from '../units/clock.js';
import type { Clock } from '../units/clock.js';

/** What stands for a path and a file where a document is an object of the cluster. */
export const OBJECTS_PATH = 'scalers.promscaler.dev';

/** A document that is an object of the cluster. */
export interface DocumentObject {
  readonly namespace: string;
  readonly name: string;
  /** Its `spec` as JSON; empty: it has none. */
  readonly specText: string;
}

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
  /** Of the text that was read, in UTF-16 units. */
  readonly length: number;
  readonly document: ReadDocument;
}

/** `scalers.promscaler.dev/NAMESPACE/NAME`: what stands for the file in problems. */
export function objectFile({ namespace, name }: Pick<DocumentObject, 'namespace' | 'name'>): string {
  return `${OBJECTS_PATH}/${namespace}/${name}`;
}

/**
 * Reads objects by the same rules as files, as the YAML that they would be in one; of the metadata namespace and name
 * alone. One whose document is as it was `before` is not read again. Lets others have a turn every 20 ms.
 */
export async function readObjects(
  objects: Iterable<DocumentObject>,
  before: ReadonlyMap<string, ReadObject>,
  { read, clock }: { readonly read: ReadOptions; readonly clock: Clock },
): Promise<ReadonlyMap<string, ReadObject>> {
  const all = new Map<string, ReadObject>();
  // Thousands of them come with one list.
  const nextTurn = takeTurns(clock);
  for (const object of [...objects]) {
    const key = scalerKey(object);
    const known = before.get(key);
    all.set(key, known?.object.specText === object.specText ? known : readObject(object, key, read));
    await nextTurn();
  }
  return all;
}

function readObject(object: DocumentObject, key: string, read: ReadOptions): ReadObject {
  const text = writeObject(object);
  const file = objectFile(object);
  const [document] = readDocuments(text, file, read);
  if (document === undefined) throw new Error(`${file} was written as an empty text`);
  // Its name is known, however broken the rest of it is.
  return { object, key, length: text.length, document: { ...document, key } };
}

/** Without folding and aliases: what the reader says of a line should be found in the user's own. */
function writeObject({ namespace, name, specText }: DocumentObject): string {
  const spec: unknown = specText === '' ? undefined : JSON.parse(specText);
  const document = {
    apiVersion: API_VERSION,
    kind: 'Scaler',
    metadata: { name, namespace },
    ...(spec === undefined ? {} : { spec }),
  };
  return stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
}
