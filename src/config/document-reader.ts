import {
  type ReadDocument,
  type ReadOptions,
  eachOfText,
  failedDocument,
  readLocated,
} from '../scaler/read/read-scalers.js';
import { periodicYield, type Clock } from '../units/clock.js';
import {
  capFindings,
  type Finding,
  finding,
  formatPath,
  type LocatedDocument,
  type Path,
  unplacedProblem,
} from '../scaler/problems/finding.js';
import { isPlainObject, MAX_DEPTH } from '../scaler/plain-json.js';
import { API_VERSION } from '../scaler/schema/document-schema.js';
import { MAX_KEYS } from '../scaler/yaml/yaml-limits.js';
import { MAX_FILE_BYTES } from '../scaler/yaml/read-yaml.js';

export interface DocumentSource {
  readonly file: string;
  readonly content: { readonly text: string } | { readonly object: DocumentObject };
}

/** Reads scaler documents without blocking the event loop for long. */
export interface DocumentReader {
  /** Returns the documents of a source. Never rejects: a failure becomes a problem of the document. */
  readonly read: (source: DocumentSource, options: ReadOptions) => Promise<readonly ReadDocument[]>;
  /** Ends the worker if there is one. The next `read` starts a new one. */
  readonly close: () => void;
}

/**
 * Creates a reader that reads in the calling thread. It yields to other work between documents, but not while it reads
 * one. It is therefore only for sources up to `MAX_SMALL_LENGTH`, and for commands that have no other work.
 */
export function readerOfThisThread(clock: Clock): DocumentReader {
  // All sources share it, because thousands of small sources would block as long as a large one.
  const yieldIfDue = periodicYield(clock);
  return {
    read: async (source, options) => {
      const documents: ReadDocument[] = [];
      for (const document of eachOfSource(source, options)) {
        documents.push(document);
        await yieldIfDue();
      }
      return documents;
    },
    close: () => undefined,
  };
}

/**
 * Longest source that is read in this thread, in characters. A character takes up to 3 us, or 30 us before the parser
 * is compiled: a longer source would block the event loop for more than 100 ms.
 */
const MAX_SMALL_LENGTH = 4096;

export function isSmall({ content }: DocumentSource): boolean {
  return ('text' in content ? content.text : content.object.specText).length <= MAX_SMALL_LENGTH;
}

/** Yields the documents of a source. Never throws: a failure becomes a problem of the document. */
export function* eachOfSource(
  { file, content }: DocumentSource,
  options: ReadOptions,
): Generator<ReadDocument> {
  try {
    if ('text' in content) yield* eachOfText(content.text, file, options);
    else yield readLocated(locateObject(content.object, file), file, options);
  } catch (cause) {
    yield failedDocument(null, file, cause);
  }
}

export interface DocumentObject {
  readonly namespace: string;
  readonly name: string;
  /** The `spec` as JSON; empty: the object has none. */
  readonly specText: string;
  /** The annotations for promscaler as JSON. Default: none. */
  readonly annotationsText?: string;
}

/**
 * Returns the document of a Scaler object. Reports a `spec` that exceeds a limit of files: 1 MiB, or 1,000 keys in an
 * object. Problems have the path of the field but no line. Throws `SyntaxError` if `specText` is not JSON.
 */
export function locateObject(
  { namespace, name, specText, annotationsText }: DocumentObject,
  file: string,
): LocatedDocument {
  const locate: LocatedDocument['locate'] = (found) => unplacedProblem(found, file);
  const refuse = (findings: readonly Finding[]): LocatedDocument => ({
    value: undefined,
    problems: capFindings(findings).map(locate),
    locate,
  });
  const bytes = new TextEncoder().encode(specText).length;
  if (bytes > MAX_FILE_BYTES) {
    const message = `spec has ${bytes} bytes, must have at most ${MAX_FILE_BYTES} (1 MiB)`;
    return refuse([finding('yaml-size', ['spec'], message)]);
  }
  const spec: unknown = specText === '' ? undefined : JSON.parse(specText);
  const tooLarge = findLargeObjects(spec, ['spec']);
  if (tooLarge.length > 0) return refuse(tooLarge);
  const annotations: unknown = annotationsText === undefined ? undefined : JSON.parse(annotationsText);
  const metadata = { name, namespace, ...(annotations === undefined ? {} : { annotations }) };
  const document = { apiVersion: API_VERSION, kind: 'Scaler', metadata };
  return { value: spec === undefined ? document : { ...document, spec }, problems: [], locate };
}

function findLargeObjects(value: unknown, path: Path): readonly Finding[] {
  if (path.length > MAX_DEPTH) return [];
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) => findLargeObjects(item, [...path, index]));
  if (!isPlainObject(value)) return [];
  const members = Object.entries(value);
  if (members.length <= MAX_KEYS)
    return members.flatMap(([key, member]) => findLargeObjects(member, [...path, key]));
  const message = `${formatPath(path)} has ${members.length} keys, must have at most ${MAX_KEYS}`;
  return [finding('yaml-size', path, message)];
}
