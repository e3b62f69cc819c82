import { type Segment, splitSegments } from './segments.js';

/** A limit that a query is past. */
export interface QueryLimit {
  /** `the query has 2600 operators, must have at most 500`. */
  readonly message: string;
  /** Of what is one too many, in UTF-16 units. */
  readonly offset: number;
}

/** The longest query, in UTF-16 units. Source: contract.md section 2. */
const MAX_LENGTH = 65_536;

/**
 * Each operator, call and bracket is a level of the syntax tree, which is built and walked by recursion: 500 operators
 * in 100 brackets take a third of the stack. The parser needs 2 to 5 us a token, and 20 us where it has to recover.
 */
const LIMITS = [
  { counted: 'operators', most: 500 },
  { counted: 'calls and parentheses', most: 500 },
  { counted: 'levels of nesting', most: 100 },
  { counted: 'variables', most: 500 },
  { counted: 'tokens', most: 2000 },
] as const;

type Counted = (typeof LIMITS)[number]['counted'];

const TOKEN = /[A-Za-z_:][\w:]*|\d[\w.]*|[=!]~|[=!<>]=|\S/g;
const VARIABLE = /\$[A-Za-z_]/g;
const OPERATOR_WORDS: ReadonlySet<string> = new Set(['and', 'or', 'unless', 'atan2', 'offset']);
// A range or subquery is written behind its operand, as often as one likes.
const OPERATOR_SIGNS = '+-*/%^<>=!@[';

/**
 * The first limit that a query is past, found in one pass without a parser; null: it may be parsed. String literals and
 * comments count as one token, whatever is in them.
 */
export function findQueryLimit(query: string): QueryLimit | null {
  if (query.length > MAX_LENGTH) {
    const message = `the query has ${query.length} characters, must have at most ${MAX_LENGTH}`;
    return { message, offset: MAX_LENGTH };
  }
  const tally = createTally();
  for (const segment of splitSegments(query)) countSegment(query, segment, tally);
  for (const { counted, most } of LIMITS) {
    const { count, exceededAt } = tally.read(counted);
    if (exceededAt === null) continue;
    return { message: `the query has ${count} ${counted}, must have at most ${most}`, offset: exceededAt };
  }
  return null;
}

interface Tally {
  readonly add: (counted: Counted, offset: number) => void;
  readonly open: (offset: number) => void;
  readonly close: () => void;
  readonly read: (counted: Counted) => { readonly count: number; readonly exceededAt: number | null };
}

function createTally(): Tally {
  const counts = new Map<Counted, number>();
  const exceeded = new Map<Counted, number>();
  let depth = 0;
  const note = (counted: Counted, count: number, offset: number): void => {
    counts.set(counted, Math.max(count, counts.get(counted) ?? 0));
    const most = LIMITS.find((limit) => limit.counted === counted)?.most ?? 0;
    if (count > most && !exceeded.has(counted)) exceeded.set(counted, offset);
  };
  return {
    add: (counted, offset) => note(counted, (counts.get(counted) ?? 0) + 1, offset),
    open: (offset) => {
      depth += 1;
      note('levels of nesting', depth, offset);
    },
    close: () => {
      depth = Math.max(0, depth - 1);
    },
    read: (counted) => ({ count: counts.get(counted) ?? 0, exceededAt: exceeded.get(counted) ?? null }),
  };
}

function countSegment(query: string, { kind, from, to }: Segment, tally: Tally): void {
  const text = query.slice(from, to);
  if (kind !== 'comment') {
    for (const { index } of text.matchAll(VARIABLE)) tally.add('variables', from + index);
  }
  if (kind !== 'code') {
    tally.add('tokens', from);
    return;
  }
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const offset = from + index;
    tally.add('tokens', offset);
    if (token === '(') tally.add('calls and parentheses', offset);
    if ('([{'.includes(token)) tally.open(offset);
    else if (')]}'.includes(token)) tally.close();
    if (isOperator(token)) tally.add('operators', offset);
  }
}

function isOperator(token: string): boolean {
  return OPERATOR_SIGNS.includes(token.charAt(0)) || OPERATOR_WORDS.has(token.toLowerCase());
}
