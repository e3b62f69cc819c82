import { quoteRegex, readStringLiteral } from '../../promql/quoting.js';
import type { SeriesFilter, SeriesSelector } from './adapter-rule.js';
import { safePattern } from './safe-pattern.js';

const NAME = /^\s*([A-Za-z_:][\w:]*)\s*(?:\{|$)/;
const NAME_MATCHER = /(?<!\w)__name__\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)/g;

/** Returns the name that a pattern such as `^queue_depth$` matches; null: it may match others. Prometheus anchors it. */
function literalOf(pattern: string): string | null {
  const name = pattern.replace(/^\^|\$$/g, '');
  return /^[A-Za-z_:][\w:]*$/.test(name) ? name : null;
}

/** Reads the metric name of a selector. Null: one of its patterns is not supported. */
export function readSeriesQuery(query: string): SeriesSelector | null {
  let name = NAME.exec(query)?.[1] ?? null;
  const patterns: SeriesFilter[] = [];
  for (const [, operator, literal = ''] of query.matchAll(NAME_MATCHER)) {
    const value = readStringLiteral(literal);
    const only = operator === '=' ? value : operator === '=~' ? literalOf(value) : null;
    if (only !== null) name = only;
    else if (operator === '!=')
      patterns.push({ pattern: new RegExp(`^${quoteRegex(value)}$`), isWanted: false });
    else {
      const pattern = safePattern(`^(?:${value})$`);
      if (pattern === null) return null;
      patterns.push({ pattern, isWanted: operator === '=~' });
    }
  }
  return { name, patterns };
}
