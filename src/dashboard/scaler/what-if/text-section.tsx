import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { usePart } from '../../ui/use-part.js';
import type { TextEditorProps } from './text-editor.jsx';

/** Loads the YAML parser when it is opened. */
export function TextSection(props: TextEditorProps): VNode {
  const [isOpen, setIsOpen] = useState(false);
  const { part, hasFailed } = usePart(loadEditor, isOpen);
  return (
    <details onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>The whole document as YAML or JSON</summary>
      {hasFailed ? <p role="alert">A part of this page cannot be loaded. Reload the page.</p> : null}
      {isOpen && part !== null ? <part.TextEditor {...props} /> : null}
    </details>
  );
}

const loadEditor = () => import('./text-editor.jsx');
