import type { RefObject, VNode } from 'preact';
import './command-text.css';

interface CommandTextProps {
  /** The element, which is selected if the browser does not copy. */
  readonly code: RefObject<HTMLElement | null>;
  readonly text: string;
  readonly kind?: 'command' | 'edit' | 'query';
}

/**
 * Shows a text to copy. Only shell commands are styled as commands. Their lines break between words, not in an option.
 */
export function CommandText({ code, text, kind = 'command' }: CommandTextProps): VNode {
  return (
    <code ref={code} class={`snippet snippet-${kind}`} dir="ltr">
      {kind === 'command'
        ? text.split(' ').flatMap((word, index) => [
            index === 0 ? '' : ' ',
            <span key={index} class="word">
              {partsOf(word)}
            </span>,
          ])
        : text}
    </code>
  );
}

/** A word that is longer than a line ends after `=`, `/` or `,`, as long as its parts fit. */
function partsOf(word: string): readonly VNode[] {
  return word.split(/(?<=[=/,])/).map((part, index) => (
    <span key={index} class="word">
      {part}
    </span>
  ));
}
