/**
 * Characters that a person must not read unchanged: control characters except tab and line feed, and characters that
 * are invisible or change the direction of text (C1, soft hyphen, bidi marks, embeddings and isolates, line separators,
 * zero-width spaces, tags, lone surrogates). The joiners U+200C and U+200D are not included, because Persian, Indic
 * scripts and emoji need them.
 */
const UNSAFE =
  // eslint-disable-next-line no-control-regex -- these characters are replaced
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}\p{Cs}]/gu;

/**
 * Replaces with U+FFFD each character that a terminal would execute, or that makes two different strings look the same.
 * Used wherever a person reads text from documents, servers and other clients. All other characters are kept.
 */
export function cleanText(text: string): string {
  return text.replace(UNSAFE, '\ufffd');
}

/** Replaces the same characters as `cleanText`, but with their `\uXXXX` escapes, so that JSON stays equivalent. */
export function escapeText(text: string): string {
  return text.replace(UNSAFE, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      const code = character.charCodeAt(index).toString(16).padStart(4, '0');
      return `\\u${code}`;
    }).join(''),
  );
}

/** Quotes a word for a POSIX shell, unless every character is harmless. */
export function quoteForShell(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
