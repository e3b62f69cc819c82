import { type Filler, findFiller } from './absence.js';
import { type Expression, readExpressions } from './expressions.js';
import { ANY_LABELS, type LabelSet, mayHave } from './label-sets.js';
import { findUnmatched, inferLabels } from './labels.js';
import type { ValueType } from './signatures.js';
import { type TypeProblem, inferTypes } from './types.js';

/** What can be told of a query from its syntax tree alone. */
export interface QueryFacts {
  /** Operands before what uses them, the whole query last. */
  readonly expressions: readonly Expression[];
  /** What the query gives; null where that is not known here. */
  readonly type: ValueType | null;
  readonly problems: readonly TypeProblem[];
  /** The labels that its series may have. */
  readonly labels: LabelSet;
  /** The part that puts a constant in the place of missing data; null where there is none. */
  readonly filler: Filler | null;
  /** The index of the first operator whose sides have no series in common; null where there is none. */
  readonly unmatched: number | null;
}

/** The queries that were analyzed last, and the longest that is kept. */
const MAX_KEPT = 50;
const MAX_KEPT_LENGTH = 10_000;
const kept = new Map<string, QueryFacts | null>();

/** What can be told of a query without a server; null for one that does not parse, or is too long to look at. */
export function analyzeQuery(query: string): QueryFacts | null {
  const known = kept.get(query);
  if (known !== undefined) return known;
  const facts = analyzeAnew(query);
  if (query.length > MAX_KEPT_LENGTH) return facts;
  const oldest = kept.size < MAX_KEPT ? undefined : kept.keys().next().value;
  if (oldest !== undefined) kept.delete(oldest);
  kept.set(query, facts);
  return facts;
}

/**
 * Whether no series of the answer can have the label, as `sum(x)` and `sum without (pod) (x)` have no `pod`. False
 * where that cannot be told without the data.
 */
export function dropsLabel(query: string, label: string): boolean {
  const facts = analyzeQuery(query);
  return facts !== null && !mayHave(facts.labels, label);
}

function analyzeAnew(query: string): QueryFacts | null {
  const expressions = readExpressions(query);
  if (expressions === null) return null;
  const { types, problems } = inferTypes(query, expressions);
  const sets = inferLabels(expressions, types);
  return {
    expressions,
    type: types.at(-1) ?? null,
    problems,
    labels: sets.at(-1) ?? ANY_LABELS,
    filler: findFiller(expressions),
    unmatched: findUnmatched(expressions, sets, types),
  };
}
