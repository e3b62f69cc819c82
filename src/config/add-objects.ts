import type { Problem } from '../scaler/problems/problem.js';
import type { ProblemCode } from '../scaler/problems/problem-codes.js';
import type { ReadDocument } from '../scaler/read-scalers.js';
import { MAX_DOCUMENTS } from '../scaler/yaml/read-yaml.js';
import type { Scaler } from '../scaler/spec.js';
import { type DocumentSet, type Held, MAX_TOTAL_LENGTH, type NextSet, sameOr } from './document-set.js';
import { OBJECTS_PATH, type ReadObject, objectFile } from './read-objects.js';

/** What became of a document that is an object of the cluster. */
export interface ObjectVerdict {
  /** The `spec` that was judged, as JSON: an object that has another one by now has not been judged yet. */
  readonly specText: string;
  /** One that is an error refuses it. */
  readonly problems: readonly Problem[];
  /** What is in force of it, this version or its last good one; null: nothing. */
  readonly scaler: Scaler | null;
}

/** How many documents and how much text there may be beside the files. */
export interface Room {
  readonly documents: number;
  readonly length: number;
}

export interface AddedObjects {
  readonly set: DocumentSet;
  readonly problems: readonly Problem[];
  /** By `NAMESPACE/NAME`. */
  readonly verdicts: ReadonlyMap<string, ObjectVerdict>;
}

/**
 * The set of the files with the objects of the cluster added. A file wins over an object of the same name, also while
 * the file is broken. A wrong object keeps the last good version of its name; one that is gone goes. Where there are too
 * many, those in force keep their place: nobody ends the scalers of others by making more of them.
 */
export function addObjects(
  files: NextSet,
  objects: ReadonlyMap<string, ReadObject>,
  { last, room = roomBeside(files) }: { readonly last: DocumentSet; readonly room?: Room },
): AddedObjects {
  const written = new Map(files.documents.map((document) => [document.key, document]));
  const set = new Map([...files.set].filter(([key, held]) => held.path !== OBJECTS_PATH || written.has(key)));
  const problems: Problem[] = [];
  const verdicts = new Map<string, ObjectVerdict>();
  const isTooMuch = countRoom(room);
  for (const one of byAge(objects, last)) {
    const { key, object, document } = one;
    const winner = written.get(key)?.file ?? brokenFileOf(files, key);
    const extra = winner === null ? isTooMuch(one) : [duplicateOf(document, winner, written.get(key))];
    const held = winner === null ? nextHeld(one, last.get(key), extra.length > 0) : null;
    if (held !== null) set.set(key, held);
    const found = extra.length === 0 ? document.problems : [...document.problems, ...extra];
    problems.push(...found);
    const inForce = set.get(key);
    const scaler = inForce?.path === OBJECTS_PATH ? inForce.scaler : null;
    verdicts.set(key, { specText: object.specText, problems: found, scaler });
  }
  return { set, problems, verdicts };
}

function nextHeld(
  { object, document: { scaler } }: ReadObject,
  before: Held | undefined,
  isRefused: boolean,
): Held | null {
  if (scaler === null || isRefused) return before ?? null;
  return { scaler: sameOr(before, scaler), path: OBJECTS_PATH, file: objectFile(object) };
}

/** The file that holds this name although it cannot be read now. (A path that is empty or gone holds nothing back.) */
function brokenFileOf({ set, keptFiles }: NextSet, key: string): string | null {
  const held = set.get(key);
  return held !== undefined && keptFiles.has(held.file) ? held.file : null;
}

/** Those in force first, then the others, both by name. */
function byAge(objects: ReadonlyMap<string, ReadObject>, last: DocumentSet): readonly ReadObject[] {
  const rank = (key: string): number => (last.get(key)?.path === OBJECTS_PATH ? 0 : 1);
  return [...objects.values()].sort((a, b) => rank(a.key) - rank(b.key) || (a.key < b.key ? -1 : 1));
}

function roomBeside({ documents, length }: NextSet): Room {
  return { documents: MAX_DOCUMENTS - documents.length, length: MAX_TOTAL_LENGTH - length };
}

function countRoom(room: Room): (one: ReadObject) => readonly Problem[] {
  let { documents, length } = room;
  return ({ document, length: own }) => {
    documents -= 1;
    length -= own;
    if (documents < 0) {
      const message = `there are more than ${MAX_DOCUMENTS} documents, files and objects together: this one is not taken up`;
      return [problemOf(document, 'yaml-count', message)];
    }
    if (length >= 0) return [];
    const message = `all documents together have more than ${MAX_TOTAL_LENGTH} characters (64 MiB): this one is not taken up`;
    return [problemOf(document, 'yaml-size', message)];
  };
}

function duplicateOf(document: ReadDocument, file: string, other: ReadDocument | undefined): Problem {
  const place = other?.place ?? null;
  const line = place === null ? '' : `:${place.line}`;
  const message = `${document.key ?? ''} is also in ${file}${line}: files win, this object is not used`;
  return problemOf(document, 'duplicate-document', message);
}

function problemOf({ file, place, nameLine }: ReadDocument, code: ProblemCode, message: string): Problem {
  return { code, severity: 'error', message, file, place, path: 'metadata.name', sourceLine: nameLine };
}
