import type { VNode } from 'preact';
import { useId, useState } from 'preact/hooks';
import { stringify } from 'yaml';
import type { SnapshotAnswer } from '../../../api/answers.js';
import { formatProblem } from '../../../scaler/problems/problem.js';
import { parseScaler } from '../../../scaler/read/parse-scaler.js';
import { readDocuments } from '../../../scaler/read/read-scalers.js';
import { eachYamlDocument } from '../../../scaler/yaml/read-yaml.js';
import { countOf } from '../../../units/format.js';

export interface TextEditorProps {
  readonly document: unknown;
  readonly snapshot: SnapshotAnswer;
  readonly onChange: (document: unknown) => void;
}

/** Edits the document as text. Valid text replaces the document at once; invalid text only shows its problems. */
export function TextEditor({ document, snapshot, onChange }: TextEditorProps): VNode {
  const id = useId();
  const [edited, setEdited] = useState<{ readonly text: string; readonly document: unknown } | null>(null);
  const [problems, setProblems] = useState<readonly string[]>([]);
  // If the form has changed the document, the text is generated from the document again.
  const text = edited !== null && edited.document === document ? edited.text : writeDocumentText(document);
  const edit = (next: string): void => {
    const read = readDocumentText(next, snapshot.scaler);
    setProblems(read.problems);
    setEdited({ text: next, document: read.value ?? document });
    if (read.value !== null) onChange(read.value);
  };
  return (
    <div class="text-editor">
      <label for={id} class="visually-hidden">
        Document
      </label>
      <textarea
        id={id}
        rows={20}
        spellcheck={false}
        autocomplete="off"
        value={text}
        aria-invalid={problems.length > 0}
        aria-describedby={`${id}-problems`}
        onInput={(event) => edit(event.currentTarget.value)}
      />
      <div id={`${id}-problems`} aria-live="polite">
        {problems.map((problem, index) => (
          <pre key={index} class="tone-bad" dir="auto" tabIndex={0} role="group" aria-label="Problem">
            {problem}
          </pre>
        ))}
      </div>
    </div>
  );
}

declare global {
  // The YAML parser sets this property, which the types of browsers lack. A browser without it ignores it.
  interface ErrorConstructor {
    stackTraceLimit: number;
  }
}

/** The name of the text in problems, in place of a file name. */
const FILE = 'document';

interface ReadText {
  /** The parsed document; null: the text is not YAML, or does not contain exactly one document. */
  readonly value: unknown;
  /** Problems as `promscaler validate` prints them, without the problems of the document in effect. */
  readonly problems: readonly string[];
}

/** Parses a document in YAML or JSON. `known`: the document in effect, whose problems are not reported again. */
function readDocumentText(text: string, known: unknown): ReadText {
  const documents = [...eachYamlDocument(text, FILE)];
  const [only] = documents;
  if (documents.length !== 1 || only === undefined)
    return { value: null, problems: [`${FILE}: ${countOf(documents.length, 'document')}, must be one`] };
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
