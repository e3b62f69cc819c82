import { describe, expect, it } from '@jest/globals';
import { createFleet, type Fleet } from '../../../src/backtest/simulation/fleet.js';
import { type PodStart, podStartOf } from '../../../src/backtest/simulation/settings.js';
import { secondsBetween } from '../../../src/units/time.js';
import { at, T0 } from '../../support/builders.js';

const fleetOf = (replicas: number, podStart: PodStart): Fleet =>
  createFleet({ replicas, start: T0, podStart, requests: new Map() });

/** Seconds from T0 until each pod is ready, in order of creation. */
function startsOf(fleet: Fleet): readonly number[] {
  for (let next = fleet.nextReadyAt(); next !== null; next = fleet.nextReadyAt()) fleet.advanceTo(next);
  return fleet.pods().map(({ readyChangedAt }) => secondsBetween(T0, readyChangedAt ?? T0));
}

describe('pods that start in 60 s (median) or 180 s (p95)', () => {
  const START = { medianSeconds: 60, p95Seconds: 180, node: null };

  it('do so: of 2,000 pods, half take 60 s, one in 20 longer than 180 s, and none longer than 8 minutes', () => {
    const fleet = fleetOf(0, START);
    fleet.scaleTo(2000, T0);
    const starts = startsOf(fleet).toSorted((one, other) => one - other);

    expect(starts[1000]).toBeGreaterThan(56);
    expect(starts[1000]).toBeLessThan(64);
    expect(starts[1900]).toBeGreaterThan(162);
    expect(starts[1900]).toBeLessThan(198);
    expect(starts.at(-1)).toBeLessThan(480);
  });

  it('take the same time in each run', () => {
    const [one, other] = [fleetOf(1, START), fleetOf(1, START)];
    one.scaleTo(20, T0);
    other.scaleTo(20, T0);

    expect(startsOf(one)).toEqual(startsOf(other));
    expect(new Set(startsOf(one)).size).toBe(20);
  });

  it('are removed before ready pods, then those that became ready last', () => {
    const fleet = fleetOf(0, START);
    fleet.scaleTo(4, T0);
    const ready = startsOf(fleet);
    const order = fleet
      .pods()
      .map(({ name }, index) => ({ name, ready: ready[index] ?? 0 }))
      .toSorted((one, other) => one.ready - other.ready);
    fleet.scaleTo(6, at(1000));
    fleet.scaleTo(2, at(1001));

    expect(new Set(fleet.pods().map(({ name }) => name))).toEqual(
      new Set(order.slice(0, 2).map(({ name }) => name)),
    );
    expect(fleet.nextReadyAt()).toBeNull();
  });
});

describe('nodes with room for 4 pods, which start in 90 s', () => {
  const START = { medianSeconds: 10, p95Seconds: 10, node: { seconds: 90, pods: 4 } };

  it('delay the pods that have no room: 2 pods have 2 free places, the next 4 need a node, and so do 2 more', () => {
    const fleet = fleetOf(2, START);
    fleet.scaleTo(10, T0);

    expect(startsOf(fleet).slice(2)).toEqual([10, 10, 100, 100, 100, 100, 100, 100]);
  });

  it('are kept for 10 minutes without pods', () => {
    const startAgainAfter = (seconds: number): number => {
      const fleet = fleetOf(8, START);
      fleet.scaleTo(4, T0);
      fleet.scaleTo(5, at(seconds));
      return (startsOf(fleet).at(-1) ?? 0) - seconds;
    };

    expect([startAgainAfter(599), startAgainAfter(600)]).toEqual([10, 100]);
  });

  it('start each time with a pod of the same number: a start of 0 s has no spread', () => {
    const fleet = fleetOf(1, podStartOf(0));
    fleet.scaleTo(3, T0);

    expect([fleet.readyCount(), fleet.nextReadyAt()]).toEqual([3, null]);
  });
});
