import type { Assumptions, Result, WorkloadModel } from '../../../backtest/compare/variant.js';
import type { Scoring } from '../../../backtest/figures/figures.js';

/** Where the documents run, from a load trace or from history. */
export interface BacktestInput {
  readonly workload: WorkloadModel;
  readonly scoring: Scoring;
  readonly assumptions: Assumptions;
  /** Rows besides the documents, such as what really ran. */
  readonly otherResults: readonly Result[];
  /** The assumptions in words. */
  readonly assumptionLines: readonly string[];
}
