import { type Segment, splitSegments } from './segments.js';

export interface QueryLimit {
  readonly message: string;
  /** The offset of the first token above the limit, in UTF-16 code units. */
  readonly offset: number;
}

/** Longest query in UTF-16 code units. Source: contract.md section 2. */
const MAX_LENGTH = 65_536;

/**
 * Limits of a query. Each operator, call and bracket is a level of the syntax tree, which is built and visited
 * recursively: 500 operators in 100 brackets take a third of the stack. The parser takes 2 to 5 us for each token, or
 * 20 us after an error.
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
// `[` counts as an operator, because a range or subquery follows its operand, and another range or subquery may follow.
const OPERATOR_SIGNS = '+-*/%^<>=!@[';

/**
 * The last query and its result. Each parse of a query checks its limits, and the result for a long query is not cached
 * elsewhere.
 */
let last: { readonly query: string; readonly limit: QueryLimit | null } = { query: '', limit: null };

/**
 * Returns the first limit that a query exceeds; null: none. Reads the query once, without a parser. A string literal or
 * a comment counts as one token.
 */
export function findQueryLimit(query: string): QueryLimit | null {
  if (query.length > MAX_LENGTH) {
    const message = `the query has ${query.length} characters, must have at most ${MAX_LENGTH}`;
    return { message, offset: MAX_LENGTH };
  }
  if (query !== last.query) last = { query, limit: countAll(query) };
  return last.limit;
}

function countAll(query: string): QueryLimit | null {
  const tally = new Tally();
  for (const segment of splitSegments(query)) countSegment(query, segment, tally);
  for (const { counted, most } of LIMITS) {
    const exceededAt = tally.exceededAt[counted];
    if (exceededAt === undefined) continue;
    const message = `the query has ${tally.counts[counted]} ${counted}, must have at most ${most}`;
    return { message, offset: exceededAt };
  }
  return null;
}

const MOST = Object.fromEntries(LIMITS.map(({ counted, most }) => [counted, most])) as Readonly<
  Record<Counted, number>
>;

/** Counts with plain fields for speed, because a query of 64 KiB may have 64,000 tokens. */
class Tally {
  readonly counts: Record<Counted, number> = {
    operators: 0,
    'calls and parentheses': 0,
    'levels of nesting': 0,
    variables: 0,
    tokens: 0,
  };
  readonly exceededAt: Partial<Record<Counted, number>> = {};
  #depth = 0;

  add(counted: Counted, offset: number): void {
    this.#note(counted, this.counts[counted] + 1, offset);
  }

  open(offset: number): void {
    this.#depth += 1;
    if (this.#depth > this.counts['levels of nesting']) this.#note('levels of nesting', this.#depth, offset);
  }

  close(): void {
    this.#depth = Math.max(0, this.#depth - 1);
  }

  #note(counted: Counted, count: number, offset: number): void {
    this.counts[counted] = count;
    if (count > MOST[counted]) this.exceededAt[counted] ??= offset;
  }
}

function countSegment(query: string, { kind, from, to }: Segment, tally: Tally): void {
  if (kind !== 'code') {
    tally.add('tokens', from);
    if (kind === 'string') countVariables(query.slice(from, to), from, tally);
    return;
  }
  const text = query.slice(from, to);
  countVariables(text, from, tally);
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const offset = from + index;
    tally.add('tokens', offset);
    if (token === '(') tally.add('calls and parentheses', offset);
    if (token === '(' || token === '[' || token === '{') tally.open(offset);
    else if (token === ')' || token === ']' || token === '}') tally.close();
    if (isOperator(token)) tally.add('operators', offset);
  }
}

function countVariables(text: string, from: number, tally: Tally): void {
  if (!text.includes('$')) return;
  for (const { index } of text.matchAll(VARIABLE)) tally.add('variables', from + index);
}

function isOperator(token: string): boolean {
  return OPERATOR_SIGNS.includes(token.charAt(0)) || OPERATOR_WORDS.has(token.toLowerCase());
}
