/** A part of a query. Offsets are in UTF-16 code units. A string literal includes its quotes. */
export interface Segment {
  readonly kind: 'code' | 'string' | 'comment';
  readonly from: number;
  readonly to: number;
  readonly quote: Quote | null;
  /** False: the string literal has no closing quote. */
  readonly isClosed: boolean;
}

export type Quote = '"' | "'" | '`';

/**
 * Splits a query into code, string literals and comments, without gaps. As in the lexer of Prometheus, strings in `"`
 * and `'` have backslash escapes, strings in backticks have none, and a comment ends with its line. Never fails: a
 * string that is not closed extends to the end of the query.
 */
export function splitSegments(query: string): readonly Segment[] {
  const segments: Segment[] = [];
  let codeFrom = 0;
  let position = 0;
  while (position < query.length) {
    const segment = readSegment(query, position);
    if (segment === null) {
      position += 1;
      continue;
    }
    if (segment.from > codeFrom) segments.push(code(codeFrom, segment.from));
    segments.push(segment);
    position = segment.to;
    codeFrom = segment.to;
  }
  if (codeFrom < query.length) segments.push(code(codeFrom, query.length));
  return segments;
}

function code(from: number, to: number): Segment {
  return { kind: 'code', from, to, quote: null, isClosed: true };
}

/** Returns the string or comment that starts at `from`; null: code starts there. */
function readSegment(query: string, from: number): Segment | null {
  const first = query.charAt(from);
  if (first === '#') {
    const newline = query.indexOf('\n', from);
    return {
      kind: 'comment',
      from,
      to: newline === -1 ? query.length : newline,
      quote: null,
      isClosed: true,
    };
  }
  if (first !== '"' && first !== "'" && first !== '`') return null;
  for (let position = from + 1; position < query.length; position += 1) {
    const character = query.charAt(position);
    if (character === first) return { kind: 'string', from, to: position + 1, quote: first, isClosed: true };
    if (character === '\\' && first !== '`') position += 1;
  }
  return { kind: 'string', from, to: query.length, quote: first, isClosed: false };
}
