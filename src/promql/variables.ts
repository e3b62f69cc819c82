import { escapeString, quoteRegex, stringLiteral } from './quoting.js';
import { type Segment, splitSegments } from './segments.js';

/** A variable in a query. `name` has no dollar sign; `offset` is the position of the dollar sign. */
interface Variable {
  readonly name: string;
  readonly offset: number;
}

interface VariableUse extends Variable {
  /**
   * Where the variable is used. `string`: in a string literal. `duration`: where a duration is expected (`[$window]`,
   * `offset $window`). `code`: anywhere else.
   */
  readonly context: 'string' | 'duration' | 'code';
  /** Whether the variable is in the right operand of `=~` or `!~`. */
  readonly isRegex: boolean;
}

/** A segment with its variables in order of appearance. Variables in comments do not count. */
interface VariableSegment {
  readonly segment: Segment;
  readonly variables: readonly VariableUse[];
}

/** Variables whose values are regular expressions. They are not quoted after `=~` and `!~`. */
const REGEX_VARIABLES: ReadonlySet<string> = new Set(['pods', 'namespaces']);

/** A variable. `$1` and `${1}`, which label_replace uses, do not match. */
const VARIABLE = /\$([A-Za-z_]\w*)/g;
const TOKEN = /\$[A-Za-z_]\w*|[A-Za-z_:][\w:]*|[=!]~|\S/g;
const DURATION = /^(?:\d+(?:ms|[smhdwy]))+$/;

/** Returns every use of a variable, in order of appearance. Comments do not count. */
export function listVariables(query: string): readonly Variable[] {
  return variableSegments(query).flatMap(({ variables }) =>
    variables.map(({ name, offset }) => ({ name, offset })),
  );
}

/** Returns all segments with their variables. Reads the query once, because it may contain thousands of variables. */
export function variableSegments(query: string): readonly VariableSegment[] {
  const before: CodeBefore = { tokens: ['', ''], end: 0, isInRange: false };
  return splitSegments(query).map((segment) => {
    const text = query.slice(segment.from, segment.to);
    switch (segment.kind) {
      case 'comment':
        return { segment, variables: [] };
      case 'code':
        return { segment, variables: variablesInCode(text, segment.from, before) };
      case 'string': {
        const variables = variablesInString(text, segment, isRegexNext(before));
        readToken('""', segment.to, before);
        return { segment, variables };
      }
    }
  });
}

/**
 * The code before a variable. A string counts as two quotes, because its content is neither an operator nor a bracket.
 */
interface CodeBefore {
  /** The last two tokens, latest first. */
  tokens: readonly [string, string];
  end: number;
  isInRange: boolean;
}

function readToken(token: string, end: number, before: CodeBefore): void {
  before.tokens = [token, before.tokens[0]];
  before.end = end;
  if (token === '[' || token === ']') before.isInRange = token === '[';
}

function variablesInCode(text: string, from: number, before: CodeBefore): readonly VariableUse[] {
  const variables: VariableUse[] = [];
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const offset = from + index;
    if (token.length > 1 && token.startsWith('$')) {
      const context = isDurationNext(before, offset) ? 'duration' : 'code';
      variables.push({ name: token.slice(1), offset, context, isRegex: isRegexNext(before) });
    }
    readToken(token, offset + token.length, before);
  }
  return variables;
}

function variablesInString(text: string, segment: Segment, isRegex: boolean): readonly VariableUse[] {
  return Array.from(text.matchAll(VARIABLE))
    .filter(({ index }) => !isDollarEscaped(text, index, { segment, isRegex }))
    .map(({ 1: name = '', index }) => ({ name, offset: segment.from + index, context: 'string', isRegex }));
}

/**
 * Returns whether a dollar sign is escaped: `\\$` in a string, or `\\\\$` in a regular expression. If it were read as a
 * variable, the backslash would escape the inserted value.
 */
function isDollarEscaped(
  text: string,
  dollar: number,
  { segment, isRegex }: { readonly segment: Segment; readonly isRegex: boolean },
): boolean {
  let backslashes = 0;
  while (text.charAt(dollar - 1 - backslashes) === '\\') backslashes += 1;
  if (segment.quote === '`') return isRegex && backslashes % 2 === 1;
  return backslashes % 2 === 1 || (isRegex && (backslashes / 2) % 2 === 1);
}

function isRegexNext({ tokens: [last] }: CodeBefore): boolean {
  return last === '=~' || last === '!~';
}

function isDurationNext({ tokens: [last, lastButOne], end, isInRange }: CodeBefore, offset: number): boolean {
  const isOffset = (token: string): boolean => token.toLowerCase() === 'offset';
  return isInRange || (isOffset(last) && offset > end) || (last === '-' && isOffset(lastButOne));
}

/**
 * Replaces variables that have a value; other variables stay. How a value is inserted depends on the place:
 * - In a string literal it is escaped, so that it cannot end the literal.
 * - After `=~` and `!~` it is also quoted as a regular expression that matches only the value itself. `pods` and
 *   `namespaces` are not quoted, because they are regular expressions.
 * - Where a duration is expected, it is inserted unchanged if it is one.
 * - Anywhere else in the query it becomes a string literal.
 */
export function substitute(query: string, values: Readonly<Record<string, string>>): string {
  return variableSegments(query)
    .map((placed) => substituteSegment(query, placed, values))
    .join('');
}

function substituteSegment(
  query: string,
  { segment, variables }: VariableSegment,
  values: Readonly<Record<string, string>>,
): string {
  const known = variables.filter(({ name }) => Object.hasOwn(values, name));
  if (known.length === 0) return query.slice(segment.from, segment.to);
  const texts = known.map((variable) => textOf(variable, values[variable.name] ?? '', segment));
  if (segment.quote === '`' && texts.some((text) => text.includes('`'))) {
    // Backtick literals have no escapes, so the whole literal is written with double quotes.
    return `"${join(query, { segment, known, texts }, (text) => escapeString(text, '"')).slice(1, -1)}"`;
  }
  const quote = segment.quote;
  if (quote === null || quote === '`') return join(query, { segment, known, texts }, (text) => text);
  return join(
    query,
    { segment, known, texts: texts.map((text) => escapeString(text, quote)) },
    (text) => text,
  );
}

/** Returns the text to insert, before it is escaped for a string literal. */
function textOf(variable: VariableUse, value: string, segment: Segment): string {
  if (variable.context === 'duration' && DURATION.test(value)) return value;
  const text = variable.isRegex ? regexOf(variable, value, segment) : value;
  return variable.context === 'string' ? text : stringLiteral(text);
}

function regexOf(variable: VariableUse, value: string, segment: Segment): string {
  if (!REGEX_VARIABLES.has(variable.name)) return quoteRegex(value);
  const isWhole = variable.context !== 'string' || segment.to - segment.from === variable.name.length + 3;
  return isWhole || !value.includes('|') ? value : `(?:${value})`;
}

interface Parts {
  readonly segment: Segment;
  readonly known: readonly VariableUse[];
  readonly texts: readonly string[];
}

/**
 * Returns a segment in which `texts` replace the known variables. `write` converts the texts and the parts between
 * them.
 */
function join(query: string, { segment, known, texts }: Parts, write: (text: string) => string): string {
  let result = '';
  let position = segment.from;
  known.forEach((variable, index) => {
    result += write(query.slice(position, variable.offset)) + write(texts[index] ?? '');
    position = variable.offset + 1 + variable.name.length;
  });
  return result + write(query.slice(position, segment.to));
}
