import { milliToNumber, parseQuantity } from '../units/quantity.js';

/**
 * The values of a series, one for each interval. They are computed when they are read, because a short text can
 * represent millions of values.
 */
export interface Series {
  readonly length: number;
  /**
   * Returns the value at an index; null: the query returns no series at this time. Always null after the last value.
   */
  readonly at: (index: number) => number | null;
}

/** Limits the values of a series: ten weeks with one value for each minute. */
const MAX_VALUES = 100_000;

const NUMBER = String.raw`[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+|[KMGT]i|[mkMGT])?`;
const VALUE = new RegExp(`^(?:${NUMBER}|[+-]?[Ii][Nn][Ff]|[Nn][Aa][Nn])$`);
const RANGE = new RegExp(`^(${NUMBER})(?:([+-])(${NUMBER.replace('[+-]?', '')}))?x(\\d{1,9})$`);
const GAP = /^(?:_|stale)(?:x(\d{1,9}))?$/;

/**
 * Parses a series in the notation of promtool: `1 2.5`, `0+10x3` (0 10 20 30), `50-5x2` (50 45 40), `7x2` (7 7 7), `_`
 * and `_x3` (no sample), `stale`. A number may be a quantity, such as `100Mi` or `500m`. More than `MAX_VALUES` values
 * are an error. For an error, `offset` is its position in the text.
 */
export function parseSeries(
  text: string,
): { readonly values: Series } | { readonly error: string; readonly offset: number } {
  const terms: (Term & { readonly end: number })[] = [];
  let length = 0;
  for (const { 0: term, index: offset } of text.matchAll(/\S+/g)) {
    const parsed = parseTerm(term);
    if (typeof parsed === 'string') return { error: parsed, offset };
    length += parsed.count;
    if (length > MAX_VALUES) return { error: `has more than ${MAX_VALUES} values`, offset };
    terms.push({ ...parsed, end: length });
  }
  if (length === 0) return { error: 'has no value', offset: 0 };
  return {
    values: {
      length,
      at: (index) => {
        const term = termAt(terms, index);
        if (term === undefined || term.first === null) return null;
        // The step is multiplied, because repeated addition would accumulate rounding errors.
        return Number((term.first + (index - term.end + term.count) * term.step).toPrecision(15));
      },
    },
  };
}

/** Returns the term that contains this index; undefined: the index is after the last term. */
function termAt<T extends { readonly end: number }>(terms: readonly T[], index: number): T | undefined {
  let [low, high] = [0, terms.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((terms[middle]?.end ?? 0) > index) high = middle;
    else low = middle + 1;
  }
  return terms[low];
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
    return {
      first: numberOf(first),
      step: (sign === '-' ? -1 : 1) * numberOf(step),
      count: Number(times) + 1,
    };
  }
  const shown = JSON.stringify(term.length > 40 ? `${term.slice(0, 40)}...` : term);
  if (term.startsWith('{{')) return `has ${shown}: histograms are not supported`;
  return `has ${shown}, must consist of values such as 5, 100Mi, 0+10x20, 7x3, _, _x3, stale`;
}

function numberOf(text: string): number {
  if (/inf$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (/nan$/i.test(text)) return NaN;
  const number = Number(text);
  if (!Number.isNaN(number)) return number;
  const milli = parseQuantity(text.replace(/^\+/, ''));
  return milli === null ? NaN : milliToNumber(milli);
}
