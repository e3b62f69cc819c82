/** Offsets are UTF-16 units; a string literal includes its quotes. */
export interface Segment {
  readonly kind: 'code' | 'string' | 'comment';
  readonly from: number;
  readonly to: number;
  readonly quote: Quote | null;
  /** False for an unclosed string literal. */
  readonly isClosed: boolean;
}

export type Quote = '"' | "'" | '`';

/**
 * Splits a query into code, string literals and comments, which together are the whole query. As in the lexer of
 * Prometheus, `"` and `'` have backslash escapes, backticks have none, and a comment ends with its line. Never fails:
 * an unclosed string extends to the end.
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

/** Returns null if code starts at `from`. */
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
