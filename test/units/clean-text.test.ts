import { describe, expect, it } from '@jest/globals';
import { cleanText, escapeText } from '../../src/units/clean-text.js';

describe('cleanText', () => {
  it.each([
    ['an escape sequence', 'a\u001b[31mb', 'a\ufffd[31mb'],
    ['a carriage return', 'a\rb', 'a\ufffdb'],
    ['C1 from U+0080 to U+009F', 'a\u0080b\u009bc\u009fd', 'a\ufffdb\ufffdc\ufffdd'],
    ['bidi overrides and isolates', 'a\u202ab\u202ec\u2066d\u2069e', 'a\ufffdb\ufffdc\ufffdd\ufffde'],
    ['bidi marks', 'a\u200eb\u200fc\u061cd', 'a\ufffdb\ufffdc\ufffdd'],
    ['zero-width spaces', 'a\u200bb\u2060c\ufeffd\u00ade', 'a\ufffdb\ufffdc\ufffdd\ufffde'],
    ['line separators', 'a\u2028b\u2029c', 'a\ufffdb\ufffdc'],
    ['tags', 'a\u{e0041}b', 'a\ufffdb'],
    ['half of a surrogate pair', 'a\ud800b', 'a\ufffdb'],
  ])('replaces %s', (_, text, cleaned) => {
    expect(cleanText(text)).toBe(cleaned);
  });

  it.each([
    'naïve Größe 検索 поиск خدمة שירות',
    'a\tb\nc',
    '👩\u200d💻 ❤️',
    'می\u200cخواهم',
    'U+00A0 is\u00a0visible as a space; U+00A1 ¡',
  ])('keeps %s', (text) => {
    expect(cleanText(text)).toBe(text);
  });
});

describe('escapeText', () => {
  it('keeps the meaning of JSON', () => {
    const value = { text: 'a\u202eb\u009bc\u{e0041}d\ud800' };

    const escaped = escapeText(JSON.stringify(value));

    expect(escaped).toBe('{"text":"a\\u202eb\\u009bc\\udb40\\udc41d\\ud800"}');
    expect(JSON.parse(escaped)).toEqual(value);
  });
});
