import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Lexer } from 'yaml';
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

/** Texts of YAML's indicators, nested deeply by chance. */
const TEXT = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '- ',
        '? ',
        '-',
        '?',
        '[',
        '{',
        ']',
        '}',
        ', ',
        'a: ',
        'b',
        "'",
        '"',
        '|',
        '>-',
        '#',
        '&c ',
        '!t ',
      ),
      fc.constantFrom(
        '\n',
        '\r\n',
        '---\n',
        '...\n',
        '\t',
        '\ufeff',
        '\u00a0',
        '%d\n',
        '*c',
        '0',
        'x-y',
        'a?b',
      ),
      fc.integer({ min: 0, max: 30 }).map((width) => `\n${' '.repeat(width)}`),
      fc.integer({ min: 1, max: 40 }).map((count) => '- '.repeat(count)),
      fc.integer({ min: 1, max: 40 }).map((count) => '['.repeat(count)),
    ),
    { maxLength: 80 },
  )
  .map((parts) => parts.join(''));

/** With it, no text is short enough to be accepted without being split into tokens. */
const COMMENT = `\n#${'x'.repeat(10_000)}`;

describe('a short and flat text', () => {
  it('is accepted only if its tokens are within the limits, too', () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        expect(findYamlLimit(text)?.code).toBe(findYamlLimit(text + COMMENT)?.code);
      }),
      { numRuns: 2000 },
    );
  });

  it('has at most two tokens for each character', () => {
    fc.assert(
      fc.property(TEXT, (text) => {
        const tokens = [...new Lexer().lex(text)].filter(
          (token) => !['\x02', '\x1f', '\x18'].includes(token),
        );
        expect(tokens.length).toBeLessThanOrEqual(2 * text.length);
      }),
      { numRuns: 2000 },
    );
  });

  it('has at most 64 levels: brackets, list items and the widest indentation are added up', () => {
    const nested = (levels: number): string =>
      Array.from({ length: levels }, (_, level) => `${' '.repeat(level)}a:\n`).join('');

    expect(findYamlLimit(nested(64))).toBeNull();
    expect(findYamlLimit(nested(65))).toMatchObject({ code: 'too-deep' });
    expect(findYamlLimit('- '.repeat(63) + 'a')).toBeNull();
    expect(findYamlLimit('- '.repeat(64) + 'a')).toMatchObject({ code: 'too-deep' });
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
