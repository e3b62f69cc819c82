import { describe, expect, it } from '@jest/globals';
import { loadCel, ruleProblems } from '../../../src/simulator/validation/cel-rules.js';
import { withSchemaDefaults } from '../../../src/simulator/validation/admit.js';
import type { Json, JsonObject } from '../../../src/simulator/kinds/json.js';

describe('defaults of a schema', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: {
      mode: { type: 'string', default: 'auto' },
      note: { type: 'string', nullable: true, default: 'none' },
      inner: { type: 'object', properties: { size: { type: 'integer', default: 3 } } },
      whole: { type: 'object', default: {}, properties: { size: { type: 'integer', default: 4 } } },
      list: {
        type: 'array',
        items: { type: 'object', properties: { on: { type: 'boolean', default: true } } },
      },
      map: {
        type: 'object',
        additionalProperties: { type: 'object', properties: { on: { type: 'boolean', default: false } } },
      },
    },
  };

  it.each<[Json, Json]>([
    [{}, { mode: 'auto', note: 'none', whole: { size: 4 } }],
    [
      { mode: 'x', whole: { size: 9 } },
      { mode: 'x', note: 'none', whole: { size: 9 } },
    ],
    [
      { mode: null, note: null },
      { mode: 'auto', note: null, whole: { size: 4 } },
    ],
    [{ inner: {} }, { inner: { size: 3 }, mode: 'auto', note: 'none', whole: { size: 4 } }],
    [
      { list: [{}, { on: false }], map: { a: {} } },
      {
        list: [{ on: true }, { on: false }],
        map: { a: { on: false } },
        mode: 'auto',
        note: 'none',
        whole: { size: 4 },
      },
    ],
  ])('turn %j into %j', (value, expected) => {
    expect(withSchemaDefaults(value, schema)).toEqual(expected);
  });
});

describe('rules of a schema', () => {
  const problems = async (schema: JsonObject, value: Json, before?: Json): Promise<readonly string[]> => {
    const cel = await loadCel();
    if (cel === null) throw new Error('the library for CEL is not installed');
    return ruleProblems(cel, schema, { value, before, path: '' }).map(
      ({ field, text }) => `${field}: ${text}`,
    );
  };
  const ruled = (rule: string, message?: string): JsonObject => ({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: { min: { type: 'integer' }, max: { type: 'integer' }, ratio: { type: 'number' } },
        'x-kubernetes-validations': [message === undefined ? { rule } : { rule, message }],
      },
    },
  });

  it('name the object that violates one, with its message', async () => {
    const schema = ruled('!has(self.min) || self.min <= self.max', 'min must be at most max');

    expect(await problems(schema, { spec: { min: 3, max: 3 } })).toEqual([]);
    expect(await problems(schema, { spec: { max: 3 } })).toEqual([]);
    expect(await problems(schema, { spec: { min: 4, max: 3 } })).toEqual([
      'spec: Invalid value: "object": min must be at most max',
    ]);
  });

  it('compare integers as integers, and numbers as numbers', async () => {
    expect(await problems(ruled('self.min % 2 == 0'), { spec: { min: 4 } })).toEqual([]);
    expect(await problems(ruled('self.ratio <= 1.0'), { spec: { ratio: 1 } })).toEqual([]);
    expect(await problems(ruled('self.ratio <= 1.0'), { spec: { ratio: 2 } })).toEqual([
      'spec: Invalid value: "object": failed rule: self.ratio <= 1.0',
    ]);
  });

  it('with oldSelf pass for a new object', async () => {
    const schema = ruled('self.max >= oldSelf.max', 'max never falls');

    expect(await problems(schema, { spec: { max: 1 } })).toEqual([]);
    expect(await problems(schema, { spec: { max: 1 } }, { spec: { max: 2 } })).toHaveLength(1);
  });

  it('that cannot be evaluated are a cause, too', async () => {
    const [problem = ''] = await problems(ruled('self.missing > 1'), { spec: {} });

    expect(problem).toContain('rule evaluation error');
  });
});
