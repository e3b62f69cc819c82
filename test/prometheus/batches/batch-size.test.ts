import { describe, expect, it } from '@jest/globals';
import { createBatchSize } from '../../../src/prometheus/batches/batch-size.js';

const LIMIT = 16;
const SLOW = { seconds: 4.001, limit: LIMIT };
const FAST = { seconds: 0.999, limit: LIMIT };

function after(...answers: readonly (readonly [count: number, seconds: number])[]): number {
  const size = createBatchSize();
  for (const [count, seconds] of answers) size.learn(count, { seconds, limit: LIMIT });
  return size.most();
}

describe('the number of workloads in a query', () => {
  it('is at most 100', () => {
    expect(after()).toBe(100);
    expect(after(...Array.from({ length: 100 }, () => [100, 0] as const))).toBe(100);
  });

  it('is halved by an answer that took more than a quarter of its time limit', () => {
    expect(after([100, 4])).toBe(100);
    expect(after([100, 4.001])).toBe(50);
    expect(after([30, 16])).toBe(15);
    expect(after([30, 16], [100, 16])).toBe(15);
    expect(after([1, 16])).toBe(1);
  });

  it('is doubled after 20 consecutive answers that each took less than a sixteenth', () => {
    const size = createBatchSize();
    const learn = (times: number, answer: typeof SLOW): number => {
      for (let index = 0; index < times; index += 1) size.learn(10, answer);
      return size.most();
    };
    learn(1, SLOW);

    expect(learn(19, FAST)).toBe(5);
    expect(learn(1, { seconds: 1, limit: LIMIT })).toBe(5);
    expect(learn(19, FAST)).toBe(5);
    expect(learn(1, FAST)).toBe(10);
    expect(learn(19, FAST)).toBe(10);
    expect(learn(1, FAST)).toBe(20);
  });

  it('stays below a number that was rejected', () => {
    const size = createBatchSize();

    size.lower(51);
    expect(size.most()).toBe(25);
    for (let index = 0; index < 100; index += 1) size.learn(25, FAST);
    expect(size.most()).toBe(25);
    size.lower(1);
    expect(size.most()).toBe(1);
  });
});
