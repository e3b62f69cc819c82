import { describe, expect, it } from '@jest/globals';
import { structuralSchema } from '../../../../src/cli/schema/definition.js';

const structural = (schema: unknown, additions = {}): unknown =>
  structuralSchema(schema, { path: 'spec', additions });

describe('a JSON Schema as a structural one', () => {
  it('opens closed objects, and moves a default into the description', () => {
    const size = { type: 'integer', minimum: 1, description: 'How many.', default: 3 };
    const closed = { type: 'object', properties: { size }, additionalProperties: false, required: ['size'] };

    expect(structural(closed)).toEqual({
      type: 'object',
      required: ['size'],
      properties: { size: { type: 'integer', minimum: 1, description: 'How many. Default: 3.' } },
    });
  });

  it('keeps a map, without the rule for its keys', () => {
    const map = {
      type: 'object',
      propertyNames: { type: 'string' },
      additionalProperties: { type: 'string' },
    };

    expect(structural(map)).toEqual({ type: 'object', additionalProperties: { type: 'string' } });
  });

  it('makes a const an enum of one', () => {
    expect(structural({ type: 'string', const: 'x' })).toEqual({ type: 'string', enum: ['x'] });
  });

  it('leaves several types open, and rejects values of none of them', () => {
    const open = { 'x-kubernetes-preserve-unknown-fields': true };

    expect(structural({ type: ['string', 'number'] })).toEqual({
      ...open,
      maxProperties: 0,
      maxItems: 0,
      not: { enum: [true, false] },
    });
    expect(structural({ type: ['string', 'boolean'] })).toEqual({ ...open, maxProperties: 0, maxItems: 0 });
    expect(structural({ type: ['string', 'boolean'], enum: ['a', true] })).toEqual({
      ...open,
      enum: ['a', true],
    });
  });

  it('adds fields at a path', () => {
    const list = { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } };
    const schema = { type: 'object', properties: { list } };

    expect(structural(schema, { 'spec.list[].a': { maxLength: 9 } })).toMatchObject({
      properties: { list: { items: { properties: { a: { type: 'string', maxLength: 9 } } } } },
    });
  });

  it.each(['anyOf', 'oneOf', '$ref', 'exclusiveMinimum', 'format'])('does not ignore %s', (word) => {
    expect(() => structural({ type: 'object', properties: { a: { [word]: 0 } } })).toThrow(
      `building the structural schema of spec.a: unknown keyword ${word}`,
    );
  });
});
