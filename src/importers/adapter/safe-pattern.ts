const LONGEST_PATTERN = 500;

/** JavaScript backtracks where RE2 does not: a group that repeats, or many repetitions, may take forever. */
const REPEATED_GROUP = /\)(?:[*+]|\{\d+,)/;
const MOST_REPETITIONS = 3;

/**
 * Returns a pattern of RE2 as a regular expression; null: it is invalid, or its time would not be bounded on names of
 * `LONGEST_NAME` characters.
 */
export function safePattern(source: string): RegExp | null {
  if (source.length > LONGEST_PATTERN || REPEATED_GROUP.test(source)) return null;
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

/** Longer names of metrics are not looked up. */
export const LONGEST_NAME = 200;
