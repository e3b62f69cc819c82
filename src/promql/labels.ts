import type { Expression, ExpressionOf } from './expressions.js';
import { type ValueType, signatureOf } from './signatures.js';

/**
 * The labels that the series of a vector may have: only `names` or, if the set is open, all except `names`. A label
 * outside of the set is certainly absent. A label in the set may be absent.
 */
export interface LabelSet {
  readonly isOpen: boolean;
  readonly names: ReadonlySet<string>;
}

/** Maximum number of names in a set, which limits the time of an analysis. A larger set is replaced by `ANY_LABELS`. */
const MAX_NAMES = 100;

export const ANY_LABELS: LabelSet = { isOpen: true, names: new Set() };

const NO_LABELS: LabelSet = { isOpen: false, names: new Set() };

function only(names: readonly string[]): LabelSet {
  return closed(new Set(names));
}

export function mayHave({ isOpen, names }: LabelSet, label: string): boolean {
  return names.has(label) !== isOpen;
}

function isEmpty({ isOpen, names }: LabelSet): boolean {
  return !isOpen && names.size === 0;
}

function union(a: LabelSet, b: LabelSet): LabelSet {
  if (a === b) return a;
  if (a.isOpen && b.isOpen) return open(filter(a, (name) => b.names.has(name)));
  if (a.isOpen) return open(filter(a, (name) => !b.names.has(name)));
  if (b.isOpen) return union(b, a);
  const [large, small] = a.names.size < b.names.size ? [b, a] : [a, b];
  const added = filter(small, (name) => !large.names.has(name));
  return added.size === 0 ? large : closed(new Set([...large.names, ...added]));
}

function intersection(a: LabelSet, b: LabelSet): LabelSet {
  if (a === b) return a;
  if (a.isOpen && b.isOpen) return open(new Set([...a.names, ...b.names]));
  if (a.isOpen) return intersection(b, a);
  return closed(filter(a, (name) => mayHave(b, name)));
}

function without(set: LabelSet, labels: readonly string[]): LabelSet {
  const present = labels.filter((label) => mayHave(set, label));
  if (present.length === 0) return set;
  if (set.isOpen) return open(new Set([...set.names, ...present]));
  const dropped = new Set(present);
  return closed(filter(set, (name) => !dropped.has(name)));
}

function keep(set: LabelSet, labels: readonly string[]): LabelSet {
  return only(labels.filter((label) => mayHave(set, label)));
}

function filter({ names }: LabelSet, isKept: (name: string) => boolean): ReadonlySet<string> {
  return new Set([...names].filter(isKept));
}

function closed(names: ReadonlySet<string>): LabelSet {
  return names.size > MAX_NAMES ? ANY_LABELS : { isOpen: false, names };
}

function open(names: ReadonlySet<string>): LabelSet {
  return names.size > MAX_NAMES ? ANY_LABELS : { isOpen: true, names };
}

/**
 * Aggregations that select series and keep their labels. Some of them are MetricsQL: `any`, `outliers...`, `mode`,
 * `share`, `zscore`, `topk_...` and `bottomk_...`.
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
 * Returns the index of the first operator whose sides never have equal labels; null: none was found. Finds two cases:
 * one side has no labels while the other is aggregated by labels, or only one side has a label of `on (...)`.
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

function ofCall({ name, operands }: ExpressionOf<'call'>, context: Context): LabelSet {
  if (NO_LABELS_LEFT.has(name)) return NO_LABELS;
  if (name === 'absent' || name === 'absent_over_time') return ofAbsent(operands[0], context);
  const signature = signatureOf(name);
  if (signature === null) return ANY_LABELS;
  // Without an operand, functions such as `hour()` use the current time.
  if (operands.length === 0) return NO_LABELS;
  const index = signature.parameters.findIndex((type) => type === 'vector' || type === 'range');
  const inner = setOf(operands[index], context);
  if (name === 'histogram_quantile' || name === 'histogram_fraction') return without(inner, ['le']);
  if (name !== 'label_replace' && name !== 'label_join') return inner;
  const target = operands[1] === undefined ? undefined : context.expressions[operands[1]];
  return target?.form === 'string' ? union(inner, only([target.text])) : ANY_LABELS;
}

/** Returns the labels of `absent()`, which come from the `=` matchers of its selector. */
function ofAbsent(operand: number | undefined, { expressions }: Context): LabelSet {
  let inner = operand === undefined ? undefined : expressions[operand];
  while (inner?.form === 'range' || inner?.form === 'wrapped')
    inner = inner.operands[0] === undefined ? undefined : expressions[inner.operands[0]];
  if (inner?.form !== 'selector') return NO_LABELS;
  return only(inner.matchers.filter(({ operator }) => operator === '=').map(({ label }) => label));
}

function ofAggregate({ name, operands, grouping }: ExpressionOf<'aggregate'>, context: Context): LabelSet {
  const inner = setOf(operands.at(-1), context);
  if (CHOOSES_SERIES.test(name)) return inner;
  const grouped = grouping === null ? NO_LABELS : groupedBy(inner, grouping);
  if (name !== 'count_values' && name !== 'quantiles') return name === 'histogram' ? ANY_LABELS : grouped;
  const label = operands[0] === undefined ? undefined : context.expressions[operands[0]];
  return label?.form === 'string' ? union(grouped, only([label.text])) : ANY_LABELS;
}

function groupedBy(
  inner: LabelSet,
  { kind, labels }: NonNullable<ExpressionOf<'aggregate'>['grouping']>,
): LabelSet {
  return kind === 'by' ? keep(inner, labels) : without(inner, labels);
}

/**
 * Returns the labels of a binary operator. Source: Prometheus, promql/engine.go, resultMetric, VectorAnd, VectorOr,
 * VectorUnless.
 */
function ofBinary(expression: ExpressionOf<'binary'>, context: Context): LabelSet {
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
  // VictoriaMetrics treats a series without labels as a number. In Prometheus, such a series matches nothing.
  if (matching === null && (isEmpty(left) || isEmpty(right))) return union(left, right);
  if (matching === null) return both;
  return matching.kind === 'on' ? keep(both, matching.labels) : without(both, matching.labels);
}
