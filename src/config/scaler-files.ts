import { isOfObject, OBJECTS_PATH, type Problem } from '../scaler/problems/problem.js';
import { internalErrorMessage, unplacedProblem } from '../scaler/problems/finding.js';
import { type ReadDocument, type ReadOptions, withDefaults } from '../scaler/read/read-scalers.js';
import { scalerKey, type Scaler } from '../scaler/spec.js';
import { type FieldChange, fieldChanges } from '../scaler/field-changes.js';
import { readYaml } from '../scaler/yaml/read-yaml.js';
import { periodicYield, type Clock } from '../units/clock.js';
import { type DocumentReader, readerOfThisThread, locateObject } from './document-reader.js';
import { type DocumentSet, type ReadPath, nextSet } from './document-set.js';
import {
  type ObjectSource,
  type ReadObject,
  readObjects,
  addObjects,
  type ObjectVerdict,
} from './read-objects.js';
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
  /** Reads the documents. Default: `readerOfThisThread`. */
  readonly reader?: DocumentReader;
  /** Measures the time limits for a file system that does not respond. Default: there are none. */
  readonly deadlines?: Clock;
}

export interface LoadedScalers {
  /** The scalers, sorted by name. An unchanged document keeps its `Scaler` object. */
  readonly scalers: readonly Scaler[];
  readonly problems: readonly Problem[];
  readonly changed: boolean;
  /** The file of each scaler by `NAMESPACE/NAME`, or the name of the object if a Scaler object is in effect. */
  readonly files: ReadonlyMap<string, string>;
  /** The results of checking the Scaler objects, by `NAMESPACE/NAME`. */
  readonly verdicts: ReadonlyMap<string, ObjectVerdict>;
  readonly isComplete: boolean;
}

/** What is in effect in place of a rejected document. `unknown`: the document has no readable name. */
export type RejectionEffect = 'last-valid' | 'none' | 'file' | 'unknown';

/** Returns a function from a problem of a rejected document to what is in effect instead. */
export function rejectionEffects({ scalers, verdicts }: LoadedScalers): (error: Problem) => RejectionEffect {
  const present = new Set(scalers.map(scalerKey));
  return (error) => {
    const { scaler: key } = error;
    if (key === undefined) return 'unknown';
    if (!present.has(key)) return 'none';
    return isOfObject(error) && verdicts.get(key)?.scaler === null ? 'file' : 'last-valid';
  };
}

export interface DocumentOrigin {
  /** The file of the document; null: it is a Scaler object, or there is no such document. */
  readonly file: string | null;
  readonly newest: () => NewestVersion;
}

interface NewestVersion {
  /** The document as in its file, with comments; null: it is in no file, or has more than 20,000 characters. */
  readonly documentText: string | null;
  /** Fields in which a rejected version differs from the one in effect, at most 50; empty: no version is rejected. */
  readonly rejectedChanges: readonly FieldChange[];
}

interface ScalerFiles {
  /** Reads everything once. The last valid version of an invalid document stays in effect. Never rejects. */
  readonly load: () => Promise<LoadedScalers>;
  /** Returns where the document in effect for NAMESPACE/NAME comes from, and its newest version. */
  readonly originOf: (key: string) => DocumentOrigin;
  /**
   * Calls `onChange` when files or objects have changed since the last `load`: immediately after an event of the file
   * system, otherwise within 10 s. The next call waits until `onChange` has resolved. `onFault` is called with errors,
   * and the watch continues. Resolves when `signal` is aborted.
   */
  readonly watch: (
    onChange: () => void | Promise<void>,
    signal: AbortSignal,
    onFault?: (error: unknown) => void,
  ) => Promise<void>;
}

/** Creates the reader of all documents. `load` must be called before `watch`. */
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
    // Yields between the steps: with 10,000 documents, each step takes up to 25 ms, and all steps take 150 ms.
    const yieldIfDue = periodicYield(clock);
    await detector.note();
    const allContents = await readAll(paths, deadlines);
    await yieldIfDue();
    lastFingerprint = fingerprint(allContents);
    haveObjectsChanged = false;
    const isComplete = objects?.isComplete() ?? true;
    lastObjects = await readObjects(objects?.list() ?? [], lastObjects, { read, reader, clock });
    const files = await parseFiles(allContents, parsed, { read, reader });
    parsed = files;
    await yieldIfDue();
    const readPaths = allContents.map((contents) => withDocuments(contents, files));
    const fromFiles = nextSet(readPaths, set, { mayBeAbsent: objects !== undefined });
    await yieldIfDue();
    const withObjects = addObjects(fromFiles, lastObjects, { last: set });
    await yieldIfDue();
    const next = { set: withObjects.set, problems: [...fromFiles.problems, ...withObjects.problems] };
    const isSameSet =
      next.set.size === set.size &&
      Array.from(next.set).every(([key, { scaler }]) => set.get(key)?.scaler === scaler);
    const problems = JSON.stringify(next.problems);
    const changed = !isSameSet || problems !== reportedProblems;
    set = next.set;
    reportedProblems = problems;
    verdicts = withObjects.verdicts;
    await yieldIfDue();
    return { ...inOrder(next.set), problems: next.problems, changed, verdicts, isComplete };
  };

  const load = async (): Promise<LoadedScalers> => {
    try {
      return await loadAll();
    } catch (cause) {
      // No document has caused the failure, so all scalers stay in effect.
      const problems = [unplacedProblem({ code: 'internal-error', message: internalErrorMessage(cause) })];
      reportedProblems = null;
      const isComplete = objects?.isComplete() ?? true;
      return { ...inOrder(set), problems, changed: true, verdicts, isComplete };
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
    originOf: (key) => {
      const active = set.get(key);
      if (active === undefined)
        return { file: null, newest: () => ({ documentText: null, rejectedChanges: [] }) };
      const isObject = active.path === OBJECTS_PATH;
      const newest = (): NewestVersion => {
        const text = isObject ? null : textOf(parsed.get(active.file), key);
        const object = isObject ? lastObjects.get(key) : undefined;
        const document =
          object === undefined
            ? parsed.get(active.file)?.documents.find((one) => one.key === key)
            : object.document;
        const changes =
          document?.scaler !== null
            ? []
            : fieldChanges(active.scaler.document, withDefaults(valueOf(object, text), read.defaults), '');
        return { documentText: text, rejectedChanges: changes.slice(0, MOST_CHANGES) };
      };
      return { file: isObject ? null : active.file, newest };
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

const MOST_CHANGES = 50;
const LONGEST_TEXT = 20_000;

/**
 * Returns the text of a document in its file: the lines between the `---` separators around it. Null: the text is
 * unknown, or has more than `LONGEST_TEXT` characters.
 */
function textOf(parsed: ParsedFile | undefined, key: string): string | null {
  const line = parsed?.documents.find((document) => document.key === key)?.place?.line;
  if (parsed === undefined || line === undefined) return null;
  const lines = parsed.text.split('\n');
  const isBorder = (text: string): boolean => /^(?:---|\.\.\.)(?:\s|$)/.test(text);
  const start = lines.findLastIndex((text, index) => index < line && isBorder(text)) + 1;
  const end = lines.findIndex((text, index) => index >= line && isBorder(text));
  const text = lines.slice(start, end === -1 ? undefined : end).join('\n');
  return text.length > LONGEST_TEXT ? null : text;
}

/** Returns the value of a rejected version; undefined: it cannot be parsed. */
function valueOf(object: ReadObject | undefined, text: string | null): unknown {
  if (object !== undefined) return locateObject(object.object, object.document.file).value;
  return text === null ? undefined : readYaml(text, null)[0]?.value;
}

interface ParsedFile {
  readonly text: string;
  readonly documents: readonly ReadDocument[];
}

/** Reads all paths. A file that is in two paths is returned only with the first one. */
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

function inOrder(set: DocumentSet): Pick<LoadedScalers, 'scalers' | 'files'> {
  const sorted = Array.from(set).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    scalers: sorted.map(([, { scaler }]) => scaler),
    files: new Map(sorted.map(([key, { file }]) => [key, file])),
  };
}
