import { stringify } from 'yaml';
import { formatProblem } from '../../../scaler/problems/problem.js';
import { parseScaler } from '../../../scaler/read/parse-scaler.js';
import { readDocuments } from '../../../scaler/read/read-scalers.js';
import { eachYamlDocument } from '../../../scaler/yaml/read-yaml.js';

declare global {
  // The YAML parser sets this property, which the browser types lack. Browsers without it ignore it.
  interface ErrorConstructor {
    stackTraceLimit: number;
  }
}

/** The file name in problems of the text. */
const FILE = 'document';

interface ReadText {
  /** Null: the text cannot be parsed, or is not one document. */
  readonly value: unknown;
  /** The output of `promscaler validate` with line and caret, without the problems of `known`, a document in effect. */
  readonly problems: readonly string[];
}

/** Parses YAML, which includes JSON. */
export function readDocumentText(text: string, known: unknown): ReadText {
  const documents = [...eachYamlDocument(text, FILE)];
  const [only] = documents;
  if (documents.length !== 1 || only === undefined)
    return { value: null, problems: [`${FILE}: ${documents.length} documents, must be one`] };
  const accepted = new Set(
    parseScaler(known).problems.map(({ code, path, message }) => keyOf(code, path, message)),
  );
  const problems = readDocuments(text, FILE)
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
