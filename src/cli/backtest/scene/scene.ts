import type { Assumptions, Result, World } from '../../../backtest/compare/variant.js';
import type { Scoring } from '../../../backtest/figures/figures.js';

/** Where the documents run, from a load trace or from history. */
export interface Scene {
  readonly world: World;
  readonly scoring: Scoring;
  readonly assumptions: Assumptions;
  /** Rows besides the documents, such as what really ran. */
  readonly more: readonly Result[];
  /** The assumptions in words. */
  readonly lines: readonly string[];
}
