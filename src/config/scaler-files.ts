import type { Problem } from '../scaler/problems/problem.js';
import { type ReadDocument, type ReadOptions, eachDocument } from '../scaler/read-scalers.js';
import type { Scaler } from '../scaler/spec.js';
import { takeTurns } from '../units/clock.js';
import type { Clock } from '../units/clock.js';
import { type DocumentSet, type ReadPath, nextSet } from './document-set.js';
import { type ObjectSource, type ReadObject, readObjects } from './object-documents.js';
import { addObjects, type ObjectVerdict } from './object-set.js';
import { type Generation, fingerprint, readGeneration } from './read-generation.js';
import { watchFiles } from './watch-files.js';

export interface ScalerFilesOptions {
  /** Files and folders: `scalers.paths` of the service config. */
  readonly paths: readonly string[];
  readonly clock: Clock;
  /** The service config's `defaults`, and what it admits. */
  readonly read?: ReadOptions;
  /** Documents that are objects of the cluster; left out: there are none. */
  readonly objects?: ObjectSource | undefined;
}

/** What one reading of the documents gives. */
export interface LoadedScalers {
  /** All that run from now on, in the order of their names. One whose document did not change is the same object. */
  readonly scalers: readonly Scaler[];
  readonly problems: readonly Problem[];
  /** Whether scalers or problems are others than after the last reading; true for the first one. */
  readonly changed: boolean;
  /** What became of each object of the cluster, by `NAMESPACE/NAME`. */
  readonly verdicts: ReadonlyMap<string, ObjectVerdict>;
  /** Whether all objects are known; false: more may come that have been there all the time. */
  readonly isComplete: boolean;
}

/** The scaler documents of some files and folders, while they change. */
export interface ScalerFiles {
  /** Reads everything once. What is wrong keeps its last good version. Never rejects. */
  readonly load: () => Promise<LoadedScalers>;
  /**
   * Calls `onChange` when files or objects differ from what `load` has seen: at once where that is told, else within 10 s.
   * Resolves when `signal` is aborted. `onChange` is not called again before what it gave back is done.
   */
  readonly watch: (onChange: () => void | Promise<void>, signal: AbortSignal) => Promise<void>;
}

/** Reads and watches scaler documents. `load` must be called first. */
export function createScalerFiles({ paths, clock, read = {}, objects }: ScalerFilesOptions): ScalerFiles {
  let set: DocumentSet = new Map();
  let told: string | null = null;
  let seen = '';
  let parsed: ReadonlyMap<string, ParsedFile> = new Map();
  let readBefore: ReadonlyMap<string, ReadObject> = new Map();
  let haveObjectsChanged = false;
  objects?.onChange(() => (haveObjectsChanged = true));

  const load = async (): Promise<LoadedScalers> => {
    const generations = await readAll(paths);
    seen = fingerprint(generations);
    haveObjectsChanged = false;
    const isComplete = objects?.isComplete() ?? true;
    readBefore = await readObjects(objects?.list() ?? [], readBefore, { read, clock });
    const files = await parseFiles(generations, parsed, { read, clock });
    parsed = files;
    const readPaths = generations.map((generation) => withDocuments(generation, files));
    const ofFiles = nextSet(readPaths, set, { mayBeAbsent: objects !== undefined });
    const ofObjects = addObjects(ofFiles, readBefore, { last: set });
    const next = { set: ofObjects.set, problems: [...ofFiles.problems, ...ofObjects.problems] };
    const isSameSet =
      next.set.size === set.size &&
      Array.from(next.set).every(([key, { scaler }]) => set.get(key)?.scaler === scaler);
    const problems = JSON.stringify(next.problems);
    const changed = !isSameSet || problems !== told;
    set = next.set;
    told = problems;
    const { verdicts } = ofObjects;
    return { scalers: inOrder(next.set), problems: next.problems, changed, verdicts, isComplete };
  };

  return {
    load,
    watch: (onChange, signal) =>
      watchFiles({
        paths,
        clock,
        signal,
        hasChanged: async () => haveObjectsChanged || fingerprint(await readAll(paths)) !== seen,
        onChange,
        alsoOn: objects?.onChange,
      }),
  };
}

interface ParsedFile {
  readonly text: string;
  readonly documents: readonly ReadDocument[];
}

/** A file that two of the paths lead to by the same name belongs to the first of them. */
async function readAll(paths: readonly string[]): Promise<readonly Generation[]> {
  const seen = new Set<string>();
  const generations = await Promise.all(Array.from(new Set(paths), (path) => readGeneration(path)));
  return generations.map((generation) => {
    const files = generation.files.filter(({ name }) => !seen.has(name));
    for (const { name } of files) seen.add(name);
    return { ...generation, files };
  });
}

/** A file whose text did not change is not parsed again. A large one keeps nobody waiting. */
async function parseFiles(
  generations: readonly Generation[],
  before: ReadonlyMap<string, ParsedFile>,
  { read, clock }: { readonly read: ReadOptions; readonly clock: Clock },
): Promise<ReadonlyMap<string, ParsedFile>> {
  const nextTurn = takeTurns(clock);
  const files = new Map<string, ParsedFile>();
  for (const { name, text } of generations.flatMap((generation) => generation.files)) {
    if (text === null) continue;
    const known = before.get(name);
    if (known?.text === text) {
      files.set(name, known);
      continue;
    }
    const documents: ReadDocument[] = [];
    for (const document of eachDocument(text, name, read)) {
      documents.push(document);
      await nextTurn();
    }
    files.set(name, { text, documents });
  }
  return files;
}

function withDocuments(generation: Generation, files: ReadonlyMap<string, ParsedFile>): ReadPath {
  return { generation, documents: generation.files.flatMap(({ name }) => files.get(name)?.documents ?? []) };
}

function inOrder(set: DocumentSet): readonly Scaler[] {
  return Array.from(set)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { scaler }]) => scaler);
}
