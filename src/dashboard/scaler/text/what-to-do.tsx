import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { remediesOf } from '../../../decision/remedies.js';
import type { Remedy } from '../../../decision/remedies.js';
import type { ScalerDetail } from '../../../api/answers.js';
import { announce } from '../../ui/announcer.jsx';
import { Icon } from '../../ui/icon.jsx';
import { copyText } from './copy-text.js';
import './what-to-do.css';

/** Shows what a person can do about the state, with commands to copy. The page runs none of them. */
export function WhatToDo({ detail }: { readonly detail: ScalerDetail }): VNode | null {
  const remedies = remediesOf(detail);
  if (remedies.length === 0) return null;
  return (
    <div class="what-to-do">
      <h3>What to do</h3>
      <ul>
        {remedies.map((remedy) => (
          <RemedyItem key={`${remedy.text} ${remedy.command ?? ''}`} remedy={remedy} />
        ))}
      </ul>
    </div>
  );
}

/** Shows an item of a list. */
export function RemedyItem({ remedy: { text, command } }: { readonly remedy: Remedy }): VNode {
  const code = useRef<HTMLElement>(null);
  if (command === null) return <li dir="auto">{text}.</li>;
  return (
    <li dir="auto">
      {text}:
      <div class="remedy-command">
        <code ref={code} class="command" dir="ltr">
          {command}
        </code>
        <button
          type="button"
          aria-label={`Copy: ${text}`}
          onClick={() => void copyText(command, code.current).then(announce)}
        >
          <Icon name="copy" /> Copy
        </button>
      </div>
    </li>
  );
}
