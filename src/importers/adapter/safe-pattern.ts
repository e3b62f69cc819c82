const LONGEST_PATTERN = 500;

/** JavaScript backtracks, RE2 does not: a repeated group, or many repetitions, may take forever. */
const REPEATED_GROUP = /\)(?:[*+]|\{\d+,)/;
const MOST_REPETITIONS = 3;

/** Patterns with another meaning in JavaScript: character classes by name, and escapes such as `\z` and `\Q`. */
const OTHER_MEANING = /\[\[:|\\[AzZQECpP]/;

/**
 * Converts an RE2 pattern to a regular expression. Returns null if it is invalid, has another meaning in JavaScript, or
 * its running time would be unbounded for names of `LONGEST_NAME` characters.
 */
export function safePattern(source: string): RegExp | null {
  if (source.length > LONGEST_PATTERN || REPEATED_GROUP.test(source) || OTHER_MEANING.test(source))
    return null;
  const repetitions = source.match(/[*+]|\{\d+,\d*\}/g) ?? [];
  if (repetitions.length > MOST_REPETITIONS) return null;
  const isCaseless = source.startsWith('(?i)');
  const text = (isCaseless ? source.slice('(?i)'.length) : source).replaceAll('(?P<', '(?<');
  try {
    return new RegExp(text, isCaseless ? 'i' : '');
  } catch {
    return null;
  }
}

/** Longer metric names are not looked up. */
export const LONGEST_NAME = 200;
