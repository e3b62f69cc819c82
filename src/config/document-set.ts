import type { Problem } from '../scaler/problems/problem.js';
import { unplacedProblem } from '../scaler/problems/unplaced-problem.js';
import { type ReadDocument, refuseDuplicates } from '../scaler/read-scalers.js';
import { MAX_DOCUMENTS } from '../scaler/yaml/read-yaml.js';
import type { Scaler } from '../scaler/spec.js';
import type { Generation } from './read-generation.js';

/** The most text that is read, over all files. */
export const MAX_TOTAL_LENGTH = 64 * 1024 * 1024;

/** A scaler that runs, and where its document was last seen. */
export interface Held {
  readonly scaler: Scaler;
  /** The path of the config it came by. */
  readonly path: string;
  readonly file: string;
}

/** By `NAMESPACE/NAME`. */
export type DocumentSet = ReadonlyMap<string, Held>;

/** A path of the config and the documents in it, file by file. */
export interface ReadPath {
  readonly generation: Generation;
  readonly documents: readonly ReadDocument[];
}

export interface NextSet {
  readonly set: DocumentSet;
  readonly problems: readonly Problem[];
  /** All that were read, also those that are refused. */
  readonly documents: readonly ReadDocument[];
  /** Files that are there but cannot be read: what was in them stays. */
  readonly keptFiles: ReadonlySet<string>;
  /** Of all files together, in UTF-16 units. */
  readonly length: number;
}

/**
 * The scalers that run after a reload. A wrong document keeps its last good version; so do the documents of a file
 * that cannot be read, and all of a path that is unreadable or past the limits; only what is gone from a path
 * that could be read is removed, if need be all of it. `mayBeAbsent`: a path that is empty is no problem,
 * nor is one that is not there as long as nothing was in it.
 * Source: reliability.md C3-C6, decisions 10 and 14.
 */
export function nextSet(
  paths: readonly ReadPath[],
  last: DocumentSet,
  { mayBeAbsent = false }: { readonly mayBeAbsent?: boolean } = {},
): NextSet {
  const lengths = paths.flatMap(({ generation }) => generation.files.map(({ text }) => text?.length ?? 0));
  const length = lengths.reduce((sum, each) => sum + each, 0);
  const count = paths.reduce((sum, { documents }) => sum + documents.length, 0);
  const tooMuch = checkLimits(lengths, count);
  if (tooMuch !== null) {
    const files = paths.flatMap(({ generation }) => generation.files.map(({ name }) => name));
    return { set: last, problems: [tooMuch], documents: [], keptFiles: new Set(files), length: 0 };
  }
  const all = refuseDuplicates(paths.flatMap(({ documents }) => documents));
  const set = new Map<string, Held>();
  const pathOf = new Map(
    paths.flatMap(({ generation: { path, files } }) => files.map(({ name }) => [name, path])),
  );
  for (const { key, scaler, file } of all) {
    const before = key === null ? undefined : last.get(key);
    if (key === null) continue;
    if (scaler !== null)
      set.set(key, { scaler: sameOr(before, scaler), path: pathOf.get(file) ?? file, file });
    else if (before !== undefined) set.set(key, before);
  }
  const kept = keptFiles(paths, all, last);
  for (const [key, held] of last) {
    if (!set.has(key) && (kept.files.has(held.file) || kept.paths.has(held.path))) set.set(key, held);
  }
  const fromText = all.flatMap(({ problems }) => problems);
  const fromPaths = paths.flatMap((path) =>
    mayBeAbsent && isMissed(path, set) ? [] : pathProblems(path, last),
  );
  return { set, problems: [...fromPaths, ...fromText], documents: all, keptFiles: kept.files, length };
}

/** Whether a path that is empty or not there holds nothing back: where documents come from elsewhere, that is no fault. */
function isMissed(read: ReadPath, set: DocumentSet): boolean {
  const { path, error, isAbsent } = read.generation;
  const isThere = error !== null && isAbsent !== true;
  return isEmpty(read) && !isThere && Array.from(set.values()).every((held) => held.path !== path);
}

/** A document that did not change stays the same object, so that nothing of it is reset. */
export function sameOr(before: Held | undefined, scaler: Scaler): Scaler {
  if (before === undefined || before.scaler === scaler) return scaler;
  return JSON.stringify(before.scaler.document) === JSON.stringify(scaler.document) ? before.scaler : scaler;
}

/** More text or documents than are read at all; null: neither. */
export function checkLimits(lengths: readonly number[], documents: number): Problem | null {
  if (documents > MAX_DOCUMENTS) {
    const message = `there are ${documents} documents, must be at most ${MAX_DOCUMENTS}; nothing is taken over`;
    return unplacedProblem({ code: 'yaml-count', message });
  }
  const length = lengths.reduce((sum, each) => sum + each, 0);
  if (length <= MAX_TOTAL_LENGTH) return null;
  const message = `the documents have ${length} characters, must be at most ${MAX_TOTAL_LENGTH} (64 MiB); nothing is taken over`;
  return unplacedProblem({ code: 'yaml-size', message });
}

/** Files and paths whose earlier documents stay, although they are not seen in them now. */
function keptFiles(
  paths: readonly ReadPath[],
  all: readonly ReadDocument[],
  last: DocumentSet,
): { readonly files: ReadonlySet<string>; readonly paths: ReadonlySet<string> } {
  const unreadable = paths.flatMap(({ generation }) => generation.files.filter(({ text }) => text === null));
  // One of them may be a folder, with all that was in it.
  const within = Array.from(last.values(), ({ file }) => file).filter((file) =>
    unreadable.some(({ name }) => file.startsWith(`${name}/`)),
  );
  const broken = all.filter(({ key }) => key === null);
  return {
    files: new Set([...unreadable.map(({ name }) => name), ...within, ...broken.map(({ file }) => file)]),
    paths: new Set(paths.flatMap(({ generation: { path, error } }) => (error === null ? [] : [path]))),
  };
}

function isEmpty({ generation, documents }: ReadPath): boolean {
  return documents.length === 0 && generation.files.every(({ text }) => text !== null);
}

function pathProblems(read: ReadPath, last: DocumentSet): readonly Problem[] {
  const { path, files, error } = read.generation;
  if (error !== null) {
    const count = Array.from(last.values()).filter((held) => held.path === path).length;
    const kept = count === 1 ? 'its last document stays' : `its last ${count} documents stay`;
    const consequence = count > 0 ? `; ${kept} in force` : '';
    const message = `reading ${path}: ${error}${consequence}`;
    return [unplacedProblem({ code: 'unreadable', message }, path)];
  }
  if (isEmpty(read))
    return [unplacedProblem({ code: 'no-documents', message: `${path} has no scaler documents` }, path)];
  const unreadable = files.filter((file) => file.error !== null);
  const mounts = files.filter(({ isOwnMount }) => isOwnMount);
  return [
    ...unreadable.map(({ name, error: why }) =>
      unplacedProblem({ code: 'unreadable', message: `reading ${name}: ${why ?? ''}` }, name),
    ),
    ...mounts.map(({ name }) => {
      const message = `${name} is a subPath mount, which Kubernetes never updates: mount the directory`;
      return unplacedProblem({ code: 'not-updated', message }, name);
    }),
  ];
}
