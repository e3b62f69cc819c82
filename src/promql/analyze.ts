import { type Filler, findFiller } from './absence.js';
import { type Expression, readExpressions } from './expressions.js';
import { ANY_LABELS, type LabelSet, findUnmatched, inferLabels } from './labels.js';
import { rememberByQuery } from './parse.js';
import type { ValueType } from './signatures.js';
import { type TypeProblem, inferTypes } from './types.js';

export interface QueryFacts {
  readonly expressions: readonly Expression[];
  readonly type: ValueType | null;
  readonly problems: readonly TypeProblem[];
  readonly labels: LabelSet;
  /** The constant that replaces missing data; null: there is none. */
  readonly filler: Filler | null;
  /**
   * Index of the first operator whose sides never have equal labels, so that it returns nothing; null: there is none.
   */
  readonly unmatched: number | null;
}

/** Analyzes a query without a server. Null: the query does not parse, or exceeds a limit. */
export const analyzeQuery = rememberByQuery(analyzeUncached, 50);

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
