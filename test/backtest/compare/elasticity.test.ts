import { describe, expect, test } from '@jest/globals';
import { elasticityOf, type ElasticityStep } from '../../../src/backtest/compare/figures.js';

/** Step functions of 20 time units, as [from, value]. Source: unit tests of BUNGEE, whose expected values these are. */
const DEMAND = [
  [0, 1],
  [7, 5],
  [16, 3],
  [17, 2],
  [19, 4],
] as const;
const SUPPLY = [
  [0, 1],
  [2, 2],
  [3, 1],
  [5, 3],
  [9, 7],
  [11, 6],
  [12, 8],
  [14, 2],
] as const;

function valueAt(curve: readonly (readonly [number, number])[], time: number): number {
  return curve.findLast(([from]) => from <= time)?.[1] ?? NaN;
}

function stepsOf(
  demand: (time: number) => number | null,
  supply: (time: number) => number,
): readonly ElasticityStep[] {
  return Array.from({ length: 20 }, (_, time) => ({
    demand: demand(time),
    supply: supply(time),
    seconds: 1,
  }));
}

const demandAt = (time: number): number => valueAt(DEMAND, time);
const supplyAt = (time: number): number => valueAt(SUPPLY, time);

describe('elasticity of two known curves', () => {
  test('gives theta_U 14.1667, theta_O 36, tau_U 30, tau_O 40, instability 57.895 and deviation 60.907', () => {
    const figures = elasticityOf(stepsOf(demandAt, supplyAt));

    expect(figures?.thetaU).toBeCloseTo(14.1667, 4);
    expect(figures?.thetaO).toBeCloseTo(36, 10);
    expect(figures?.tauU).toBeCloseTo(30, 10);
    expect(figures?.tauO).toBeCloseTo(40, 10);
    expect(figures?.instability).toBeCloseTo(57.895, 3);
    expect(figures?.deviation).toBeCloseTo(60.907, 3);
  });

  test('is 0 in everything if the supply is the demand', () => {
    expect(elasticityOf(stepsOf(demandAt, demandAt))).toEqual({
      thetaU: 0,
      thetaO: 0,
      tauU: 0,
      tauO: 0,
      instability: 0,
      deviation: 0,
    });
  });

  test('has no under-provisioning with one pod more than the demand, and 100 % of the time over it', () => {
    const figures = elasticityOf(stepsOf(demandAt, (time) => demandAt(time) + 1));

    expect(figures).toMatchObject({ thetaU: 0, tauU: 0, tauO: 100, instability: 0 });
  });

  test('leaves out steps of unknown demand, and the change across them', () => {
    const known = elasticityOf([
      { demand: 2, supply: 1, seconds: 15 },
      { demand: 2, supply: 2, seconds: 15 },
    ]);
    const withGap = elasticityOf([
      { demand: 2, supply: 1, seconds: 15 },
      { demand: null, supply: 7, seconds: 15 },
      { demand: 2, supply: 2, seconds: 15 },
    ]);

    expect(known).toMatchObject({ thetaU: 25, instability: 100 });
    expect(withGap).toMatchObject({ thetaU: 25, instability: 0 });
  });

  test('counts a last step of 5 s for a third of one of 15 s', () => {
    const figures = elasticityOf([
      { demand: 4, supply: 4, seconds: 15 },
      { demand: 4, supply: 2, seconds: 5 },
    ]);

    expect(figures).toMatchObject({ thetaU: 12.5, tauU: 25, tauO: 0 });
  });

  test('is null if the demand is never known', () => {
    expect(elasticityOf([{ demand: null, supply: 3, seconds: 15 }])).toBeNull();
    expect(elasticityOf([])).toBeNull();
  });
});
