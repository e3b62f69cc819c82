import { describe, expect, it } from '@jest/globals';
import { type ReadOptions, readDocuments, readScalers } from '../../src/scaler/read/read-scalers.js';
import { MAX_DOCUMENTS, readYaml } from '../../src/scaler/yaml/read-yaml.js';
import { shortScalerYaml } from '../support/scaler-yaml.js';

function documentText(name: string, spec = ''): string {
  return `${shortScalerYaml(name, 10, spec)}---\n`;
}

/** Options with which reading the document `name` throws, as a bug would. */
function failingFor(name: string): ReadOptions {
  let reads = 0;
  return {
    get service(): never {
      reads += 1;
      throw new RangeError(`Maximum call stack size exceeded by ${name} at ${reads}`);
    },
  };
}

describe('an exception while a document is read', () => {
  it('becomes a problem of that document, which keeps its name', () => {
    const [document] = readDocuments(documentText('web'), 'a.yaml', failingFor('web'));

    expect(document).toMatchObject({ key: 'shop/web', scaler: null, file: 'a.yaml' });
    expect(document?.problems).toMatchObject([{ code: 'internal-error', severity: 'error', file: 'a.yaml' }]);
    expect(document?.problems[0]?.message).toBe(
      'reading failed (RangeError: Maximum call stack size exceeded by web at 1): this is a bug in promscaler, please report it with the document',
    );
  });

  it('does not affect the other documents', () => {
    let reads = 0;
    const options = {
      get now(): undefined {
        reads += 1;
        if (reads === 2) throw new TypeError('x is not a function');
        return undefined;
      },
    } as unknown as ReadOptions;

    const { scalers, problems } = readScalers(
      ['a', 'b', 'c'].map((name) => documentText(name)).join(''),
      'f',
      options,
    );

    expect(scalers.map(({ name }) => name)).toEqual(['a', 'c']);
    expect(problems.map(({ code }) => code)).toEqual(['internal-error']);
  });
});

describe('a document with many problems', () => {
  it('lists 100 of more than 100 problems, and all of exactly 100', () => {
    const fields = (count: number): string =>
      Array.from({ length: count }, (_, index) => `, f${index}: 1`).join('');

    const exact = readScalers(documentText('a', fields(100)), 'f').problems;
    const more = readScalers(documentText('a', fields(101)), 'f').problems;

    expect(exact.map(({ code }) => code)).toEqual(Array.from({ length: 100 }, () => 'unknown-field'));
    expect(more).toHaveLength(101);
    expect(more.filter(({ code }) => code === 'too-many-problems')).toHaveLength(1);
  });

  it('truncates a long name, and lines of more than 10,000 characters', () => {
    const { problems } = readScalers(documentText('a', `, ${'x'.repeat(20_000)}: 1`), 'f');

    expect(problems).toMatchObject([{ code: 'unknown-field', sourceLine: null, place: { line: 4 } }]);
    expect(problems[0]?.message.length).toBeLessThanOrEqual(1003);
    expect(problems[0]?.path.length).toBeLessThanOrEqual(503);
  });

  it('can have at most 100 metrics', () => {
    const metrics = (count: number): string =>
      `, metrics: [${Array.from({ length: count }, (_, index) => `{ external: { query: q${index}, target: { value: 1 } } }`).join(', ')}]`;

    expect(readScalers(documentText('a', metrics(100)), 'f').problems).toEqual([]);
    expect(readScalers(documentText('a', metrics(101)), 'f').problems).toMatchObject([
      { code: 'out-of-range', message: 'spec.metrics has 101 entries, must have at most 100' },
    ]);
  });

  it('lists three invalid cron expressions: each takes up to 40 ms', () => {
    const schedules = Array.from(
      { length: 10 },
      (_, index) => `{ name: s${index}, start: 0 0 30 2 *, end: 0 1 * * *, minReplicas: 1 }`,
    );

    const { problems } = readScalers(documentText('a', `, schedules: [${schedules.join(', ')}]`), 'f');

    expect(problems.map(({ code }) => code)).toEqual(['cron', 'cron', 'cron']);
  });
});

it('only the first 20,000 documents of a file are read', () => {
  const documents = readYaml('--- a\n'.repeat(MAX_DOCUMENTS + 2), 'f');

  expect(documents).toHaveLength(MAX_DOCUMENTS + 1);
  expect(documents.at(-1)?.problems).toMatchObject([
    { code: 'yaml-count', place: { line: MAX_DOCUMENTS + 1, column: 1 } },
  ]);
});
