import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { RECORD_FORMAT } from '../../../src/recording/record-line.js';
import { type Judged, judge } from './judge.js';
import { documents, SUBJECTS } from './plan.js';
import { countWrong, sectionOf } from './section.js';

const START_MS = Date.UTC(2026, 0, 1);
const CELL = { name: 'all scrapes fail', replicas: 8, startMs: START_MS, endMs: START_MS + 10_000 };
const DOCUMENTS = parseAllDocuments(documents('scrape')).map((document) => document.toJS() as unknown);

interface Round {
  readonly seconds: number;
  /** Of the query, whose target is 10 for each of 8 replicas. */
  readonly value: number;
  readonly partial?: string;
}

function lineOf(name: string, { seconds, value, partial }: Round): string {
  const at = new Date(START_MS + seconds * 1000).toISOString();
  const snapshot = {
    scaler: DOCUMENTS[SUBJECTS.findIndex((subject) => subject.name === name)],
    now: at,
    target: { specReplicas: 8, statusReplicas: 8 },
    pods: [],
    samples: [{ at, values: [value], ...(partial === undefined ? {} : { partial }) }],
    state: { recommendations: [{ at: new Date(START_MS - 10_000).toISOString(), replicas: 8 }] },
  };
  return JSON.stringify({
    format: RECORD_FORMAT,
    promscaler: '0.1.0',
    scaler: `shop/${name}`,
    at,
    decision: {},
    snapshot,
  });
}

const ROUNDS: readonly Round[] = [
  { seconds: -1, value: 40 },
  { seconds: 0, value: 80 },
  { seconds: 1, value: 72 },
  { seconds: 2, value: 40 },
  { seconds: 3, value: 40, partial: 'the value is based on old samples' },
  { seconds: 10, value: 40 },
];

describe('the judge of the benchmark of old data', () => {
  let folder = '';
  let judged: Judged = { faults: [], falls: [] };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'promscaler-judge-'));
    const record = join(folder, 'record.ndjson');
    const lines = ['external-0', 'external-75'].flatMap((name) => ROUNDS.map((round) => lineOf(name, round)));
    await writeFile(record, `${lines.join('\n')}\n`);
    judged = await judge(
      { faults: [CELL], falls: [{ name: 'the load halves', startMs: START_MS + 10_000, replicas: 4 }] },
      {
        record,
        scaleDowns: [
          { workload: 'object-75', atMs: START_MS + 9999, replicas: 7 },
          { workload: 'pods-0', atMs: START_MS + 1000, replicas: 8 },
          { workload: 'object-0', atMs: START_MS + 10_000, replicas: 6 },
          { workload: 'object-0', atMs: START_MS + 42_000, replicas: 4 },
        ],
      },
    );
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('counts 4 of 6 rounds, 2 of them too low, as full values: partial ones, too, but none within the tolerance', () => {
    const counts = judged.faults[0]?.counts;
    expect(counts?.get('external-0')).toEqual({ rounds: 4, low: 2, prevented: 2, wrong: 0 });
    expect(counts?.get('external-75')).toEqual({ rounds: 4, low: 2, prevented: 0, wrong: 0 });
  });

  it('counts a PATCH to 7 replicas 1 ms before the end of the cell, none at its end, and none to the 8 that the load needs', () => {
    const { faults } = judged;
    expect(faults[0]?.counts.get('object-75')?.wrong).toBe(1);
    expect(faults[0]?.counts.get('object-0')?.wrong).toBe(0);
    expect(faults[0]?.counts.get('pods-0')?.wrong).toBe(0);
    const lanes = [{ path: 'scrape', judged }] as const;
    expect(countWrong([{ engine: 'prometheus', version: '3.5', lanes }])).toBe(1);
  });

  it('writes a row for each stabilization, in seconds of a cluster, with the times of the first and the last PATCH of a fall', () => {
    const lanes = [{ path: 'scrape', judged }] as const;
    const section = sectionOf([{ engine: 'prometheus', version: '3.5', lanes }], 'a machine');
    expect(section).toContain(
      '| scraped | all scrapes fail | 0 s | 0 / 0 / 0 / 0 | 0 / 0 / 0 / 0 | 0 / 0 / 0 / 0 | 0 / 2 / 2 / 4 |',
    );
    expect(section).toContain(
      '| scraped | all scrapes fail | 300 s | 0 / 0 / 0 / 0 | 0 / 0 / 0 / 0 | 1 / 0 / 0 / 0 | 0 / 0 / 2 / 4 |',
    );
    expect(section).toContain('| scraped | the load halves | 0 s | -, - | -, - | 0 s, 32 s | -, - |');
  });
});
