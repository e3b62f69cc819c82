import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/simulator/kinds/json.js';
import { structuralProblems } from '../../../src/simulator/validation/definition.js';
import { FLEET_SCHEMA } from './fleet.js';

const TEXT = { type: 'string' } as const;
const INT_OR_STRING = { 'x-kubernetes-int-or-string': true };

/** Returns the paths of the problems of an object with one member `a`, relative to it. */
const found = (a: JsonObject): readonly string[] =>
  structuralProblems({ type: 'object', properties: { a } }).map(({ path }) =>
    path.replace('.properties[a]', ''),
  );

describe('the rules of a structural schema', () => {
  it('pass for a structural schema', () => {
    expect(structuralProblems(FLEET_SCHEMA)).toEqual([]);
  });

  it.each<[string, JsonObject]>([
    ['an int-or-string', INT_OR_STRING],
    [
      'the two types of an int-or-string',
      { ...INT_OR_STRING, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    ],
    ['a map of strings', { type: 'object', additionalProperties: TEXT }],
    ['an exclusive minimum as a boolean', { type: 'number', minimum: 0, exclusiveMinimum: true }],
    ['members that are needed', { type: 'object', properties: { b: TEXT }, anyOf: [{ required: ['b'] }] }],
    [
      'a limit on a declared member in a junctor',
      { type: 'object', properties: { b: TEXT }, oneOf: [{ properties: { b: { enum: ['x'] } } }] },
    ],
    ['an open object', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }],
  ])('allow %s', (_what, schema) => {
    expect(found(schema)).toEqual([]);
  });

  it.each<[string, JsonObject, readonly string[]]>([
    ['a node without a type', {}, ['.type']],
    ['a list of types', { type: ['string', 'null'] }, ['.type']],
    ['an int-or-string with a type', { ...INT_OR_STRING, type: 'string' }, ['.type']],
    ['a reference', { type: 'string', $ref: '#/x' }, ['.$ref']],
    ['a const', { type: 'string', const: 'x' }, ['.const']],
    ['an unknown keyword', { type: 'string', 'x-other': 1 }, ['.x-other']],
    ['an exclusive minimum as a number', { type: 'number', exclusiveMinimum: 0 }, ['.exclusiveMinimum']],
    [
      'properties next to additionalProperties',
      { type: 'object', properties: {}, additionalProperties: TEXT },
      ['.additionalProperties'],
    ],
    ['a closed object', { type: 'object', additionalProperties: false }, ['.additionalProperties']],
    ['a list of nothing', { type: 'array' }, ['.items']],
    ['a tuple', { type: 'array', items: [TEXT] }, ['.items']],
    ['a member without a type', { type: 'object', properties: { b: {} } }, ['.properties[b].type']],
    ['a type in a junctor', { type: 'string', anyOf: [{ type: 'string' }] }, ['.anyOf[0].type']],
    [
      'a description in a junctor of a junctor',
      { type: 'string', allOf: [{ not: { description: 'x' } }] },
      ['.allOf[0].not.description'],
    ],
    [
      'a member that only a junctor knows',
      { type: 'object', oneOf: [{ properties: { b: { minLength: 1 } } }] },
      ['.oneOf[0].properties[b]'],
    ],
  ])('reject %s', (_what, schema, places) => {
    expect(found(schema)).toEqual(places);
  });

  it('require an object at the root', () => {
    expect(structuralProblems({ type: 'string' })).toEqual([
      { path: '.type', message: 'must be object at the root' },
    ]);
  });
});
