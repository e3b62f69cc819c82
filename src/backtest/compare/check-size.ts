import type { Demand, Scoring } from './figures.js';
import { formatSeconds } from '../../units/format.js';
import { secondsBetween } from '../../units/time.js';
import type { Variant } from './variant.js';

/** A document cannot be back-tested. The message says why, and what to do. */
export class BacktestError extends Error {
  override name = 'BacktestError';
}

/** Enough for 30 days with a sync period of 1 s: some minutes of computing. */
const MAX_ROUNDS = 3_000_000;

/** Throws `BacktestError` if a document would take too many decisions. */
export function checkRounds(
  variants: readonly Variant[],
  { start, end }: Pick<Demand, 'start' | 'end'>,
  mostRounds = MAX_ROUNDS,
): void {
  const seconds = secondsBetween(start, end);
  for (const { name, scaler } of variants) {
    const { syncPeriodSeconds } = scaler.spec;
    const rounds = Math.floor(seconds / syncPeriodSeconds);
    if (rounds > mostRounds)
      throw new BacktestError(
        `${name}: ${formatSeconds(seconds)} of a decision every ${syncPeriodSeconds} s are ${rounds} decisions, must be at most ${mostRounds}: choose a shorter time`,
      );
  }
}

/** Fifty times the maximum number of simulated pods. */
const MAX_DEMAND = 1_000_000;

/** Throws `BacktestError` for a load that no fleet can carry, usually because its unit differs. */
export function checkDemand({ demand, capacity }: Scoring): void {
  const most = demand.pods.reduce((highest, pods) => (pods > highest ? pods : highest), 0);
  if (most > MAX_DEMAND)
    throw new BacktestError(
      `the load needs ${most} pods (capacity ${capacity} each), more than the maximum of ${MAX_DEMAND}: check the unit of --capacity`,
    );
}
