import { describe, expect, it } from '@jest/globals';
import { JsonBoundsError, createJsonMeter, parseJsonWithin } from '../../src/units/json-bounds.js';

const BOUNDS = { depth: 3, items: 5 };

describe('createJsonMeter', () => {
  it.each([
    ['3 levels', '[[[1]]]', null],
    ['4 levels', '[[[{}]]]', 'more than 3 levels of arrays and objects'],
    ['4 levels of objects', '{"a":{"b":{"c":{}}}}', 'more than 3 levels of arrays and objects'],
    ['3 levels again and again', '[[[]],[]]', null],
    ['5 items', '[1,2,3,4,5]', null],
    ['6 items', '[1,2,3,4,5,6]', 'more than 5 array elements and object members'],
    ['empty objects', '[{},{},{},{}]', 'more than 5 array elements and object members'],
    ['brackets and commas within a string', '["[[[[,,,,,,{{{{"]', null],
    ['an escaped quote', '["a\\"[[[[[["]', null],
    ['an escaped backslash', '["a\\\\",[[[]]]]', 'more than 3 levels of arrays and objects'],
    ['an unterminated string', '"[[[[[[[[', null],
    ['more ends than beginnings', ']]]]]]]]', null],
    ['nothing', '', null],
  ])('measures %s', (_what, text, excess) => {
    const bytes = new TextEncoder().encode(text);
    const whole = createJsonMeter(BOUNDS).add(bytes);
    const meter = createJsonMeter(BOUNDS);
    const byBytes = Array.from(bytes, (byte) => meter.add(Uint8Array.of(byte))).find(
      (found) => found !== null,
    );

    expect(whole).toBe(excess);
    expect(byBytes ?? null).toBe(excess);
  });
});

describe('parseJsonWithin', () => {
  it('parses JSON within the bounds, and throws for JSON beyond them and for other input', () => {
    expect(parseJsonWithin('{"a":"\u00e4"}', BOUNDS)).toEqual({ a: '\u00e4' });
    expect(parseJsonWithin(new TextEncoder().encode('[1]'), BOUNDS)).toEqual([1]);
    expect(() => parseJsonWithin('[[[[]]]]', BOUNDS)).toThrow(JsonBoundsError);
    expect(() => parseJsonWithin('[', BOUNDS)).toThrow(SyntaxError);
  });
});
