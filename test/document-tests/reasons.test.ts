import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { REASONS } from '../../src/document-tests/check-expectations.js';

const page = readFileSync('docs/reference/conditions.md', 'utf8');
const vectors = readdirSync('test/vectors')
  .filter((name) => name.endsWith('.json'))
  .map((name) => readFileSync(`test/vectors/${name}`, 'utf8'))
  .join('\n');
const source = ['conditions', 'short-cuts', 'decide']
  .map((name) => readFileSync(`src/decision/${name}.ts`, 'utf8'))
  .join('\n');

describe('REASONS', () => {
  it.each([...REASONS])('of %s are documented, decided by the code, and in a vector', (type, reasons) => {
    const [, section = ''] = page.split(`## ${type}\n`);
    const [own = ''] = section.split('\n## ');

    for (const reason of reasons) {
      expect(own).toContain(`| \`${reason}\` |`);
      expect(source).toContain(`'${reason}'`);
    }
  });

  it('contain every reason that a vector expects', () => {
    const known = [...REASONS.values()].flat();
    const expected = [...vectors.matchAll(/"reason": ?"([A-Z][A-Za-z]+)"/g)].map(([, reason]) => reason);

    expect(expected.length).toBeGreaterThan(50);
    expect(expected.filter((reason) => reason !== undefined && !known.includes(reason))).toEqual([]);
  });
});
