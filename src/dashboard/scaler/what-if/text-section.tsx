import type { FunctionComponent, VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { SnapshotAnswer } from '../../data/answers.js';
import type { TextEditorProps } from './text-editor.jsx';

interface TextSectionProps {
  readonly document: unknown;
  readonly snapshot: SnapshotAnswer;
  readonly onChange: (document: unknown) => void;
}

/** Loads the reader of YAML when it is opened. */
export function TextSection(props: TextSectionProps): VNode {
  const [loaded, setLoaded] = useState<{ readonly Editor: FunctionComponent<TextEditorProps> } | null>(null);
  const [hasFailed, setHasFailed] = useState(false);
  const [isOpen, setIsOpen] = useState(false);
  const open = (): void => {
    import('./text-editor.jsx').then(
      ({ TextEditor }) => setLoaded({ Editor: TextEditor }),
      () => setHasFailed(true),
    );
  };
  return (
    <details
      onToggle={(event) => {
        setIsOpen(event.currentTarget.open);
        if (event.currentTarget.open && loaded === null) open();
      }}
    >
      <summary>The whole document as YAML or JSON</summary>
      {hasFailed ? <p role="alert">A part of this page cannot be loaded. Close and open it again.</p> : null}
      {isOpen && loaded !== null ? <loaded.Editor {...props} /> : null}
    </details>
  );
}
