import { readPage } from './pages.js';

/** A fenced block of a page. The line before it may be a mark: `<!-- as: web.yaml -->`. */
export interface CodeBlock {
  readonly page: string;
  readonly where: string;
  readonly language: string;
  /** The word of the mark, or null. */
  readonly mark: string | null;
  /** What follows the word and a colon. */
  readonly argument: string;
  readonly text: string;
  /** The language and the text of the next block of the page. */
  readonly next: { readonly language: string; readonly text: string } | null;
}

const FENCE = /(?:^<!-- (\w+)(?:: ([^\n]*))? -->\n)?^( *)```(\w*)\n([\s\S]*?)^\3```$/gm;

/** Returns all fenced blocks of a page, in order. */
export function codeBlocksOf(page: string): readonly CodeBlock[] {
  const found = Array.from(
    readPage(page).matchAll(FENCE),
    ([, mark, argument = '', indent = '', language = '', text = '']) => ({
      mark: mark ?? null,
      argument,
      language,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
  return found.map((block, index) => ({
    ...block,
    page,
    where: `${page}, block ${index + 1}`,
    next: found[index + 1] ?? null,
  }));
}
