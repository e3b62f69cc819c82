/**
 * Printable and unambiguous as a plain scalar of YAML 1.1 and 1.2: does not start with an indicator, contains no `: `
 * and no ` #`.
 */
const PLAIN = /^[A-Za-z_/(][\x20-\x7e]*$/;
const UNSAFE_IN_PLAIN = /: |:$| #|\s$/;

/** Plain scalars that YAML 1.1 or 1.2 does not read as strings. */
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

/** A quantity with a suffix starts with a digit but is not a number. */
const QUANTITY = /^\d+(?:\.\d+)?(?:m|k|M|G|T|P|[KMGTPE]i)$/;

/** A block scalar represents such a string unchanged: no leading blanks, no blanks at the end of a line. */
const BLOCK = /^[\x21-\x7e][\x20-\x7e]*(?:\n[\x20-\x7e]*)*$/;

export function scalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (QUANTITY.test(value) || (PLAIN.test(value) && !UNSAFE_IN_PLAIN.test(value) && !WORDS.test(value)))
    return value;
  return /^[\x20-\x7e]*$/.test(value) ? `'${value.replaceAll("'", "''")}'` : escaped(value);
}

/** Returns a string with several lines as the lines of a block scalar, header first; null: not possible. */
export function blockLines(value: unknown): readonly string[] | null {
  if (typeof value !== 'string' || !value.includes('\n')) return null;
  const end = value.endsWith('\n') ? 1 : 0;
  const text = value.slice(0, value.length - end);
  if (text.endsWith('\n') || !BLOCK.test(text) || / $| \n/.test(text)) return null;
  return [end === 0 ? '|-' : '|', ...text.split('\n')];
}

/** JSON is valid YAML. Characters that YAML does not print are escaped. */
function escaped(value: string): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
