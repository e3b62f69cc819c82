import { describe, expect, it } from '@jest/globals';
import { printedCell, valuesAt } from '../../../src/simulator/api/reads/columns.js';

const object = {
  metadata: { annotations: { 'example.com/a': 'x' } },
  spec: { size: 3, list: [{ name: 'a' }, { name: 'b' }] },
  status: {
    conditions: [
      { type: 'Ready', status: 'False' },
      { type: 'Other', status: 'True' },
    ],
  },
};

describe('the path of a printer column', () => {
  it.each([
    ['.spec.size', [3]],
    ['.spec.list[1].name', ['b']],
    ['.status.conditions[?(@.type=="Ready")].status', ['False']],
    ['.status.conditions[?(@.type=="None")].status', []],
    ['.metadata.annotations.example\\.com/a', ['x']],
    [".metadata.annotations['example.com/a']", ['x']],
    ['.spec.none.deeper', []],
    ['..size', []],
  ])('%s returns %j', (path, values) => {
    expect(valuesAt(object, path)).toEqual(values);
  });

  it('prints a number for a number and nothing for a string in its place', () => {
    const cell = (type: string, jsonPath: string): unknown => printedCell(object, { type, jsonPath });

    expect(cell('integer', '.spec.size')).toBe(3);
    expect(cell('string', '.spec.size')).toBe('3');
    expect(cell('integer', '.spec.list[0].name')).toBeNull();
    expect(cell('string', '.spec.none')).toBeNull();
  });
});
