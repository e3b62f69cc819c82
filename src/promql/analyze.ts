import { type Filler, findFiller } from './absence.js';
import { type Expression, readExpressions } from './expressions.js';
import { ANY_LABELS, type LabelSet, mayHave } from './label-sets.js';
import { findUnmatched, inferLabels } from './labels.js';
import type { ValueType } from './signatures.js';
import { type TypeProblem, inferTypes } from './types.js';

export interface QueryFacts {
  readonly expressions: readonly Expression[];
  readonly type: ValueType | null;
  readonly problems: readonly TypeProblem[];
  readonly labels: LabelSet;
  /** Null if no constant replaces missing data. */
  readonly filler: Filler | null;
  /** Index of the first operator whose sides never match; null: none. */
  readonly unmatched: number | null;
}

/** Bounds of the cache: number of queries, characters per query. */
const MAX_KEPT = 50;
const MAX_KEPT_LENGTH = 10_000;
const kept = new Map<string, QueryFacts | null>();

/** Analyzes a query without a server. Null if it does not parse or exceeds a limit. */
export function analyzeQuery(query: string): QueryFacts | null {
  const known = kept.get(query);
  if (known !== undefined) return known;
  const facts = analyzeUncached(query);
  if (query.length > MAX_KEPT_LENGTH) return facts;
  const oldest = kept.size < MAX_KEPT ? undefined : kept.keys().next().value;
  if (oldest !== undefined) kept.delete(oldest);
  kept.set(query, facts);
  return facts;
}

/**
 * Whether no series of the result can have the label, such as `pod` in `sum(x)` and `sum without (pod) (x)`. False if
 * that depends on the data.
 */
export function dropsLabel(query: string, label: string): boolean {
  const facts = analyzeQuery(query);
  return facts !== null && !mayHave(facts.labels, label);
}

function analyzeUncached(query: string): QueryFacts | null {
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
