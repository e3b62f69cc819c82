import { type Filler, findFiller } from './absence.js';
import { type Expression, readExpressions } from './expressions.js';
import { ANY_LABELS, type LabelSet, mayHave } from './label-sets.js';
import { findUnmatched, inferLabels } from './labels.js';
import type { ValueType } from './signatures.js';
import { type TypeProblem, inferTypes } from './types.js';

export interface QueryFacts {
  /** Operands before the expressions that use them, the whole query last. */
  readonly expressions: readonly Expression[];
  /** The type of the result; null if it is unknown. */
  readonly type: ValueType | null;
  readonly problems: readonly TypeProblem[];
  readonly labels: LabelSet;
  /** The part that replaces missing data with a constant; null if there is none. */
  readonly filler: Filler | null;
  /** The index of the first operator whose sides never match; null if there is none. */
  readonly unmatched: number | null;
}

/** The number of queries that are kept, and the length of the longest. */
const MAX_KEPT = 50;
const MAX_KEPT_LENGTH = 10_000;
const kept = new Map<string, QueryFacts | null>();

/** Returns the facts of a query that are known without a server; null if it does not parse or is too long. */
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
 * Returns whether no series of the result can have the label: `sum(x)` and `sum without (pod) (x)` have no `pod`. False
 * if that depends on the data.
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
