import type { Variant } from '../../../backtest/compare/variant.js';
import type { Demand } from '../../../backtest/figures/demand.js';
import type { Scoring } from '../../../backtest/figures/figures.js';
import { secondsBetween } from '../../../units/time.js';
import { formatSeconds } from '../../../units/format-seconds.js';
import { CommandError } from '../../process/io.js';

/** 30 days with a sync period of 1 s, which take some minutes. */
const MAX_ROUNDS = 3_000_000;

/** Throws `CommandError` if a document would take too many decisions. */
export function checkRounds(variants: readonly Variant[], { start, end }: Demand): void {
  const seconds = secondsBetween(start, end);
  for (const { name, scaler } of variants) {
    const { syncPeriodSeconds } = scaler.spec;
    const rounds = Math.floor(seconds / syncPeriodSeconds);
    if (rounds > MAX_ROUNDS)
      throw new CommandError(
        `${name}: ${formatSeconds(seconds)} of a decision every ${syncPeriodSeconds} s are ${rounds} decisions, must be at most ${MAX_ROUNDS}: choose a shorter time`,
      );
  }
}

/** Fifty times the maximum number of simulated pods. */
const MAX_DEMAND = 1_000_000;

/** Throws `CommandError` for a load that no fleet can carry, usually because its unit differs. */
export function checkDemand({ demand, capacity }: Scoring): void {
  const most = demand.pods.reduce((highest, pods) => (pods > highest ? pods : highest), 0);
  if (most > MAX_DEMAND)
    throw new CommandError(
      `the load needs ${most} pods of a capacity of ${capacity} each, must be at most ${MAX_DEMAND}: check the unit of --capacity`,
    );
}
