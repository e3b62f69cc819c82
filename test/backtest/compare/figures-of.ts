import type { ProbeFigures } from '../../../src/backtest/compare/probes.js';
import type { Figures } from '../../../src/backtest/compare/figures.js';
import { parseThreshold, type Threshold } from '../../../src/backtest/compare/threshold.js';

/** Figures of a document that is as good as can be, with these exceptions. */
export function figuresWith(some: Partial<Figures>): Figures {
  return {
    thetaU: 0,
    thetaO: 0,
    tauU: 0,
    tauO: 0,
    instability: 0,
    deviation: 0,
    unserved: 0,
    averagePods: 10,
    peakPods: 10,
    podHours: 100,
    cost: null,
    changes: 0,
    flaps: 0,
    atMaximum: 0,
    byLimit: {},
    queue: null,
    ...some,
  };
}

/** What a document does, by window; as a whole, the mean theta_U and all pod-hours. */
export function triedWith(thetaU: readonly number[], podHours: readonly number[]): ProbeFigures {
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    whole: figuresWith({ thetaU: sum(thetaU) / thetaU.length, podHours: sum(podHours) }),
    windows: thetaU.map((value, number) =>
      Number.isNaN(value) ? null : figuresWith({ thetaU: value, podHours: podHours[number] ?? 0 }),
    ),
  };
}

export function conditionOf(text: string): Threshold {
  const condition = parseThreshold(text, { allowsDocument: true });
  if (typeof condition === 'string') throw new Error(condition);
  return condition;
}
