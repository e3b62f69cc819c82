import { expect, it } from '@jest/globals';
import { demandOf, figuresOf, staticFleet } from '../../../src/backtest/compare/figures.js';
import { createLoad } from '../../../src/backtest/simulation/load.js';
import { at, T0 } from '../../support/builders.js';

it('counts the last step of a load of 65 s for the 5 s that it has', () => {
  // A pod serves 10. The load needs 2 pods for 60 s, and 8 pods for the last 5 s.
  const load = createLoad(Float64Array.of(T0, at(60)), Float64Array.of(20, 80), at(65));
  const demand = demandOf(load, { capacity: 10, start: T0, end: at(65), stepSeconds: 15 });
  const scoring = { load, capacity: 10, demand, pricePerPodHour: null, queue: null };

  const figures = figuresOf(staticFleet(demand, 4), scoring);

  // There are twice the needed pods for 60 s, and half of them for 5 s.
  expect(figures?.thetaU).toBeCloseTo((50 * 5) / 65, 10);
  expect(figures?.thetaO).toBeCloseTo((100 * 60) / 65, 10);
  expect(figures?.tauU).toBeCloseTo((100 * 5) / 65, 10);
  expect(figures?.tauO).toBeCloseTo((100 * 60) / 65, 10);
  expect(figures?.podHours).toBeCloseTo((4 * 65) / 3600, 10);
  expect(figures?.averagePods).toBeCloseTo(4, 10);
  expect(figures?.unserved).toBeCloseTo((100 * 200) / 1600, 10);
});
