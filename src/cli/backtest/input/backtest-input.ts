import type { Assumptions, Result, WorkloadModel } from '../../../backtest/compare/variant.js';
import type { Scoring } from '../../../backtest/figures/figures.js';

/** The input of all runs, from a load trace or from history. */
export interface BacktestInput {
  readonly workload: WorkloadModel;
  readonly scoring: Scoring;
  readonly assumptions: Assumptions;
  /** Additional rows, such as the recorded replicas. */
  readonly otherResults: readonly Result[];
  /** The assumptions as sentences. */
  readonly assumptionLines: readonly string[];
}
