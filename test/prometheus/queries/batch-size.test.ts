import { describe, expect, it } from '@jest/globals';
import { type BatchSize, createBatchSize } from '../../../src/prometheus/queries/batch-size.js';

const LIMIT = 16;

/** One round: seconds of the answers by count; null: no answer in time. */
type Round = Readonly<Record<number, number | null>>;

function run(size: BatchSize, ...rounds: readonly Round[]): BatchSize {
  for (const round of rounds) {
    for (const [count, seconds] of Object.entries(round))
      size.learn(Number(count), { seconds: seconds ?? LIMIT, limit: LIMIT, isLate: seconds === null });
    size.beginRound();
  }
  return size;
}

const after = (...rounds: readonly Round[]): number => run(createBatchSize(), ...rounds).most();

describe('the number of workloads in a query', () => {
  it('is at most 100, and stays so however slow an answer is', () => {
    expect(after()).toBe(100);
    expect(after({ 100: 0 }, { 100: 15.9 }, { 100: 15.9 })).toBe(100);
  });

  it('stays after rounds without any answer', () => {
    expect(after({ 100: null })).toBe(100);
    expect(after({ 100: null }, { 50: null }, { 25: null }, { 12: null })).toBe(100);
  });

  it('is lowered if the halves are answered and larger queries are not, to what half of the time limit allows', () => {
    expect(after({ 100: null }, { 50: 10, 100: null })).toBe(50);
    expect(after({ 100: null }, { 50: 5, 100: null })).toBe(80);
    expect(after({ 100: null }, { 50: 1, 100: null })).toBe(99);
  });

  it('stays if larger queries are answered as well, or if another query of the same size is', () => {
    expect(after({ 100: null }, { 50: 10, 100: 12 })).toBe(100);
    expect(after({ 100: 3, 50: null })).toBe(100);
  });

  it('rises to what half of the time limit allows, in one round', () => {
    const lowered = [{ 100: null }, { 50: null }, { 25: 10, 75: null }] as const;
    expect(after(...lowered)).toBe(25);
    expect(after(...lowered, { 25: 8.1 })).toBe(25);
    expect(after(...lowered, { 25: 4 })).toBe(50);
    expect(after(...lowered, { 25: 1 })).toBe(100);
  });

  it('rises by the fixed cost and the cost of each workload, once two sizes are known', () => {
    const lowered = [{ 100: null }, { 50: null }, { 25: 10, 75: null }] as const;
    const known = { 25: 6, 5: 5.6 };
    expect(after(...lowered, known)).toBe(33);
    expect(after(...lowered, known, known, known)).toBe(76);
    expect(after(...lowered, known, known, known, known, known)).toBe(100);
    expect(after(...lowered, { 25: 6, 5: 9 })).toBe(33);
  });

  it('stays below a number that was rejected, for 20 rounds', () => {
    const size = createBatchSize();
    size.lower(51);
    expect(size.most()).toBe(25);

    run(size, ...Array.from({ length: 19 }, () => ({ 25: 0.1 })));
    expect(size.most()).toBe(25);
    run(size, { 25: 0.1 });
    expect(size.most()).toBe(50);
    run(size, ...Array.from({ length: 20 }, () => ({ 50: 0.1 })));
    expect(size.most()).toBe(100);
    size.lower(1);
    expect(size.most()).toBe(1);
  });

  it('obeys a time limit of the engine that is shorter', () => {
    const size = createBatchSize();
    size.learn(100, { seconds: 2, limit: LIMIT, isLate: true });
    size.beginRound();
    size.learn(50, { seconds: 1.5, limit: LIMIT, isLate: false });
    size.beginRound();

    expect(size.most()).toBe(50);
  });
});
