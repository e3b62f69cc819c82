import { availableParallelism } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { readMachineLimits, threadsFor } from '../../../src/cli/backtest/run-jobs-in-workers.js';

const MIB = 1024 * 1024;
const of =
  (files: Readonly<Record<string, string>>): ((path: string) => string | null) =>
  (path) =>
    files[path.replace('/sys/fs/cgroup/', '')] ?? null;

describe('the limits of the machine', () => {
  it.each<readonly [string, Readonly<Record<string, string>>, number]>([
    [
      'version 2 of cgroups',
      { 'memory.max': `${100 * MIB}\n`, 'memory.current': `${60 * MIB}\n`, 'memory.stat': 'anon 5\n' },
      40 * MIB,
    ],
    [
      'version 2, without the pages of files',
      {
        'memory.max': `${100 * MIB}`,
        'memory.current': `${60 * MIB}`,
        'memory.stat': `anon 5\ninactive_file ${30 * MIB}\nslab 1`,
      },
      70 * MIB,
    ],
    [
      'version 1',
      {
        'memory/memory.limit_in_bytes': `${100 * MIB}`,
        'memory/memory.usage_in_bytes': `${90 * MIB}`,
        'memory/memory.stat': `total_inactive_file ${5 * MIB}`,
      },
      15 * MIB,
    ],
    ['a limit that is exceeded', { 'memory.max': '100', 'memory.current': '200' }, 0],
  ])('are those of %s', (_, files, expected) => {
    expect(readMachineLimits(of(files)).availableBytes).toBe(expected);
  });

  it('are the memory and the processors of the machine without a limit', () => {
    const limits = readMachineLimits(of({ 'memory.max': 'max\n', 'cpu.max': 'max 100000\n' }));

    expect(limits.processors).toBe(availableParallelism());
    expect(limits.availableBytes).toBeGreaterThan(0);
    expect(readMachineLimits(of({})).processors).toBe(availableParallelism());
  });

  it('have at most the processors of the quota, rounded up', () => {
    const processorsOf = (quota: string): number => readMachineLimits(of({ 'cpu.max': quota })).processors;

    expect([processorsOf('100000 100000'), processorsOf('50000 100000\n')]).toEqual([1, 1]);
    expect(processorsOf('150000 100000')).toBe(Math.min(2, availableParallelism()));
  });
});

describe('the number of worker threads', () => {
  // Of 800 MiB, 600 MiB are for threads of 100 MiB each, without a history.
  it.each([
    [64, 800, 0, 6],
    [64, 799, 0, 5],
    [4, 800, 0, 4],
    [64, 1, 0, 1],
    // 64 bytes for each of 1.6 Mi points are another 100 MiB.
    [64, 800, 1.5625 * MIB, 3],
  ])('with %d processors, %d MiB and %d points is %d', (processors, mebibytes, points, expected) => {
    expect(threadsFor({ processors, availableBytes: mebibytes * MIB }, points)).toBe(expected);
  });
});
