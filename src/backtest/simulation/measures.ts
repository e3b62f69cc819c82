import { computeCall, computeOperator } from '../../promql/constants.js';
import { type Expression, readExpressions } from '../../promql/expressions.js';
import { quote } from './settings.js';

/** What an expression may use: the values that an exporter could measure of a simulated queue. */
const MEASURES = ['load', 'served', 'lost', 'depth', 'wait', 'ready'] as const;
export type Measure = (typeof MEASURES)[number];

/** Returns the value of an expression; null: a measure is unknown, or the result is not a number. */
export type ReadMeasure = (read: (measure: Measure) => number | null) => number | null;

const OPERATORS: ReadonlySet<string> = new Set(['+', '-', '*', '/', '%', '^']);
const FUNCTIONS: ReadonlySet<string> = new Set([
  'abs',
  'ceil',
  'clamp',
  'clamp_max',
  'clamp_min',
  'floor',
  'sqrt',
]);
const MOST_CHARACTERS = 500;

/**
 * Parses arithmetic in PromQL, such as `load + depth / 60`. If the text is invalid, returns the reason as the predicate
 * of a sentence.
 */
export function parseMeasure(text: string): ReadMeasure | string {
  if (text.length > MOST_CHARACTERS)
    return `has ${text.length} characters, must have at most ${MOST_CHARACTERS}`;
  const expressions = readExpressions(text);
  const wrong = expressions?.find((one) => !isArithmetic(one, text));
  if (expressions === null || wrong !== undefined) {
    const part = wrong === undefined ? text : text.slice(wrong.from, wrong.to);
    return `has ${quote(part)}, must be arithmetic of ${MEASURES.join(', ')} and numbers, such as load + depth / 60`;
  }
  return (read) => {
    const values: (number | null)[] = [];
    for (const one of expressions) values.push(valueOf(one, values, read));
    const value = values.at(-1) ?? null;
    return value !== null && Number.isFinite(value) ? value : null;
  };
}

function isArithmetic(one: Expression, text: string): boolean {
  switch (one.form) {
    case 'number':
      return Number.isFinite(Number(one.text));
    case 'selector':
      return isMeasure(one.metric) && text.slice(one.from, one.to).trim() === one.metric;
    case 'wrapped':
      return one.node === 'ParenExpr';
    case 'unary':
      return true;
    case 'binary':
      return OPERATORS.has(one.operator) && one.matching === null;
    case 'call':
      return FUNCTIONS.has(one.name);
    default:
      return false;
  }
}

function isMeasure(name: string | null): name is Measure {
  return MEASURES.some((measure) => measure === name);
}

function valueOf(
  one: Expression,
  values: readonly (number | null)[],
  read: (measure: Measure) => number | null,
): number | null {
  const operands = one.operands.map((index) => values[index] ?? NaN);
  const [first = NaN, second = NaN] = operands;
  switch (one.form) {
    case 'number':
      return Number(one.text);
    case 'selector':
      return isMeasure(one.metric) ? read(one.metric) : null;
    case 'wrapped':
      return first;
    case 'unary':
      return one.operator === '-' ? -first : first;
    case 'binary':
      return numberOf(computeOperator(one.operator, { left: first, right: second, isBool: one.isBool }));
    case 'call':
      return numberOf(computeCall(one.name, operands));
    default:
      return null;
  }
}

function numberOf(value: number | 'some' | null): number | null {
  return value === 'some' ? null : value;
}
