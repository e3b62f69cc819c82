import type { VNode } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { SnapshotAnswer } from '../../../api/answers.js';
import { readDocumentText, writeDocumentText } from './document-text.js';

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
