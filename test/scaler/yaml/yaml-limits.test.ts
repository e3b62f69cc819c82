import { describe, expect, it } from '@jest/globals';
import { readYaml } from '../../../src/scaler/yaml/read-yaml.js';
import { findYamlLimit } from '../../../src/scaler/yaml/yaml-limits.js';

/** Each line is five tokens: the key, the colon, a blank, the value and the end of the line. */
function keys(count: number): string {
  return Array.from({ length: count }, (_, index) => `k${index}: 1\n`).join('');
}

describe('findYamlLimit', () => {
  it('accepts 20,000 tokens in a document, and returns the position of the next one', () => {
    expect(findYamlLimit(keys(4000))).toBeNull();
    expect(findYamlLimit(`${keys(4000)}a`)).toMatchObject({
      code: 'yaml-size',
      message: expect.stringContaining('more than 20000 tokens'),
      offset: keys(4000).length,
    });
  });

  it('counts the tokens of each document separately', () => {
    const most = keys(3999);

    expect(findYamlLimit(`${most}---\n${most}...\n${most}`)).toBeNull();
  });

  it('counts three dashes within a line as a token of the same document', () => {
    expect(findYamlLimit('- ---\n'.repeat(5001))).toMatchObject({ code: 'yaml-size' });
  });

  it('does not add up unclosed brackets of 65 documents', () => {
    expect(findYamlLimit('--- [\n'.repeat(65))).toBeNull();
    expect(findYamlLimit('['.repeat(65))).toMatchObject({ code: 'too-deep', offset: 64 });
  });
});

it('a file of 60,000 keys is rejected with one problem', () => {
  const [document, ...others] = readYaml(keys(60_000), 'wide.yaml');

  expect(others).toEqual([]);
  expect(document?.value).toBeUndefined();
  expect(document?.problems).toMatchObject([
    { code: 'yaml-size', file: 'wide.yaml', place: { line: 4001, column: 1 } },
  ]);
});
