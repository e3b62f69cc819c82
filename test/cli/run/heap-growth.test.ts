import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';
import { heapGrowthPercent } from '../../../src/cli/commands/heap-growth.js';
import { IMAGE_FLAGS } from '../../support/image-process.js';

const HEAP_GROWTH = pathToFileURL(resolve('dist/cli/commands/heap-growth.js')).href;

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
  expect(grown).toBeLessThanOrEqual(fullCollections(10) / 2);
});

test.each([
  [0, 16],
  [1999, 16],
  [2000, 32],
])('with %i scalers in the image, the two semi-spaces have %i MiB', (scalers, mebibytes) => {
  expect(newSpaceMebibytes(scalers, IMAGE_FLAGS)).toBe(mebibytes);
});

test('without the flags of the image, the two semi-spaces may grow to 32 MiB', () => {
  expect(newSpaceMebibytes(0, [])).toBe(32);
});

test('buffers alone start no full collection where V8 can count them with the heap', () => {
  const { v8 } = process.versions;
  const canCount = Number.parseInt(v8, 10) >= 13;

  expect(collectionsForBuffers('12.9.0')).toBeGreaterThan(0);
  expect(collectionsForBuffers(v8) === 0).toBe(canCount);
});

/** Of a process that receives 600 MB in buffers and keeps 20 MB of them at a time. */
function collectionsForBuffers(v8Version: string): number {
  const program = `
    import { countBuffersWithHeap } from '${HEAP_GROWTH}';
    countBuffersWithHeap('${v8Version}');
    const received = [];
    for (let i = 0; i < 600; i += 1) {
      received[i % 20] = Buffer.alloc(1_000_000);
      await new Promise((resolve) => setImmediate(resolve));
    }`;
  const flags = ['--trace-incremental-marking', '--input-type=module'];
  const trace = execFileSync(process.execPath, [...flags, '-e', program]).toString();
  return trace.match(/external memory pressure/g)?.length ?? 0;
}

function newSpaceMebibytes(scalers: number, nodeFlags: readonly string[]): number {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { allowHeapGrowth, keepSemiSpaces } from '${HEAP_GROWTH}';
    keepSemiSpaces(process.execArgv);
    allowHeapGrowth(${scalers});
    const kept = [];
    for (let i = 0; i < 300_000; i += 1) kept[i % 100_000] = new Array(60).fill(0.5);
    console.log(getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 2 ** 20);`;
  const flags = [...nodeFlags, '--max-semi-space-size=16', '--input-type=module'];
  return Number(execFileSync(process.execPath, [...flags, '-e', program]));
}

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
