import type { MetricResult } from '../result/decision.js';
import type { JudgedMetric } from './propose.js';

export interface Pick {
  /** The largest proposal; null if no metric has one. */
  readonly replicas: number | null;
  readonly winner: JudgedMetric | null;
  readonly firstFailing: JudgedMetric | null;
  /** The first metric with the proposal of the fallback. */
  readonly firstReplaced: JudgedMetric | null;
  /**
   * Whether every proposal comes from a full value, or from a fallback that may lower the count. Otherwise the count
   * must not fall.
   */
  readonly isTrusted: boolean;
}

export function pickProposal(metrics: readonly JudgedMetric[]): Pick {
  let winner: JudgedMetric | null = null;
  for (const metric of metrics) {
    const { proposal } = metric.result;
    if (proposal !== null && proposal > (winner?.result.proposal ?? -1)) winner = metric;
  }
  return {
    replicas: winner?.result.proposal ?? null,
    winner,
    firstFailing: metrics.find(({ result }) => result.proposal === null) ?? null,
    firstReplaced: metrics.find(({ result }) => result.fallback !== undefined) ?? null,
    isTrusted: metrics.every(({ result }) => isTrusted(result)),
  };
}

function isTrusted({ proposal, partial, fallback }: MetricResult): boolean {
  return proposal !== null && partial === null && fallback?.mode !== 'atLeast';
}
