import { describe, expect, it } from '@jest/globals';
import type { PrometheusFigures } from './measure.js';
import { tableOf } from './write-section.js';

const NO_COST = { queries: 0, failedQueries: 0, engineSeconds: 0, queueSeconds: 0, appendedSamples: 3000 };

const FIGURES: PrometheusFigures = {
  size: { scalers: 100, pods: 10 },
  roundCount: 2,
  load: 1,
  alone: { cost: { ...NO_COST, seconds: 60, cpuSeconds: 2 }, residentBytes: 2e8 },
  start: {
    firstSeconds: 1,
    lastSeconds: 2,
    cpuSeconds: 1,
    peakBytes: 1,
    lists: 1,
    queryErrors: 6,
    bytes: 1,
  },
  // One second more than two rounds of 15 s.
  rounds: {
    cost: {
      seconds: 31,
      cpuSeconds: 3.1,
      queries: 62,
      failedQueries: 0,
      engineSeconds: 6.2,
      queueSeconds: 0.31,
      appendedSamples: 31_000,
    },
    residentBytes: 3e8,
  },
  series: 4600,
  service: {
    queries: 62,
    cpuSeconds: 1,
    pace: {
      cpuSeconds: 9,
      residentBytes: 15e7,
      heapBytes: 1,
      externalBytes: 1,
      roundSeconds: [1, 3],
      latenessSeconds: [0, 0],
      cycles: 200,
      loopDelay: null,
      garbageSeconds: 0,
    },
  },
  kinds: [
    { kind: 'own', queries: 50, engineSeconds: 1.5 },
    { kind: 'shared', queries: 2, engineSeconds: 0.5 },
  ],
  faults: [],
};

describe('the table of a real Prometheus', () => {
  const lines = tableOf(FIGURES);

  it('has costs per 15 s of the time that was measured', () => {
    expect(lines).toContain('| samples appended per second | 50 | 1,000 |');
    expect(lines).toContain('| CPU of Prometheus per 15 s | 0.50 s | 1.50 s |');
    // 1 s more for 30 queries in 15 s.
    expect(lines).toContain('| ... for a query, without the scrapes |  | 33 ms |');
    expect(lines).toContain('| RSS of Prometheus, the highest reading | 200 MB | 300 MB |');
  });

  it('has queries that failed at the start, which make no run invalid', () => {
    expect(lines).toContain('| queries that failed until then |  | 6 |');
  });

  it('has queries per round and their time', () => {
    expect(lines).toContain('| queries per round, as Prometheus counts |  | 31 |');
    expect(lines).toContain('| time in the query engine per query |  | 100 ms |');
    expect(lines).toContain('| time in the queue of the query engine per query |  | 5.00 ms |');
    expect(lines).toContain('| Pods query of a namespace, with `$pods` | 50 | 30 ms | 75 % |');
  });

  it('names the faults of a run that is not valid', () => {
    expect(lines.join('\n')).not.toContain('not valid');
    expect(tableOf({ ...FIGURES, faults: ['3 missed rounds'] }).slice(-3)).toEqual([
      'This run is not valid:',
      '',
      '- 3 missed rounds',
    ]);
  });
});
