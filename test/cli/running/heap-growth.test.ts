import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { heapGrowthPercent } from '../../../src/cli/running/heap-growth.js';

test.each([
  [0, 40],
  [1000, 40],
  [2000, 40],
  [2050, 41],
  [5000, 100],
  [10_000, 100],
])('with %i scalers, the heap may grow by %i percent', (scalers, percent) => {
  expect(heapGrowthPercent(scalers)).toBe(percent);
});

test('100 percent needs fewer full collections than the 10 that V8 allows to a process mostly idle', () => {
  const grown = fullCollections(heapGrowthPercent(10_000));
  expect(grown).toBeGreaterThan(0);
  expect(grown).toBeLessThan(fullCollections(10) / 2);
});

/** Of a process that keeps 50 MB and replaces them bit by bit. */
function fullCollections(percent: number): number {
  const program = `
    require('node:v8').setFlagsFromString('--heap-growing-percent=${percent}');
    const kept = Array.from({ length: 50_000 }, () => new Array(120).fill(0.5));
    for (let i = 0; i < 600_000; i += 1) kept[(i * 7919) % kept.length] = new Array(120).fill(0.5);`;
  const flags = ['--trace-gc', '--max-semi-space-size=8', '--max-old-space-size=300'];
  const trace = execFileSync(process.execPath, [...flags, '-e', program]);
  return trace.toString().match(/Mark-Compact/g)?.length ?? 0;
}
