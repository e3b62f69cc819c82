import { computeCall, computeOperator, type Known } from './constants.js';
import type { Expression, ExpressionOf } from './expressions.js';
import { signatureOf } from './signatures.js';

/** UTF-16 offsets of an expression in the query. */
type Span = Pick<Expression, 'from' | 'to'>;

export interface Filler extends Span {
  /**
   * The expressions that this constant and all others of the query replace, because the expressions have no data or are
   * NaN.
   */
  readonly replaced: readonly Span[];
  /** The constant; null: its value depends on the time. */
  readonly value: number | null;
  /** Whether the constant replaces the whole result, not only a part of the data. */
  readonly isWhole: boolean;
}

/** What an expression returns while its data is missing: `none` (no series), a number, or `some` unknown number. */
type Value = 'none' | Known;

interface State {
  readonly value: Value;
  readonly reads: boolean;
  /** The first part of the query that is a constant and affects the value. */
  readonly filler: Omit<Filler, 'isWhole'> | null;
}

/**
 * Why data is missing. `gone`: no selector has samples. `down`: only `up` has samples, whose value is 0 while scrapes
 * fail.
 */
type Outage = 'gone' | 'down';

/**
 * Finds the constant that a query returns while its data is missing. After a failed scrape, that constant would be used
 * as the value of the metric. Null: the query returns nothing or NaN, or has no selector. `or (vector(0) and on () up
 * == 1)` is not a filler, because it returns nothing while the target is down.
 */
export function findFiller(expressions: readonly Expression[]): Filler | null {
  for (const outage of ['gone', 'down'] as const) {
    const { filler, value } = evaluate(expressions, outage);
    if (filler !== null) return { ...filler, isWhole: value !== 'none' };
  }
  return null;
}

const NOTHING: State = { value: 'none', reads: false, filler: null };

function evaluate(expressions: readonly Expression[], outage: Outage): State {
  const states: State[] = [];
  for (const expression of expressions) {
    const operands = expression.operands.map((operand) => states[operand] ?? NOTHING);
    const operandExpressions = expression.operands.flatMap((operand) => expressions[operand] ?? []);
    states.push(stateOf(expression, { operands, operandExpressions, outage }));
  }
  return states.at(-1) ?? NOTHING;
}

interface Operands {
  readonly operands: readonly State[];
  readonly operandExpressions: readonly Expression[];
  readonly outage: Outage;
}

function stateOf(expression: Expression, inside: Operands): State {
  const [first = NOTHING] = inside.operands;
  switch (expression.form) {
    case 'number':
      return { ...NOTHING, value: readNumber(expression.text) };
    case 'string':
      return NOTHING;
    case 'selector': {
      const isUp = expression.metric === 'up' && inside.outage === 'down';
      return { value: isUp ? 0 : 'none', reads: true, filler: null };
    }
    case 'range':
    case 'subquery':
    case 'wrapped':
      return first;
    case 'unary':
      return typeof first.value === 'number' && expression.operator === '-'
        ? { ...first, value: -first.value }
        : first;
    case 'call':
      return ofCall(expression, inside);
    case 'aggregate':
      return ofAggregate(expression, inside);
    case 'binary':
      return ofBinary(expression, inside);
    default:
      return expression satisfies never;
  }
}

function ofCall(expression: ExpressionOf<'call'>, { operands, operandExpressions }: Operands): State {
  const { name } = expression;
  const reads = operands.some((operand) => operand.reads);
  const filler = joinFillers(operands);
  const parameters = signatureOf(name)?.parameters;
  const index = parameters?.findIndex((type) => type === 'vector' || type === 'range') ?? 0;
  const data = operands[index];
  switch (name) {
    case 'absent':
    case 'absent_over_time':
      return { value: data?.value === 'none' ? 1 : 'none', reads, filler: null };
    case 'scalar':
      return { value: data === undefined || data.value === 'none' ? NaN : data.value, reads, filler };
    case 'vector':
      return { value: operands[0]?.value ?? 'none', reads, filler };
    case 'union':
      return ofAlternatives(expression, operands, operandExpressions);
    default:
      if (data?.value === 'none') return { value: 'none', reads, filler };
      return {
        value: computeCall(
          name,
          operands.map(({ value }) => (value === 'none' ? 'some' : value)),
        ),
        reads,
        filler,
      };
  }
}

function ofAggregate(
  expression: ExpressionOf<'aggregate'>,
  { operands, operandExpressions }: Operands,
): State {
  const reads = operands.some((operand) => operand.reads);
  const filler = joinFillers(operands);
  // In MetricsQL, `max(x, 0)` aggregates all its operands.
  if (operands.length > 1 && ['sum', 'max', 'min', 'avg', 'count'].includes(expression.name))
    return ofAlternatives(expression, operands, operandExpressions);
  const value = operands.at(-1)?.value ?? 'none';
  if (value === 'none') return { value, reads, filler };
  if (expression.name === 'count' || expression.name === 'group') return { value: 1, reads, filler };
  const keepsValue = ['sum', 'avg', 'min', 'max', 'quantile', 'topk', 'bottomk', 'any', 'median'].includes(
    expression.name,
  );
  return { value: keepsValue ? value : 'some', reads, filler };
}

/**
 * Returns the state of alternatives such as `a or b`, in which an alternative with data replaces the alternatives
 * without data.
 */
function ofAlternatives(
  expression: Expression,
  operands: readonly State[],
  operandExpressions: readonly Expression[],
): State {
  const reads = operands.some((operand) => operand.reads);
  const index = operands.findIndex(({ value }) => value !== 'none');
  const known = joinFillers(operands);
  const operandExpression = operandExpressions[index];
  const value = operands[index]?.value ?? 'none';
  if (known !== null || operandExpression === undefined || value === 'none')
    return { value, reads, filler: known };
  const isMissing = (operand: State | undefined): boolean =>
    operand?.reads === true && operand.value === 'none';
  const replaced = operandExpressions.filter((_, each) => isMissing(operands[each]));
  return { value, reads, filler: replaced.length > 0 ? fillerOf(expression, { value, replaced }) : null };
}

function ofBinary(expression: ExpressionOf<'binary'>, { operands, operandExpressions }: Operands): State {
  const [left = NOTHING, right = NOTHING] = operands;
  const { operator, operatorFrom, isBool, fillFrom } = expression;
  const reads = left.reads || right.reads;
  switch (operator) {
    case 'or':
    case 'default':
      return ofOr({ left, right, operatorFrom, operandExpressions });
    case 'and':
    case 'if':
      return right.value === 'none' ? { ...NOTHING, reads } : { ...left, reads };
    case 'unless':
    case 'ifnot':
      return right.value === 'none' || right.value === 'some' ? { ...left, reads } : { ...NOTHING, reads };
    default:
  }
  const isFilter = ['==', '!=', '<', '<=', '>', '>='].includes(operator) && !isBool;
  const value = valueOf(operator, { left, right, isBool });
  if (isFilter) return { value, reads, filler: isDropped(left, value) ? null : left.filler };
  const isDivision = operator === '/' || operator === '%';
  const filler = joinFillers(isDivision ? [left] : [left, right]);
  if (filler !== null) return { value, reads, filler };
  const replaced = operandExpressions.filter((_, each) => operands[each]?.reads === true);
  if (fillFrom !== null && reads) {
    const to = operandExpressions[1]?.to ?? fillFrom;
    return { value, reads, filler: fillerOf({ from: fillFrom, to }, { value: 'some', replaced }) };
  }
  // NaN makes a comparison false, so `scalar(x) > bool 5` is 0 while x is missing.
  const isCompared = isBool && reads && operands.some((operand) => Number.isNaN(operand.value));
  const constant = { from: operatorFrom, to: expression.to };
  return { value, reads, filler: isCompared ? fillerOf(constant, { value, replaced }) : null };
}

function isDropped(left: State, value: Value): boolean {
  return left.value !== 'none' && value === 'none';
}

function ofOr({
  left,
  right,
  operatorFrom,
  operandExpressions,
}: {
  readonly left: State;
  readonly right: State;
  readonly operatorFrom: number;
  readonly operandExpressions: readonly Expression[];
}): State {
  const reads = left.reads || right.reads;
  if (left.value !== 'none') return { ...left, reads };
  const known = joinFillers([left, right]);
  const constant = { from: operatorFrom, to: operandExpressions[1]?.to ?? operatorFrom };
  const replaced = operandExpressions.slice(0, 1);
  const filler = known ?? (left.reads ? fillerOf(constant, { value: right.value, replaced }) : null);
  return { value: right.value, reads, filler };
}

/** Returns the first constant, with the expressions that all constants replace; null: there is no constant. */
function joinFillers(states: readonly State[]): State['filler'] {
  const fillers = states.flatMap(({ filler }) => filler ?? []);
  const [first] = fillers;
  if (first === undefined || fillers.length === 1) return first ?? null;
  return { ...first, replaced: fillers.flatMap(({ replaced }) => replaced) };
}

/** Returns the constant; null: there is no value, or it is NaN, which triggers no scaling. */
function fillerOf(
  { from, to }: Span,
  { value, replaced }: { readonly value: Value; readonly replaced: readonly Span[] },
): State['filler'] {
  if (value === 'none' || Number.isNaN(value)) return null;
  return { from, to, replaced, value: value === 'some' ? null : value };
}

function valueOf(
  operator: string,
  { left, right, isBool }: { readonly left: State; readonly right: State; readonly isBool: boolean },
): Value {
  if (left.value === 'none' || right.value === 'none') return 'none';
  return computeOperator(operator, { left: left.value, right: right.value, isBool }) ?? 'none';
}

function readNumber(text: string): Known {
  const plain = text.replaceAll('_', '').toLowerCase();
  if (/^[+-]?inf$/.test(plain)) return plain.startsWith('-') ? -Infinity : Infinity;
  if (plain.endsWith('nan')) return NaN;
  const value = Number(plain);
  return Number.isNaN(value) ? 'some' : value;
}
