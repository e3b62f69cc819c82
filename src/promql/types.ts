import type { Expression, ExpressionOf } from './expressions.js';
import {
  type Signature,
  type ValueType,
  aggregationParameter,
  isAggregation,
  signatureOf,
} from './signatures.js';

export interface TypeProblem {
  readonly message: string;
  /** UTF-16 code units from the start of the query. */
  readonly offset: number;
  /** Whether VictoriaMetrics may accept the query: it converts between scalars, vectors and ranges. */
  readonly isMetricsql: boolean;
}

interface Typed {
  /** The type of each expression; null: unknown. */
  readonly types: readonly (ValueType | null)[];
  readonly problems: readonly TypeProblem[];
}

const MAX_PROBLEMS = 20;

const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);
const SETS: ReadonlySet<string> = new Set(['and', 'or', 'unless']);
const ARITHMETIC: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '^', 'atan2']);

const ARTICLE: Readonly<Record<ValueType, string>> = {
  scalar: 'a scalar',
  vector: 'an instant vector',
  range: 'a range vector',
  string: 'a string',
};

interface Context {
  readonly query: string;
  readonly expressions: readonly Expression[];
  readonly types: readonly (ValueType | null)[];
  readonly problems: TypeProblem[];
}

/**
 * Infers the types of expressions by the rules of Prometheus, and reports violations. An unknown function accepts and
 * returns any type. Source: Prometheus, promql/parser/parse.go, checkAST.
 */
export function inferTypes(query: string, expressions: readonly Expression[]): Typed {
  const types: (ValueType | null)[] = [];
  const problems: TypeProblem[] = [];
  const context = { query, expressions, types, problems };
  for (const expression of expressions) types.push(typeOf(expression, context));
  return { types, problems: problems.slice(0, MAX_PROBLEMS) };
}

function typeOf(expression: Expression, context: Context): ValueType | null {
  const { operands } = expression;
  const operand = operands[0] === undefined ? null : (context.types[operands[0]] ?? null);
  switch (expression.form) {
    case 'number':
      return 'scalar';
    case 'string':
      return 'string';
    case 'selector':
      checkSelector(expression, context);
      return 'vector';
    case 'range':
      checkRange(expression, context);
      return 'range';
    case 'subquery':
      expectType(operands[0], ['vector'], 'a subquery', context);
      return 'range';
    case 'unary':
      expectType(operands[0], ['scalar', 'vector'], `unary ${expression.operator}`, context);
      return operand;
    case 'wrapped':
      checkModifier(expression, context);
      return operand;
    case 'call':
      return callType(expression, context);
    case 'aggregate':
      checkAggregate(expression, context);
      return 'vector';
    case 'binary':
      return binaryType(expression, context);
    default:
      return expression satisfies never;
  }
}

/** Reports a selector without a restriction, which would read the whole database. */
function checkSelector({ metric, matchers, from }: ExpressionOf<'selector'>, { problems }: Context): void {
  const isFree = matchers.every(({ operator, value }) => {
    if (operator === '=') return value === '';
    if (operator === '!=') return value !== '';
    return operator === '=~'
      ? value === '' || value === '.*'
      : value !== '' && value !== '.*' && value !== '.+';
  });
  if (metric !== null || !isFree) return;
  const message = 'a selector without a metric name needs a matcher that does not match the empty string';
  problems.push({ message, offset: from, isMetricsql: true });
}

function checkRange({ from, operands }: ExpressionOf<'range'>, context: Context): void {
  const [operand] = operands;
  const inner = operand === undefined ? undefined : context.expressions[operand];
  if (inner === undefined || inner.form === 'selector') return;
  const shown = excerpt(context.query, inner);
  const message = `a range such as [5m] applies to a selector, not to ${shown}: write a subquery, [5m:]`;
  context.problems.push({ message, offset: from, isMetricsql: context.types[operand ?? 0] !== 'string' });
}

const MODIFIERS: ReadonlyMap<string, string> = new Map([
  ['OffsetExpr', 'offset'],
  ['StepInvariantExpr', '@'],
]);

function checkModifier({ node, operands, from }: ExpressionOf<'wrapped'>, context: Context): void {
  const modifier = MODIFIERS.get(node);
  const inner = operands[0] === undefined ? undefined : context.expressions[operands[0]];
  if (modifier === undefined || inner === undefined) return;
  const isModified = inner.form === 'wrapped' && MODIFIERS.has(inner.node);
  if (isModified || ['selector', 'range', 'subquery'].includes(inner.form)) return;
  const message = `${modifier} applies to a selector or subquery, not to ${excerpt(context.query, inner)}: write ${modifier} inside the parentheses`;
  context.problems.push({ message, offset: from, isMetricsql: true });
}

function callType({ name, operands, from }: ExpressionOf<'call'>, context: Context): ValueType | null {
  const signature = signatureOf(name);
  if (signature === null) return null;
  const count = countProblem(name, signature, operands.length);
  if (count !== null) {
    context.problems.push({
      message: count,
      offset: from,
      isMetricsql: operands.length > signature.required,
    });
    return signature.returns;
  }
  const before = context.problems.length;
  operands.forEach((operand, index) => {
    // Only the first wrong operand is reported: swapped operands are one mistake.
    if (context.problems.length > before) return;
    const parameter =
      signature.parameters[index] ?? (signature.isVariadic ? signature.parameters.at(-1) : undefined);
    if (parameter !== undefined) expectType(operand, [parameter], `${name}()`, context);
  });
  return signature.returns;
}

function countProblem(name: string, signature: Signature, given: number): string | null {
  const { parameters, required, isVariadic } = signature;
  if (given < required)
    return `${name}() takes ${required === parameters.length ? '' : 'at least '}${arguments_(required)}, not ${given}`;
  if (isVariadic || given <= parameters.length) return null;
  return `${name}() takes ${required === parameters.length ? '' : 'at most '}${arguments_(parameters.length)}, not ${given}`;
}

function arguments_(count: number): string {
  return count === 0 ? 'no arguments' : `${count} argument${count === 1 ? '' : 's'}`;
}

function checkAggregate({ name, operands, from }: ExpressionOf<'aggregate'>, context: Context): void {
  // An aggregation that only MetricsQL has may have several operands, so it is not checked.
  if (!isAggregation(name)) return;
  const parameter = aggregationParameter(name);
  const [first, second] = parameter === null ? [undefined, operands[0]] : operands;
  const expected = parameter === null ? 1 : 2;
  if (operands.length !== expected) {
    const message = `${name}() takes ${arguments_(expected)}, not ${operands.length}`;
    context.problems.push({ message, offset: from, isMetricsql: operands.length > 0 });
    return;
  }
  if (parameter !== null) expectType(first, [parameter], `${name}()`, context);
  expectType(second, ['vector'], `${name}()`, context);
}

function binaryType(expression: ExpressionOf<'binary'>, context: Context): ValueType | null {
  const { operator, operands, operatorFrom, isBool, matching } = expression;
  const [left = null, right = null] = operands.map((operand) => context.types[operand] ?? null);
  const add = (message: string, isMetricsql: boolean): void => {
    context.problems.push({ message, offset: operatorFrom, isMetricsql });
  };
  const isComparison = COMPARISONS.has(operator);
  if (!isComparison && !SETS.has(operator) && !ARITHMETIC.has(operator)) return null;
  const before = context.problems.length;
  for (const operand of operands)
    if (context.problems.length === before)
      expectType(
        operand,
        SETS.has(operator) ? ['vector'] : ['scalar', 'vector'],
        `operator ${operator}`,
        context,
      );
  if (context.problems.length > before) return SETS.has(operator) ? 'vector' : null;
  if (isBool && !isComparison) add(`bool applies to comparisons, not to ${operator}`, false);
  if (left === null || right === null) return null;
  const areScalars = left === 'scalar' && right === 'scalar';
  if (isComparison && areScalars && !isBool)
    add(`a comparison of two scalars needs bool: ${operator} bool`, true);
  if (matching !== null && (left !== 'vector' || right !== 'vector'))
    add(`${matching.kind}(...) applies to two vectors, but one side of ${operator} is a scalar`, false);
  else if (matching?.group != null && SETS.has(operator))
    add(`group_${matching.group} is not allowed with ${operator}`, false);
  return areScalars ? 'scalar' : 'vector';
}

/** Reports an operand whose type is not one of `expected`. An unknown type is accepted. */
function expectType(
  operand: number | undefined,
  expected: readonly ValueType[],
  taker: string,
  { query, expressions, types, problems }: Context,
): void {
  const expression = operand === undefined ? undefined : expressions[operand];
  const type = operand === undefined ? null : (types[operand] ?? null);
  if (expression === undefined || type === null || expected.includes(type)) return;
  const isMetricsql = expected.every((one) => one !== 'string') && type !== 'string';
  const isString = type === 'string' && taker === 'operator +';
  const wanted = expected.map((one) => ARTICLE[one]).join(' or ');
  const shown = excerpt(query, expression);
  const hint = hintFor(expression, { type, expected, taker, shown });
  problems.push({
    message: `${taker} takes ${wanted}, but ${shown} is ${ARTICLE[type]}${hint}`,
    offset: expression.from,
    isMetricsql: isMetricsql || isString,
  });
}

function hintFor(
  expression: Expression,
  {
    type,
    expected,
    taker,
    shown,
  }: {
    readonly type: ValueType;
    readonly expected: readonly ValueType[];
    readonly taker: string;
    readonly shown: string;
  },
): string {
  const [wanted] = expected;
  if (wanted === 'range' && type === 'vector')
    return expression.form === 'selector'
      ? `: write ${shown}[5m]`
      : ': apply the function to a selector such as x[5m]';
  if (wanted === 'vector' && type === 'range')
    return ': use a function of ranges such as rate() or avg_over_time()';
  if (wanted === 'vector' && type === 'scalar' && expected.length === 1)
    return taker.startsWith('operator') ? `: write vector(${shown})` : '';
  return wanted === 'scalar' && type === 'vector' ? `: write scalar(${shown})` : '';
}

const LONGEST_EXCERPT = 40;

/** Returns a part of a query on one line, cut off after 40 characters. */
export function excerpt(query: string, { from, to }: { readonly from: number; readonly to: number }): string {
  const text = query.slice(from, Math.min(to, from + 4 * LONGEST_EXCERPT)).replace(/[\s\p{Cc}]+/gu, ' ');
  const isWhole = to - from <= 4 * LONGEST_EXCERPT && text.length <= LONGEST_EXCERPT;
  return isWhole ? text : `${text.slice(0, LONGEST_EXCERPT)}...`;
}
