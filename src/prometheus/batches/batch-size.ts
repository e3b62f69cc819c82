/** Number of workloads in one query. A hundred cost Prometheus about as much as three queries for one workload. */
const MOST_WORKLOADS = 100;

/** Shares of its time limit: a query that takes longer gets fewer workloads; after faster ones, it gets more. */
const SLOW = 1 / 4;
const FAST = 1 / 16;
const FAST_ANSWERS = 20;

/** Learns how many workloads one query may contain, by how long the server takes to answer it. */
export interface BatchSize {
  readonly most: () => number;
  /** `seconds`: how long the answer to a query for `count` workloads took; `limit`: how long it could have taken. */
  readonly learn: (count: number, time: { readonly seconds: number; readonly limit: number }) => void;
  /** A query for `count` workloads was rejected although queries for fewer were answered. */
  readonly lower: (count: number) => void;
}

/**
 * Halves the number after a slow answer or a timeout, because a query that always times out would leave all of its
 * workloads without data. Doubles it again after 20 fast answers, but never to a size that was rejected.
 */
export function createBatchSize(): BatchSize {
  let ceiling = MOST_WORKLOADS;
  let most = MOST_WORKLOADS;
  let fastAnswers = 0;
  return {
    most: () => most,
    learn: (count, { seconds, limit }) => {
      if (seconds > SLOW * limit) most = Math.min(most, half(count));
      fastAnswers = seconds < FAST * limit ? fastAnswers + 1 : 0;
      if (fastAnswers < FAST_ANSWERS) return;
      fastAnswers = 0;
      most = Math.min(ceiling, most * 2);
    },
    lower: (count) => {
      ceiling = Math.min(ceiling, half(count));
      most = Math.min(most, ceiling);
    },
  };
}

function half(count: number): number {
  return Math.max(1, Math.floor(count / 2));
}
