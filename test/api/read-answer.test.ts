import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { AnswerError, readAnswer } from '../../src/api/read-answer.js';
import { textIn } from '../../src/kubernetes/api/json.js';

const SCHEMA = z.object({
  version: z.string(),
  count: z.int().min(0),
  kind: z.enum(['none', 'patched']),
  until: z.string().nullable(),
  items: z.array(z.object({ name: z.string(), value: z.number().nullable() })),
  byPod: z.record(z.string(), z.object({ reason: z.string().nullable() })),
  unreachable: z.array(z.string()).optional(),
});

const ANSWER = {
  version: '1.0.0',
  count: 2,
  kind: 'none',
  until: null,
  items: [{ name: 'web', value: 0.5 }],
  byPod: { 'web-1': { reason: 'unready' } },
};

function read(change: object): unknown {
  return readAnswer(SCHEMA, { ...ANSWER, ...change }, '/page');
}

describe('readAnswer', () => {
  it('returns objects that functions for unchecked JSON do not take', () => {
    const answer = readAnswer(SCHEMA, ANSWER, '/page');

    // @ts-expect-error -- the compiler holds that nobody decodes an answer by hand
    expect(textIn(answer, 'version')).toBe(answer.version);
    // @ts-expect-error -- the same for an object within an answer
    expect(textIn(answer.items[0] ?? null, 'name')).toBe('web');
  });

  it('returns the members in the order of the answer', () => {
    const text = JSON.stringify({ ...ANSWER, unreachable: ['b'] });

    expect(JSON.stringify(readAnswer(SCHEMA, JSON.parse(text), '/page'))).toBe(text);
  });

  it.each([
    ['an unknown member', { tide: 4 }, { tide: 4 }],
    [
      'an unknown member of an item',
      { items: [{ name: 'web', value: 1, tide: 4 }] },
      { items: [{ name: 'web', value: 1, tide: 4 }] },
    ],
    ['an unknown name', { kind: 'postponed' }, { kind: 'postponed' }],
    ['no member that may be null', { until: undefined }, { until: null }],
    ['no value in an item', { items: [{ name: 'web' }] }, { items: [{ name: 'web', value: null }] }],
    ['no value by a key', { byPod: { 'web-1': {} } }, { byPod: { 'web-1': { reason: null } } }],
    ['no list', { items: undefined }, { items: [] }],
  ])('accepts from another version %s', (_, change, expected) => {
    expect(read(change)).toEqual({ ...ANSWER, ...expected });
  });

  it.each([
    ['no text', { version: undefined }, 'version: expected string, received undefined'],
    ['no number', { count: undefined }, 'count: expected number, received undefined'],
    ['a negative count', { count: -1 }, /^count: .*>=0/],
    ['null for a name', { kind: null }, 'kind: expected string, received null'],
    ['an object for a list', { items: {} }, 'items: expected array, received object'],
    ['null in a list', { items: [null] }, 'items[0]: expected object, received null'],
    ['an item without name', { items: [{ value: 1 }] }, 'items[0].name: expected string, received undefined'],
    ['a text for a value', { items: [{ name: 'web', value: '1' }] }, /^items\[0\]\.value: expected number/],
    ['a list for an object', { byPod: [] }, 'byPod: expected object, received array'],
  ])('rejects %s', (_, change, message) => {
    expect(() => read(change)).toThrow(AnswerError);
    expect(() => read(change)).toThrow(message);
  });

  it('reports the page and the version of the service', () => {
    const error = { page: '/page', version: '1.0.0', message: 'count: expected number, received string' };

    expect(() => read({ count: 'many' })).toThrow(expect.objectContaining(error));
    expect(() => readAnswer(SCHEMA, [], '/page')).toThrow(
      expect.objectContaining({ version: null, message: 'the answer: expected object, received array' }),
    );
  });

  it('reads no member of the prototype', () => {
    const schema = z.object({ constructor: z.string().nullable() });

    expect(readAnswer(schema, JSON.parse('{"__proto__":{"constructor":"x"}}'), '/page')).toHaveProperty(
      'constructor',
      null,
    );
  });
});
