/**
 * How well a supply of pods followed the demand, in percent of time or of the demand. Source: Herbst et al., "Ready for
 * Rain?", SPEC-RG-2016-01; the formulas are in docs/guides/backtest.md.
 */
export interface Elasticity {
  /** Mean share of the demand that was missing, in percent: 100/T * sum(max(d - s, 0) / d). */
  readonly thetaU: number;
  /** Mean surplus in percent of the demand: 100/T * sum(max(s - d, 0) / d). Has no upper bound. */
  readonly thetaO: number;
  /** Share of the time with fewer pods than the demand, in percent. */
  readonly tauU: number;
  /** Share of the time with more pods than the demand, in percent. */
  readonly tauO: number;
  /** Share of the steps in which demand and supply did not change in the same direction, in percent. */
  readonly instability: number;
  /** Distance from an ideal scaler, whose other five figures are 0: the fifth root of the sum of their fifth powers. */
  readonly deviation: number;
}

/** A step of demand and supply. All steps have the same length, except that the last one may be shorter. */
export interface ElasticityStep {
  /** The needed pods, at least 1; null: unknown, so the step is not scored. */
  readonly demand: number | null;
  /** The mean number of ready pods. A pod that becomes ready within the step counts for the rest of the step. */
  readonly supply: number;
  readonly seconds: number;
}

/** Returns the figures over all steps; null: the demand is unknown in every step. */
export function elasticityOf(steps: Iterable<ElasticityStep>): Elasticity | null {
  const sums = { thetaU: 0, thetaO: 0, tauU: 0, tauO: 0, unstable: 0 };
  let total = 0;
  let pairs = 0;
  let before: { readonly demand: number; readonly supply: number } | null = null;
  for (const { demand, supply, seconds } of steps) {
    if (demand === null) {
      before = null;
      continue;
    }
    total += seconds;
    sums.thetaU += (seconds * Math.max(demand - supply, 0)) / demand;
    sums.thetaO += (seconds * Math.max(supply - demand, 0)) / demand;
    if (supply < demand) sums.tauU += seconds;
    if (supply > demand) sums.tauO += seconds;
    if (before !== null) {
      pairs += 1;
      if (Math.sign(supply - before.supply) !== Math.sign(demand - before.demand)) sums.unstable += 1;
    }
    before = { demand, supply };
  }
  if (total === 0) return null;
  const thetaU = (100 * sums.thetaU) / total;
  const thetaO = (100 * sums.thetaO) / total;
  const tauU = (100 * sums.tauU) / total;
  const tauO = (100 * sums.tauO) / total;
  const instability = pairs === 0 ? 0 : (100 * sums.unstable) / pairs;
  const deviation = [thetaU, thetaO, tauU, tauO, instability].reduce((sum, x) => sum + x ** 5, 0) ** (1 / 5);
  return { thetaU, thetaO, tauU, tauO, instability, deviation };
}
