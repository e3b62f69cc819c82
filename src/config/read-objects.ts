import { type ReadDocument, type ReadOptions, failedDocument } from '../scaler/read/read-scalers.js';
import { OBJECTS_PATH, ofScaler, type Problem } from '../scaler/problems/problem.js';
import { scalerKey, type Scaler, type ScalerName } from '../scaler/spec.js';
import { periodicYield, type Clock } from '../units/clock.js';
import type { DocumentReader, DocumentObject } from './document-reader.js';
import type { ProblemCode } from '../scaler/problems/problem-codes.js';
import { MAX_DOCUMENTS } from '../scaler/yaml/read-yaml.js';
import {
  type DocumentSet,
  type ActiveScaler,
  MAX_TOTAL_LENGTH,
  type NextSet,
  keepUnchanged,
} from './document-set.js';

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

/** Returns the name of an object in problems, in place of a file: `scalers.promscaler.dev/NAMESPACE/NAME`. */
export function objectFile({ namespace, name }: ScalerName): string {
  return `${OBJECTS_PATH}/${namespace}/${name}`;
}

/**
 * Checks objects by the same rules as files. Only the namespace, the name and the annotations for promscaler are used
 * from the metadata. An object is not read again if `before` has the same `spec` and annotations. Yields to other work
 * every 20 ms.
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
  const yieldIfDue = periodicYield(clock);
  for (const object of [...objects]) {
    const key = scalerKey(object);
    const known = before.get(key);
    const isSame =
      known?.object.specText === object.specText && known.object.annotationsText === object.annotationsText;
    all.set(key, isSame ? known : await readObject(object, key, { read, reader }));
    await yieldIfDue();
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
  // Sends only these fields, because the stored object has others that a worker cannot receive.
  const sent = { namespace, name, specText, ...(annotationsText === undefined ? {} : { annotationsText }) };
  const [first] = await reader.read({ file, content: { object: sent } }, read);
  const document = first ?? failedDocument(key, file, 'no document was read');
  // Sets the key, which is known even if the `spec` is invalid.
  return { object, key, length: specText.length, document: { ...document, key } };
}

export interface ObjectVerdict {
  /**
   * The `spec` that was checked, as JSON. If the object has a different `spec` now, that `spec` was not checked yet.
   */
  readonly specText: string;
  readonly problems: readonly Problem[];
  /** The scaler in effect, made from this version or the last valid version; null: none. */
  readonly scaler: Scaler | null;
}

/** How many documents and characters the objects may have in addition to the files. */
export interface Capacity {
  readonly documents: number;
  readonly length: number;
}

export interface AddedObjects {
  readonly set: DocumentSet;
  readonly problems: readonly Problem[];
  readonly verdicts: ReadonlyMap<string, ObjectVerdict>;
}

/**
 * Adds the objects of the cluster to the documents of the files. A file takes precedence over an object with the same
 * name, even while the file is invalid. If an object is invalid, its last valid version stays in effect; if it is
 * deleted, its scaler is removed. If the limits are exceeded, objects that are already in effect take precedence over
 * new objects: a user who creates many objects cannot stop the scalers of others.
 */
export function addObjects(
  files: NextSet,
  objects: ReadonlyMap<string, ReadObject>,
  { last, capacity = capacityAfter(files) }: { readonly last: DocumentSet; readonly capacity?: Capacity },
): AddedObjects {
  const written = new Map(files.documents.map((document) => [document.key, document]));
  const set = new Map(
    [...files.set].filter(([key, active]) => active.path !== OBJECTS_PATH || written.has(key)),
  );
  const problems: Problem[] = [];
  const verdicts = new Map<string, ObjectVerdict>();
  const isTooMuch = checkCapacity(capacity);
  for (const one of activeFirst(objects, last)) {
    const { key, object, document } = one;
    const winner = written.get(key)?.file ?? brokenFileOf(files, key);
    const extra = winner === null ? isTooMuch(one) : [duplicateOf(document, winner, written.get(key))];
    const active = winner === null ? nextActive(one, last.get(key), extra.length > 0) : null;
    if (active !== null) set.set(key, active);
    const found = extra.length === 0 ? document.problems : [...document.problems, ...extra];
    problems.push(...ofScaler(found, key));
    const inForce = set.get(key);
    const scaler = inForce?.path === OBJECTS_PATH ? inForce.scaler : null;
    verdicts.set(key, { specText: object.specText, problems: found, scaler });
  }
  return { set, problems, verdicts };
}

function nextActive(
  { object, document: { scaler } }: ReadObject,
  before: ActiveScaler | undefined,
  isRefused: boolean,
): ActiveScaler | null {
  if (scaler === null || isRefused) return before ?? null;
  return { scaler: keepUnchanged(before, scaler), path: OBJECTS_PATH, file: objectFile(object) };
}

/**
 * Returns the unreadable file that takes precedence over the object, because its last readable version has a document
 * with the same name; null: there is none. An empty or absent path does not take precedence over an object.
 */
function brokenFileOf({ set, keptFiles }: NextSet, key: string): string | null {
  const active = set.get(key);
  return active !== undefined && keptFiles.has(active.file) ? active.file : null;
}

function activeFirst(objects: ReadonlyMap<string, ReadObject>, last: DocumentSet): readonly ReadObject[] {
  const rank = (key: string): number => (last.get(key)?.path === OBJECTS_PATH ? 0 : 1);
  return [...objects.values()].sort((a, b) => rank(a.key) - rank(b.key) || (a.key < b.key ? -1 : 1));
}

function capacityAfter({ documents, length }: NextSet): Capacity {
  return { documents: MAX_DOCUMENTS - documents.length, length: MAX_TOTAL_LENGTH - length };
}

function checkCapacity(capacity: Capacity): (one: ReadObject) => readonly Problem[] {
  let { documents, length } = capacity;
  return ({ document, length: own }) => {
    documents -= 1;
    length -= own;
    if (documents < 0) {
      const message = `files and objects together contain more than ${MAX_DOCUMENTS} documents: this object is not used`;
      return [problemOf(document, 'yaml-count', message)];
    }
    if (length >= 0) return [];
    const message = `all documents together have more than ${MAX_TOTAL_LENGTH} characters: this object is not used`;
    return [problemOf(document, 'yaml-size', message)];
  };
}

function duplicateOf(document: ReadDocument, file: string, other: ReadDocument | undefined): Problem {
  const place = other?.place ?? null;
  const line = place === null ? '' : `:${place.line}`;
  const message = `${document.key ?? ''} is also in ${file}${line}: a file takes precedence, so this object is not used`;
  return problemOf(document, 'duplicate-document', message);
}

function problemOf({ file, place, nameLine }: ReadDocument, code: ProblemCode, message: string): Problem {
  return { code, severity: 'error', message, file, place, path: 'metadata.name', sourceLine: nameLine };
}
