import { describe, expect, it } from '@jest/globals';
import { parseAllDocuments, parseDocument } from 'yaml';
import { findKeyProblems } from '../../../src/scaler/yaml/yaml-limits.js';

function keys(count: number): string {
  return Array.from({ length: count }, (_, index) => `k${index}: 1\n`).join('');
}

describe('findKeyProblems', () => {
  it('accepts 1,000 keys in one object and rejects 1,001', () => {
    const options = { uniqueKeys: false };

    expect(findKeyProblems(parseDocument(keys(1000), options))).toEqual([]);
    expect(findKeyProblems(parseDocument(keys(1001), options))).toMatchObject([
      { kind: 'too-many', offset: 0 },
    ]);
  });

  it('finds each duplicate key, only within its own object', () => {
    const [document] = parseAllDocuments('a: { b: 1, c: 2, b: 3 }\nb: 4\na: 5\n', { uniqueKeys: false });

    const problems = document === undefined ? [] : findKeyProblems(document);

    expect(problems.map(({ kind, offset }) => [kind, offset])).toEqual([
      ['duplicate', 29],
      ['duplicate', 17],
    ]);
  });
});
