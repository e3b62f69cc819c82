/** A number, or `some` for a number that only the server knows. */
export type Known = number | 'some';

const KEEPS_VALUE: ReadonlySet<string> = new Set([
  'avg_over_time',
  'first_over_time',
  'keep_last_value',
  'label_join',
  'label_replace',
  'last_over_time',
  'max_over_time',
  'min_over_time',
  'sort',
  'sort_by_label',
  'sort_by_label_desc',
  'sort_desc',
]);

/** Functions that return 0 for a constant, because a constant never changes. */
const OF_CHANGES: ReadonlySet<string> = new Set([
  'changes',
  'delta',
  'deriv',
  'idelta',
  'increase',
  'irate',
  'rate',
  'resets',
  'stddev_over_time',
  'stdvar_over_time',
]);

const OF_ONE: ReadonlyMap<string, (value: number) => number> = new Map([
  ['abs', Math.abs],
  ['ceil', Math.ceil],
  ['exp', Math.exp],
  ['floor', Math.floor],
  ['ln', Math.log],
  ['round', Math.round],
  ['sgn', Math.sign],
  ['sqrt', Math.sqrt],
]);

/**
 * Returns the result of a function for constant operands. The vector is the first operand, except in
 * quantile_over_time.
 */
export function computeCall(name: string, operands: readonly Known[]): Known {
  const [value = 'some', bound = 'some', upper = 'some'] = operands;
  if (name === 'quantile_over_time') return bound;
  if (value === 'some') return 'some';
  if (KEEPS_VALUE.has(name)) return value;
  if (OF_CHANGES.has(name)) return 0;
  if (name === 'sum_over_time') return value === 0 ? 0 : 'some';
  if (name === 'clamp_min' && bound !== 'some') return Math.max(value, bound);
  if (name === 'clamp_max' && bound !== 'some') return Math.min(value, bound);
  if (name === 'clamp' && bound !== 'some' && upper !== 'some')
    return Math.max(bound, Math.min(upper, value));
  return OF_ONE.get(name)?.(value) ?? 'some';
}

/** Returns the result of an operator for two constants; null: a comparison is false and drops the series. */
export function computeOperator(
  operator: string,
  { left, right, isBool }: { readonly left: Known; readonly right: Known; readonly isBool: boolean },
): Known | null {
  if (left === 'some' || right === 'some') return timesZero(operator, left, right);
  const holds = compare(operator, left, right);
  if (holds === null) return calculate(operator, left, right);
  if (isBool) return holds ? 1 : 0;
  return holds ? left : null;
}

function timesZero(operator: string, left: Known, right: Known): Known {
  return operator === '*' && (left === 0 || right === 0) ? 0 : 'some';
}

function compare(operator: string, left: number, right: number): boolean | null {
  switch (operator) {
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
    default:
      return null;
  }
}

function calculate(operator: string, left: number, right: number): Known {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '%':
      return left % right;
    case '^':
      return left ** right;
    default:
      return 'some';
  }
}
