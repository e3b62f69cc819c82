import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { CONDITION_REASONS } from '../../src/decision/result/condition.js';
import { REASONS } from '../../src/document-tests/check-expectations.js';

const textOf = (directory: string, ending: string): string =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && name !== 'result/condition.ts')
    .map((name) => readFileSync(`${directory}/${name}`, 'utf8'))
    .join('\n');
const vectors = textOf('test/vectors', '.json');
const sources = textOf('src/decision', '.ts');
const cycles = sources + textOf('src/control', '.ts') + textOf('src/telemetry', '.ts');

describe('the reasons', () => {
  it.each(Object.entries(CONDITION_REASONS))('of %s are all given by the code', (_type, reasons) => {
    expect(Object.keys(reasons).filter((reason) => !cycles.includes(`'${reason}'`))).toEqual([]);
  });

  it.each([...REASONS])('of %s in a decision are in the pure code and in a vector', (_type, reasons) => {
    expect(reasons.filter((reason) => !sources.includes(`'${reason}'`))).toEqual([]);
    expect(reasons.filter((reason) => !vectors.includes(`"${reason}"`))).toEqual([]);
  });

  it('contain every reason that a vector expects', () => {
    const known = [...REASONS.values()].flat();
    const expected = [...vectors.matchAll(/"reason": ?"([A-Z][A-Za-z]+)"/g)].map(([, reason]) => reason);

    expect(expected.length).toBeGreaterThan(50);
    expect(expected.filter((reason) => reason !== undefined && !known.includes(reason))).toEqual([]);
  });
});
