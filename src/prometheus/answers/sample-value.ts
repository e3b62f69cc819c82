/** The longest float64 without an exponent, 5e-324 with 17 digits, has 343 characters. */
const MAX_LENGTH = 400;

const FINITE = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Parses a sample value of the HTTP API (`"1.5"`, `"1e+21"`, `"NaN"`, `"+Inf"`); null: invalid. `Number(text)` would
 * read `""` and `" "` as 0 and `"0x10"` as 16, and does not support `"+Inf"`.
 */
export function parseSampleValue(text: string): number | null {
  if (text.length > MAX_LENGTH) return null;
  if (FINITE.test(text)) return Number(text);
  if (text === 'NaN') return NaN;
  if (text === '+Inf' || text === 'Inf') return Infinity;
  return text === '-Inf' ? -Infinity : null;
}
