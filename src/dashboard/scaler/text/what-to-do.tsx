import type { ComponentChild, VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { remediesOf } from '../../../decision/remedies.js';
import type { Remedy } from '../../../decision/remedies.js';
import type { ScalerDetail } from '../../../api/answers.js';
import { announce } from '../../ui/announcer.jsx';
import { Icon } from '../../ui/icon.jsx';
import { GraphLink } from './graph-link.jsx';
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
          <RemedyItem key={`${remedy.text} ${remedy.snippet?.text ?? ''}`} remedy={remedy} />
        ))}
      </ul>
    </div>
  );
}

interface RemedyItemProps {
  readonly remedy: Remedy;
  /** When to do it, such as `Run now`. */
  readonly label?: string;
}

/** Shows an item of a list. Only a command of a shell looks like one. */
export function RemedyItem({ remedy: { text, snippet }, label }: RemedyItemProps): VNode {
  const code = useRef<HTMLElement>(null);
  return (
    <li>
      {label === undefined ? null : <b class="remedy-label">{label} </b>}
      <div class="remedy">
        <span dir="auto">
          {text}
          {snippet === null ? '.' : ':'}
        </span>
        {snippet === null ? null : (
          <div class="remedy-command">
            <code ref={code} class={`snippet snippet-${snippet.kind}`} dir="ltr">
              {snippet.kind === 'command' ? wordsOf(snippet.text) : snippet.text}
            </code>
            <button
              type="button"
              class="icon-button"
              title="Copy"
              aria-label={`Copy: ${text}`}
              onClick={() => void copyText(snippet.text, code.current).then(announce)}
            >
              <Icon name="copy" />
            </button>
            <GraphLink url={snippet.graphUrl} />
          </div>
        )}
      </div>
    </li>
  );
}

/** A line ends between two words, not after a hyphen of an option. */
function wordsOf(command: string): readonly ComponentChild[] {
  return command.split(' ').flatMap((word, index) => {
    const shown = (
      <span key={index} class="word">
        {word}
      </span>
    );
    return index === 0 ? [shown] : [' ', shown];
  });
}
