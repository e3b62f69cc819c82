import type { Recommendation } from '../../src/telemetry/recommendation.js';
import { at } from '../support/builders.js';

/** Builds a recommendation of another target, which saves 12.5 % of the pod-hours. */
export function aRecommendation(overrides: Partial<Recommendation> = {}): Recommendation {
  return {
    at: at(0),
    from: at(-604_800),
    to: at(0),
    stepSeconds: 30,
    reason: 'expect 12.5 % fewer pod-hours',
    changes: [
      { field: 'spec.metrics[0].resource.target.averageUtilization', current: '60', proposed: '70' },
      { field: 'spec.tolerance', current: null, proposed: '0.05' },
    ],
    patch: `{"spec":{"tolerance":0.05,"note":"it's"}}`,
    saving: { percent: 12.5, lowest: 8, highest: 15 },
    thetaU: { current: 0.01, proposed: 0.012 },
    ...overrides,
  };
}
