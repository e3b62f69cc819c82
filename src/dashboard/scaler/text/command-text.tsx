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

/**
 * Copies a string, or selects the element that shows it, and returns what happened. Browsers provide the clipboard only
 * to pages with HTTPS or on localhost.
 */
export async function copyText(text: string, shown: HTMLElement | null): Promise<string> {
  const { clipboard } = navigator as { readonly clipboard?: Clipboard };
  try {
    if (clipboard !== undefined) {
      await clipboard.writeText(text);
      return 'Copied.';
    }
  } catch {
    // The user or a policy has denied access to the clipboard.
  }
  if (shown !== null) getSelection()?.selectAllChildren(shown);
  return 'The browser does not allow copying here: the command is selected.';
}
