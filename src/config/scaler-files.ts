import { isOfObject, OBJECTS_PATH, type Problem } from '../scaler/problems/problem.js';
import { internalErrorMessage, unplacedProblem } from '../scaler/problems/finding.js';
import type { ReadDocument, ReadOptions } from '../scaler/read/read-scalers.js';
import { scalerKey, type Scaler } from '../scaler/spec.js';
import { takeTurns } from '../units/clock.js';
import type { Clock } from '../units/clock.js';
import { type DocumentReader, readerOfThisThread } from './document-reader.js';
import { type DocumentSet, type ReadPath, nextSet } from './document-set.js';
import { type ObjectSource, type ReadObject, readObjects } from './read-objects.js';
import { addObjects, type ObjectVerdict } from './add-objects.js';
import {
  type PathContents,
  fingerprint,
  readPathContents,
  createChangeDetector,
} from './read-path-contents.js';
import { watchFiles } from './watch-files.js';

interface ScalerFilesOptions {
  readonly paths: readonly string[];
  readonly clock: Clock;
  readonly read?: ReadOptions;
  readonly objects?: ObjectSource | undefined;
  /** Default: reads everything in this thread. */
  readonly reader?: DocumentReader;
  /** Measures time limits for a file system that does not respond. Default: no limits. */
  readonly deadlines?: Clock;
}

export interface LoadedScalers {
  /** Sorted by name. An unchanged document keeps its `Scaler` object. */
  readonly scalers: readonly Scaler[];
  readonly problems: readonly Problem[];
  readonly changed: boolean;
  /** Verdicts on the objects of the cluster, by `NAMESPACE/NAME`. */
  readonly verdicts: ReadonlyMap<string, ObjectVerdict>;
  readonly isComplete: boolean;
}

/** What is in effect instead of a rejected document. `unknown`: it has no readable name. */
export type RejectionEffect = 'last-valid' | 'none' | 'file' | 'unknown';

/** Returns a function for the errors of these documents. */
export function rejectionEffects({ scalers, verdicts }: LoadedScalers): (error: Problem) => RejectionEffect {
  const present = new Set(scalers.map(scalerKey));
  return (error) => {
    const { scaler: key } = error;
    if (key === undefined) return 'unknown';
    if (!present.has(key)) return 'none';
    return isOfObject(error) && verdicts.get(key)?.scaler === null ? 'file' : 'last-valid';
  };
}

interface ScalerFiles {
  /** Reads everything once. An invalid document keeps its last valid version. Never rejects. */
  readonly load: () => Promise<LoadedScalers>;
  /** Returns the file of the document in effect for NAMESPACE/NAME; null: an object, or none. */
  readonly fileOf: (key: string) => string | null;
  /**
   * Calls `onChange` when files or objects differ from those of the last `load`: immediately after a file system event,
   * otherwise within 10 s. Waits until `onChange` resolves before the next call. Errors of `onChange` go to `onFault`,
   * and the watch continues. Resolves when `signal` is aborted.
   */
  readonly watch: (
    onChange: () => void | Promise<void>,
    signal: AbortSignal,
    onFault?: (error: unknown) => void,
  ) => Promise<void>;
}

/** `load` must be called before `watch`. */
export function createScalerFiles(options: ScalerFilesOptions): ScalerFiles {
  const { paths, clock, read = {}, objects, reader = readerOfThisThread(clock) } = options;
  const { deadlines = null } = options;
  let set: DocumentSet = new Map();
  let reportedProblems: string | null = null;
  let lastFingerprint = '';
  let parsed: ReadonlyMap<string, ParsedFile> = new Map();
  let lastObjects: ReadonlyMap<string, ReadObject> = new Map();
  let verdicts: LoadedScalers['verdicts'] = new Map();
  let haveObjectsChanged = false;
  const detector = createChangeDetector(paths, { clock, deadlines });
  objects?.onChange(() => (haveObjectsChanged = true));

  const loadAll = async (): Promise<LoadedScalers> => {
    // With 10,000 documents, each step takes up to 25 ms, and all of them 150 ms.
    const nextTurn = takeTurns(clock);
    await detector.note();
    const allContents = await readAll(paths, deadlines);
    await nextTurn();
    lastFingerprint = fingerprint(allContents);
    haveObjectsChanged = false;
    const isComplete = objects?.isComplete() ?? true;
    lastObjects = await readObjects(objects?.list() ?? [], lastObjects, { read, reader, clock });
    const files = await parseFiles(allContents, parsed, { read, reader });
    parsed = files;
    await nextTurn();
    const readPaths = allContents.map((contents) => withDocuments(contents, files));
    const fromFiles = nextSet(readPaths, set, { mayBeAbsent: objects !== undefined });
    await nextTurn();
    const withObjects = addObjects(fromFiles, lastObjects, { last: set });
    await nextTurn();
    const next = { set: withObjects.set, problems: [...fromFiles.problems, ...withObjects.problems] };
    const isSameSet =
      next.set.size === set.size &&
      Array.from(next.set).every(([key, { scaler }]) => set.get(key)?.scaler === scaler);
    const problems = JSON.stringify(next.problems);
    const changed = !isSameSet || problems !== reportedProblems;
    set = next.set;
    reportedProblems = problems;
    verdicts = withObjects.verdicts;
    await nextTurn();
    return { scalers: inOrder(next.set), problems: next.problems, changed, verdicts, isComplete };
  };

  const load = async (): Promise<LoadedScalers> => {
    try {
      return await loadAll();
    } catch (cause) {
      // A failure without a document keeps all scalers in effect.
      const problems = [unplacedProblem({ code: 'internal-error', message: internalErrorMessage(cause) })];
      reportedProblems = null;
      const isComplete = objects?.isComplete() ?? true;
      return { scalers: inOrder(set), problems, changed: true, verdicts, isComplete };
    } finally {
      reader.close();
    }
  };

  const haveFilesChanged = async (): Promise<boolean> => {
    if (!(await detector.mayHaveChanged())) return false;
    await detector.note();
    return fingerprint(await readAll(paths, deadlines)) !== lastFingerprint;
  };

  return {
    load,
    fileOf: (key) => {
      const active = set.get(key);
      return active === undefined || active.path === OBJECTS_PATH ? null : active.file;
    },
    watch: (onChange, signal, onFault = () => undefined) =>
      watchFiles({
        onFault,
        paths,
        clock,
        signal,
        hasChanged: async () => haveObjectsChanged || (await haveFilesChanged()),
        onChange,
        alsoOn: objects?.onChange,
      }),
  };
}

interface ParsedFile {
  readonly text: string;
  readonly documents: readonly ReadDocument[];
}

/** A file in two paths with the same name belongs to the first path. */
async function readAll(paths: readonly string[], clock: Clock | null): Promise<readonly PathContents[]> {
  const seen = new Set<string>();
  const allContents = await Promise.all(Array.from(new Set(paths), (path) => readPathContents(path, clock)));
  return allContents.map((contents) => {
    const files = contents.files.filter(({ name }) => !seen.has(name));
    for (const { name } of files) seen.add(name);
    return { ...contents, files };
  });
}

async function parseFiles(
  allContents: readonly PathContents[],
  before: ReadonlyMap<string, ParsedFile>,
  { read, reader }: { readonly read: ReadOptions; readonly reader: DocumentReader },
): Promise<ReadonlyMap<string, ParsedFile>> {
  const files = new Map<string, ParsedFile>();
  for (const { name, text } of allContents.flatMap((contents) => contents.files)) {
    if (text === null) continue;
    const known = before.get(name);
    const isSame = known?.text === text;
    const parsed = isSame
      ? known
      : { text, documents: await reader.read({ file: name, content: { text } }, read) };
    files.set(name, parsed);
  }
  return files;
}

function withDocuments(contents: PathContents, files: ReadonlyMap<string, ParsedFile>): ReadPath {
  return { contents, documents: contents.files.flatMap(({ name }) => files.get(name)?.documents ?? []) };
}

function inOrder(set: DocumentSet): readonly Scaler[] {
  return Array.from(set)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { scaler }]) => scaler);
}
