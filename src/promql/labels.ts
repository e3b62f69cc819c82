import type { Expression } from './expressions.js';
import {
  ANY_LABELS,
  type LabelSet,
  NO_LABELS,
  intersection,
  isEmpty,
  keep,
  mayHave,
  only,
  union,
  without,
} from './label-sets.js';
import { type ValueType, signatureOf } from './signatures.js';

/**
 * Aggregations that select series and keep their labels. `any`, `outliers...`, `mode`, `share`, `zscore`, `topk_...`
 * and `bottomk_...` are MetricsQL.
 */
const CHOOSES_SERIES = /^(?:topk|bottomk|limitk|limit_ratio|any|outliers|mode|share|zscore|(?:top|bottom)k_)/;

const NO_LABELS_LEFT: ReadonlySet<string> = new Set(['vector', 'scalar', 'time', 'pi']);

export function inferLabels(
  expressions: readonly Expression[],
  types: readonly (ValueType | null)[],
): readonly LabelSet[] {
  const sets: LabelSet[] = [];
  for (const expression of expressions) sets.push(labelsOf(expression, { expressions, types, sets }));
  return sets;
}

/**
 * Returns the index of the first operator whose sides never have equal labels, or null. Two cases are found: one side
 * has no labels and the other is aggregated by some, or only one side has a label of `on (...)`.
 */
export function findUnmatched(
  expressions: readonly Expression[],
  sets: readonly LabelSet[],
  types: readonly (ValueType | null)[],
): number | null {
  const index = expressions.findIndex((expression) => {
    if (expression.form !== 'binary' || expression.fillFrom !== null) return false;
    const { operator, operands, matching } = expression;
    if (operands.some((operand) => types[operand] !== 'vector') || /^(?:or|unless)$/.test(operator))
      return false;
    const [left, right] = operands.map((operand) => sets[operand] ?? ANY_LABELS);
    if (left === undefined || right === undefined || left.isOpen || right.isOpen) return false;
    if (matching === null) return isEmpty(left) !== isEmpty(right);
    if (matching.kind === 'ignoring') return false;
    return matching.labels.some((label) => mayHave(left, label) !== mayHave(right, label));
  });
  return index < 0 ? null : index;
}

interface Context {
  readonly expressions: readonly Expression[];
  readonly types: readonly (ValueType | null)[];
  readonly sets: readonly LabelSet[];
}

type Of<Form extends Expression['form']> = Extract<Expression, { readonly form: Form }>;

function labelsOf(expression: Expression, context: Context): LabelSet {
  switch (expression.form) {
    case 'number':
    case 'string':
      return NO_LABELS;
    case 'selector':
      return ANY_LABELS;
    case 'range':
    case 'subquery':
    case 'unary':
    case 'wrapped':
      return setOf(expression.operands[0], context);
    case 'call':
      return ofCall(expression, context);
    case 'aggregate':
      return ofAggregate(expression, context);
    case 'binary':
      return ofBinary(expression, context);
    default:
      return expression satisfies never;
  }
}

function setOf(operand: number | undefined, { sets }: Context): LabelSet {
  return operand === undefined ? ANY_LABELS : (sets[operand] ?? ANY_LABELS);
}

function ofCall({ name, operands }: Of<'call'>, context: Context): LabelSet {
  if (NO_LABELS_LEFT.has(name)) return NO_LABELS;
  if (name === 'absent' || name === 'absent_over_time') return ofAbsent(operands[0], context);
  const signature = signatureOf(name);
  if (signature === null) return ANY_LABELS;
  // Without an operand, hour() and similar functions use the current time.
  if (operands.length === 0) return NO_LABELS;
  const index = signature.parameters.findIndex((type) => type === 'vector' || type === 'range');
  const inner = setOf(operands[index], context);
  if (name === 'histogram_quantile' || name === 'histogram_fraction') return without(inner, ['le']);
  if (name !== 'label_replace' && name !== 'label_join') return inner;
  const target = operands[1] === undefined ? undefined : context.expressions[operands[1]];
  return target?.form === 'string' ? union(inner, only([target.text])) : ANY_LABELS;
}

/** The labels of absent() come from the matchers of its selector. */
function ofAbsent(operand: number | undefined, { expressions }: Context): LabelSet {
  let inner = operand === undefined ? undefined : expressions[operand];
  while (inner?.form === 'range' || inner?.form === 'wrapped')
    inner = inner.operands[0] === undefined ? undefined : expressions[inner.operands[0]];
  if (inner?.form !== 'selector') return NO_LABELS;
  return only(inner.matchers.filter(({ operator }) => operator === '=').map(({ label }) => label));
}

function ofAggregate({ name, operands, grouping }: Of<'aggregate'>, context: Context): LabelSet {
  const inner = setOf(operands.at(-1), context);
  if (CHOOSES_SERIES.test(name)) return inner;
  const grouped = grouping === null ? NO_LABELS : groupedBy(inner, grouping);
  if (name !== 'count_values' && name !== 'quantiles') return name === 'histogram' ? ANY_LABELS : grouped;
  const label = operands[0] === undefined ? undefined : context.expressions[operands[0]];
  return label?.form === 'string' ? union(grouped, only([label.text])) : ANY_LABELS;
}

function groupedBy(inner: LabelSet, { kind, labels }: NonNullable<Of<'aggregate'>['grouping']>): LabelSet {
  return kind === 'by' ? keep(inner, labels) : without(inner, labels);
}

/** Source: Prometheus, promql/engine.go, resultMetric, VectorAnd, VectorOr, VectorUnless. */
function ofBinary(expression: Of<'binary'>, context: Context): LabelSet {
  const { operator, operands, matching, fillFrom } = expression;
  const [left, right] = operands.map((operand) => setOf(operand, context));
  const [leftType, rightType] = operands.map((operand) => context.types[operand] ?? null);
  if (left === undefined || right === undefined) return ANY_LABELS;
  if (operator === 'and' || operator === 'unless' || operator === 'if' || operator === 'ifnot') return left;
  if (operator === 'or' || operator === 'default') return union(left, right);
  if (leftType === 'scalar') return right;
  if (rightType === 'scalar') return left;
  if (matching?.group != null) {
    const [many, one] = matching.group === 'left' ? [left, right] : [right, left];
    return union(many, keep(one, matching.include));
  }
  const both = fillFrom === null ? intersection(left, right) : union(left, right);
  // VictoriaMetrics treats a series without labels as a number; in Prometheus it matches nothing.
  if (matching === null && (isEmpty(left) || isEmpty(right))) return union(left, right);
  if (matching === null) return both;
  return matching.kind === 'on' ? keep(both, matching.labels) : without(both, matching.labels);
}
