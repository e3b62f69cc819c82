import { ofScaler, type Problem } from '../scaler/problems/problem.js';
import { unplacedProblem } from '../scaler/problems/finding.js';
import { type ReadDocument, refuseDuplicates } from '../scaler/read/read-scalers.js';
import { MAX_DOCUMENTS } from '../scaler/yaml/read-yaml.js';
import type { Scaler } from '../scaler/spec.js';
import type { PathContents } from './read-path-contents.js';
import { countOf } from '../units/format.js';

/** Limits the characters of all files and objects together. */
export const MAX_TOTAL_LENGTH = 64 * 1024 * 1024;

export interface ActiveScaler {
  readonly scaler: Scaler;
  /** The entry of `scalers.paths` that contains the document. */
  readonly path: string;
  readonly file: string;
}

/** The documents by `NAMESPACE/NAME`. */
export type DocumentSet = ReadonlyMap<string, ActiveScaler>;

export interface ReadPath {
  readonly contents: PathContents;
  readonly documents: readonly ReadDocument[];
}

export interface NextSet {
  readonly set: DocumentSet;
  readonly problems: readonly Problem[];
  /** All documents, including rejected ones. */
  readonly documents: readonly ReadDocument[];
  /**
   * Files whose last documents stay in effect: they cannot be read, have a document without a readable name, or exceed
   * the limits.
   */
  readonly keptFiles: ReadonlySet<string>;
  readonly length: number;
}

/**
 * Returns the scalers in effect after a reload. The last valid version replaces an invalid document, each document of a
 * file that cannot be read, and each document of a path that cannot be read. If the limits are exceeded, nothing
 * changes. A scaler is removed only if its document is missing from a readable path. With `mayBeAbsent`, an empty or
 * absent path without documents in effect causes no problem. Source: reliability.md C3-C6, decisions 10 and 14.
 */
export function nextSet(
  paths: readonly ReadPath[],
  last: DocumentSet,
  { mayBeAbsent = false }: { readonly mayBeAbsent?: boolean } = {},
): NextSet {
  const lengths = paths.flatMap(({ contents }) => contents.files.map(({ text }) => text?.length ?? 0));
  const length = lengths.reduce((sum, each) => sum + each, 0);
  const count = paths.reduce((sum, { documents }) => sum + documents.length, 0);
  const tooMuch = checkLimits(lengths, count);
  if (tooMuch !== null) {
    const files = paths.flatMap(({ contents }) => contents.files.map(({ name }) => name));
    return { set: last, problems: [tooMuch], documents: [], keptFiles: new Set(files), length: 0 };
  }
  const all = refuseDuplicates(paths.flatMap(({ documents }) => documents));
  const set = new Map<string, ActiveScaler>();
  const pathOf = new Map(
    paths.flatMap(({ contents: { path, files } }) => files.map(({ name }) => [name, path])),
  );
  for (const { key, scaler, file } of all) {
    if (key === null) continue;
    const before = last.get(key);
    if (scaler !== null)
      set.set(key, { scaler: keepUnchanged(before, scaler), path: pathOf.get(file) ?? file, file });
    else if (before !== undefined) set.set(key, before);
  }
  const kept = keptFiles(paths, all, last);
  for (const [key, active] of last) {
    if (!set.has(key) && (kept.files.has(active.file) || kept.paths.has(active.path))) set.set(key, active);
  }
  const fromText = all.flatMap(({ key, problems }) => ofScaler(problems, key));
  const fromPaths = paths.flatMap((path) =>
    mayBeAbsent && isIgnorable(path, set) ? [] : pathProblems(path, last),
  );
  return { set, problems: [...fromPaths, ...fromText], documents: all, keptFiles: kept.files, length };
}

/**
 * Returns whether a path has no documents and no unreadable file, and none of its documents is in effect. If there are
 * Scaler objects in the cluster, such a path causes no problem.
 */
function isIgnorable(read: ReadPath, set: DocumentSet): boolean {
  const { path, error, isAbsent } = read.contents;
  const isUnreadable = error !== null && isAbsent !== true;
  return isEmpty(read) && !isUnreadable && Array.from(set.values()).every((active) => active.path !== path);
}

/** Returns the previous object if the document is unchanged, so that the scaler keeps its state. */
export function keepUnchanged(before: ActiveScaler | undefined, scaler: Scaler): Scaler {
  if (before === undefined || before.scaler === scaler) return scaler;
  return JSON.stringify(before.scaler.document) === JSON.stringify(scaler.document) ? before.scaler : scaler;
}

export function checkLimits(lengths: readonly number[], documents: number): Problem | null {
  if (documents > MAX_DOCUMENTS) {
    const message = `the service has ${countOf(documents, 'document')}, must have at most ${MAX_DOCUMENTS}; no change is applied`;
    return unplacedProblem({ code: 'yaml-count', message });
  }
  const length = lengths.reduce((sum, each) => sum + each, 0);
  if (length <= MAX_TOTAL_LENGTH) return null;
  const message = `the documents have ${length} characters in total, must have at most ${MAX_TOTAL_LENGTH}; no change is applied`;
  return unplacedProblem({ code: 'yaml-size', message });
}

function keptFiles(
  paths: readonly ReadPath[],
  all: readonly ReadDocument[],
  last: DocumentSet,
): { readonly files: ReadonlySet<string>; readonly paths: ReadonlySet<string> } {
  const unreadable = paths.flatMap(({ contents }) => contents.files.filter(({ text }) => text === null));
  // If a directory cannot be read, none of its files can be read.
  const within = Array.from(last.values(), ({ file }) => file).filter((file) =>
    unreadable.some(({ name }) => file.startsWith(`${name}/`)),
  );
  const broken = all.filter(({ key }) => key === null);
  return {
    files: new Set([...unreadable.map(({ name }) => name), ...within, ...broken.map(({ file }) => file)]),
    paths: new Set(paths.flatMap(({ contents: { path, error } }) => (error === null ? [] : [path]))),
  };
}

function isEmpty({ contents, documents }: ReadPath): boolean {
  return documents.length === 0 && contents.files.every(({ text }) => text !== null);
}

function pathProblems(read: ReadPath, last: DocumentSet): readonly Problem[] {
  const { path, files, error } = read.contents;
  if (error !== null) {
    const count = Array.from(last.values()).filter((active) => active.path === path).length;
    const kept =
      count === 1
        ? 'the document last read from the path stays'
        : `the ${countOf(count, 'document')} last read from the path stay`;
    const consequence = count > 0 ? `; ${kept} in effect` : '';
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
      const message = `${name} is a subPath mount, which Kubernetes never updates: mount the whole directory`;
      return unplacedProblem({ code: 'not-updated', message }, name);
    }),
  ];
}
