import type { JudgedMetric } from './propose.js';

/** What the proposals come to. */
export interface Pick {
  /** The largest proposal; null where no metric has one. */
  readonly replicas: number | null;
  /** The first metric that proposes it. */
  readonly winner: JudgedMetric | null;
  /** The first metric without a proposal. */
  readonly firstFailing: JudgedMetric | null;
  /** Whether every metric has a proposal from a plain value; else the count must not go down. */
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
    isTrusted: metrics.every(({ result }) => result.proposal !== null && result.partial === null),
  };
}
