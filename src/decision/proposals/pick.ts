import type { MetricResult } from '../decision.js';
import type { JudgedMetric } from './propose.js';

/** What the proposals come to. */
export interface Pick {
  /** The largest proposal; null where no metric has one. */
  readonly replicas: number | null;
  /** The first metric that proposes it. */
  readonly winner: JudgedMetric | null;
  /** The first metric without a proposal. */
  readonly firstFailing: JudgedMetric | null;
  /** The first metric in whose place the fallback stands. */
  readonly firstReplaced: JudgedMetric | null;
  /** Whether every metric has a proposal from a plain value, or from a fallback that may lower; else the count must not go down. */
  readonly isTrusted: boolean;
}

/** The largest proposal wins, 0 included. */
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
