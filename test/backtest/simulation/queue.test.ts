import { describe, expect, it } from '@jest/globals';
import { createLoad, type Load } from '../../../src/backtest/simulation/load.js';
import { createQueue, type Queue, type QueueLog } from '../../../src/backtest/simulation/queue.js';
import { addSeconds } from '../../../src/units/time.js';
import { T0 } from '../../support/builders.js';
import { createRandom } from '../../faults/simulation/random.js';

/** Each value applies for so many seconds. */
function loadOf(parts: readonly (readonly [seconds: number, value: number])[]): Load {
  let time: number = T0;
  const times = parts.map(([seconds]) => {
    const start = time;
    time += seconds * 1000;
    return start;
  });
  const end = addSeconds(T0, (time - T0) / 1000);
  return createLoad(
    Float64Array.from(times),
    Float64Array.from(parts, ([, value]) => value),
    end,
  );
}

const UNBOUNDED = { mostDepth: Infinity, timeoutSeconds: Infinity };

/** A pod serves 10 per second. */
function queueOf(
  load: Load,
  settings: Partial<typeof UNBOUNDED> = {},
  ready: readonly number[] = [1],
): Queue {
  const queue = createQueue(
    { load, capacity: 10, ...UNBOUNDED, ...settings },
    { start: load.start, end: load.end, keptSeconds: 3600 },
  );
  const seconds = (load.end - load.start) / 1000 / ready.length;
  ready.forEach((count, index) => {
    const from = addSeconds(load.start, seconds * index);
    queue.advance({ from, to: addSeconds(load.start, seconds * (index + 1)), ready: count });
  });
  return queue;
}

const sum = (column: Float32Array): number => column.reduce((total, value) => total + value, 0);
const most = (column: Float32Array): number => column.reduce((one, value) => Math.max(one, value), 0);

function figures(log: QueueLog): Readonly<Record<string, number>> {
  return {
    served: sum(log.served),
    lost: sum(log.lost),
    meanWait: sum(log.waited) / sum(log.served),
    maxWait: most(log.longestWait),
    deepest: most(log.deepest),
    left: log.depth.at(-1) ?? NaN,
  };
}

/** Twice of what one pod serves for a minute, then nothing for two. */
const BURST = loadOf([
  [60, 20],
  [120, 0],
]);

describe('a queue', () => {
  it('is empty while the pods serve all: 8 of 10 per second', () => {
    expect(figures(queueOf(loadOf([[600, 8]])).log())).toEqual({
      ...{ served: 4800, lost: 0, meanWait: 0, maxWait: 0, deepest: 0, left: 0 },
    });
  });

  it('of 600 after a minute of 20 per second is served in the next minute: waits grow from 0 to 60 s', () => {
    const { served, lost, meanWait, maxWait, deepest, left } = figures(queueOf(BURST).log());

    expect([served, lost, left]).toEqual([1200, 0, 0]);
    expect(meanWait).toBeCloseTo(30, 3);
    expect(maxWait).toBeCloseTo(60, 3);
    expect(deepest).toBeCloseTo(600, 3);
  });

  it('with room for 100 loses the rest: 10 per second for 50 s', () => {
    const { served, lost, maxWait, deepest } = figures(queueOf(BURST, { mostDepth: 100 }).log());

    expect(lost).toBeCloseTo(500, 1);
    expect(served).toBeCloseTo(700, 1);
    expect(deepest).toBeCloseTo(100, 3);
    expect(maxWait).toBeCloseTo(10, 2);
  });

  it('loses what has waited for 30 s: half of what arrived from second 30 to 60', () => {
    const { served, lost, maxWait, left } = figures(queueOf(BURST, { timeoutSeconds: 30 }).log());

    // Load is dropped at the end of a period of 3 s.
    expect(lost).toBeGreaterThan(265);
    expect(lost).toBeLessThan(315);
    expect((served ?? 0) + (lost ?? 0) + (left ?? 0)).toBeCloseTo(1200, 1);
    expect(maxWait).toBeLessThanOrEqual(33);
  });

  it('grows while no pod is ready, and its oldest load ages', () => {
    const queue = queueOf(loadOf([[120, 5]]), {}, [0]);
    const at = addSeconds(T0, 120);

    expect(queue.read('depth', at, at)).toBeCloseTo(600, 6);
    expect(queue.read('wait', at, at)).toBeCloseTo(120, 6);
    expect(figures(queue.log())).toMatchObject({ served: 0, maxWait: 120, left: 600 });
  });

  it('is measured: means of what arrives and is served, and the depth at a time', () => {
    const queue = queueOf(BURST);
    const at = addSeconds(T0, 60);
    const from = addSeconds(T0, 30);

    expect(queue.read('load', from, at)).toBeCloseTo(20, 6);
    expect(queue.read('served', from, at)).toBeCloseTo(10, 6);
    expect(queue.read('lost', from, at)).toBe(0);
    expect(queue.read('depth', from, from)).toBeCloseTo(300, 6);
    expect(queue.read('ready', from, at)).toBe(1);
    expect(queue.read('load', addSeconds(T0, 50), addSeconds(T0, 70))).toBeCloseTo(10, 6);
  });

  it('has no depth while the load is unknown', () => {
    const queue = queueOf(
      loadOf([
        [60, 20],
        [60, NaN],
      ]),
    );

    expect(queue.read('depth', addSeconds(T0, 90), addSeconds(T0, 90))).toBeNull();
    expect(queue.read('depth', addSeconds(T0, 60), addSeconds(T0, 60))).toBeCloseTo(600, 6);
  });

  it('loses nothing without saying so: what arrived was served, lost or waits, in 300 random cases', () => {
    const { next: random } = createRandom(33);
    for (let number = 0; number < 300; number += 1) {
      const parts = Array.from(
        { length: 1 + Math.floor(random() * 8) },
        () => [1 + Math.floor(random() * 200), random() < 0.2 ? 0 : random() * 60] as const,
      );
      const ready = Array.from({ length: 1 + Math.floor(random() * 6) }, () => Math.floor(random() * 6));
      const settings = {
        mostDepth: random() < 0.5 ? Infinity : random() * 500,
        timeoutSeconds: random() < 0.5 ? Infinity : 1 + random() * 60,
      };
      const {
        served = NaN,
        lost = NaN,
        left = NaN,
        ...rest
      } = figures(queueOf(loadOf(parts), settings, ready).log());
      const arrived = parts.reduce((total, [seconds, value]) => total + seconds * value, 0);

      expect(Math.abs(served + lost + left - arrived)).toBeLessThan(1e-4 * (1 + arrived));
      expect(Math.min(served, lost, left)).toBeGreaterThanOrEqual(0);
      expect(rest['deepest']).toBeLessThanOrEqual(settings.mostDepth + 1e-3);
      // A step of the log ends at most a tenth of the time-out late.
      expect(rest['maxWait']).toBeLessThanOrEqual(
        Math.max(1.1 * settings.timeoutSeconds, settings.timeoutSeconds + 0.2),
      );
    }
  });
});
