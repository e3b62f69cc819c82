import type { HistoryOptions } from './history/open-history.js';

export interface BacktestOptions extends HistoryOptions {
  readonly scaler?: string;
  readonly replay?: readonly string[];
  readonly trace?: string;
  readonly capacity?: string;
  readonly start?: string;
  readonly against?: readonly string[];
  readonly sweep?: readonly string[];
  readonly podStart?: string;
  readonly initialReplicas?: string;
  readonly usageAtCapacity: string;
  readonly price?: string;
  readonly config?: string;
  readonly failIf?: readonly string[];
  readonly recommend?: readonly string[];
  readonly html?: string;
  readonly output: string;
}
