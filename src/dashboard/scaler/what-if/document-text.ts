import { stringify } from 'yaml';
import { formatProblem } from '../../../scaler/problems/format-problem.js';
import { parseScaler } from '../../../scaler/read/parse-scaler.js';
import { readDocuments } from '../../../scaler/read/read-scalers.js';
import { eachYamlDocument } from '../../../scaler/yaml/read-yaml.js';

declare global {
  // The reader of YAML sets it, and the types of browsers do not know it. Browsers without it ignore it.
  interface ErrorConstructor {
    stackTraceLimit: number;
  }
}

/** How the text is called in its problems. */
const FILE = 'document';

interface ReadText {
  /** Null: the text cannot be read, or is not one document. */
  readonly value: unknown;
  /** As `promscaler validate` prints them, with line and caret; without those of `known`, a document in effect. */
  readonly problems: readonly string[];
}

/** Reads YAML, of which JSON is a part. */
export function readDocumentText(text: string, known: unknown): ReadText {
  const read = readDocuments(text, FILE);
  const [only] = [...eachYamlDocument(text, FILE)];
  if (read.length !== 1 || only === undefined)
    return { value: null, problems: [`${FILE}: ${read.length} documents, must be one`] };
  const accepted = new Set(
    parseScaler(known).problems.map(({ code, path, message }) => keyOf(code, path, message)),
  );
  const problems = read
    .flatMap((document) => document.problems)
    .filter(({ code, path, message }) => !accepted.has(keyOf(code, path, message)));
  const isReadable = only.value !== undefined && only.problems.every(({ severity }) => severity !== 'error');
  return { value: isReadable ? only.value : null, problems: problems.map(formatProblem) };
}

function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}

export function writeDocumentText(document: unknown): string {
  return stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
}
