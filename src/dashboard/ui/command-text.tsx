import type { RefObject, VNode } from 'preact';
import './command-text.css';

interface CommandTextProps {
  /** The element with the text, which is selected if the browser does not allow copying. */
  readonly code: RefObject<HTMLElement | null>;
  readonly text: string;
  readonly kind?: 'command' | 'edit' | 'query';
}

/**
 * Shows a text that the user can copy. A shell command has its own style, and its lines break only between words, not
 * within an option.
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

/**
 * Splits a word after `/`, `,` and the `=` of a long value, so that a word that is longer than a line can break there.
 */
function partsOf(word: string): readonly VNode[] {
  return word.split(/(?<=[/,])|(?<==)(?=.{10})/).map((part, index) => (
    <span key={index} class="word">
      {part}
    </span>
  ));
}

/**
 * Copies a string to the clipboard. If that fails, selects the element that shows the string: browsers give access to
 * the clipboard only on pages with HTTPS or on localhost. Returns a sentence about what was done.
 */
export async function copyText(text: string, shown: HTMLElement | null): Promise<string> {
  const { clipboard } = navigator as { readonly clipboard?: Clipboard };
  try {
    if (clipboard !== undefined) {
      await clipboard.writeText(text);
      return 'Copied.';
    }
  } catch {
    // The user or a policy has denied access to the clipboard, so the text is selected.
  }
  if (shown !== null) getSelection()?.selectAllChildren(shown);
  return 'The browser does not allow copying here: the command is selected.';
}
