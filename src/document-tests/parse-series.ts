/** The values of a series, one per interval. Null: the query returns nothing then. */
export type Series = readonly (number | null)[];

/** Ten weeks at one value per minute. */
export const MAX_VALUES = 100_000;

const NUMBER = String.raw`[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?`;
const VALUE = new RegExp(`^(${NUMBER}|[+-]?Inf|NaN)$`, 'i');
const RANGE = new RegExp(`^(${NUMBER})(?:([+-])(${NUMBER.replace('[+-]?', '')}))?x(\\d{1,9})$`);
const GAP = /^(?:_|stale)(?:x(\d{1,9}))?$/;

/**
 * Parses the notation of promtool: `1 2.5`, `0+10x3` (0 10 20 30), `50-5x2` (50 45 40), `7x2` (7 7 7), `_` and `_x3`
 * (no sample), `stale`. Returns `offset` and message of the first error. Nothing longer than `MAX_VALUES` is built.
 */
export function parseSeries(
  text: string,
): { readonly values: Series } | { readonly error: string; readonly offset: number } {
  const values: (number | null)[] = [];
  for (const { 0: term, index: offset } of text.matchAll(/\S+/g)) {
    const parsed = parseTerm(term);
    if (typeof parsed === 'string') return { error: parsed, offset };
    const { first, step, count } = parsed;
    if (values.length + count > MAX_VALUES) return { error: `has more than ${MAX_VALUES} values`, offset };
    for (let index = 0; index < count; index += 1)
      // A sum of steps would add up the errors of rounding.
      values.push(first === null ? null : Number((first + index * step).toPrecision(15)));
  }
  return values.length === 0 ? { error: 'has no value', offset: 0 } : { values };
}

interface Term {
  readonly first: number | null;
  readonly step: number;
  readonly count: number;
}

function parseTerm(term: string): Term | string {
  const gap = GAP.exec(term);
  if (gap !== null) return { first: null, step: 0, count: Number(gap[1] ?? 1) };
  if (VALUE.test(term)) return { first: numberOf(term), step: 0, count: 1 };
  const range = RANGE.exec(term);
  if (range !== null) {
    const [, first = '', sign, step = '0', times = ''] = range;
    return { first: Number(first), step: (sign === '-' ? -1 : 1) * Number(step), count: Number(times) + 1 };
  }
  const shown = JSON.stringify(term.length > 40 ? `${term.slice(0, 40)}...` : term);
  if (term.startsWith('{{')) return `has ${shown}: histograms are not supported`;
  return `has ${shown}, must consist of values such as 5, 0+10x20, 7x3, _, _x3, stale`;
}

function numberOf(text: string): number {
  if (/inf$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  return /nan$/i.test(text) ? NaN : Number(text);
}
