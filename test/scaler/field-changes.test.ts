import { describe, expect, it } from '@jest/globals';
import { changeText, fieldChanges, mergePatch } from '../../src/scaler/field-changes.js';

const BEFORE = { minReplicas: 2, maxReplicas: 20, metrics: [{ target: 60 }, { target: 7 }], paused: true };

describe('the fields that differ', () => {
  it.each([
    ['a changed number', { ...BEFORE, maxReplicas: 15 }, ['spec.maxReplicas: 20 -> 15']],
    ['a field that was unset', { ...BEFORE, dryRun: true }, ['spec.dryRun: (unset) -> true']],
    ['a field that is removed', { ...BEFORE, paused: undefined }, ['spec.paused: true -> (unset)']],
    [
      'a field in a list',
      { ...BEFORE, metrics: [{ target: 60 }, { target: 8 }] },
      ['spec.metrics[1].target: 7 -> 8'],
    ],
    [
      'a shorter list',
      { ...BEFORE, metrics: [{ target: 60 }] },
      ['spec.metrics: [{"target":60},{"target":7}] -> [{"target":60}]'],
    ],
    ['no change', { ...BEFORE }, []],
  ])('are written as in the command line: %s', (_what, after, texts) => {
    expect(fieldChanges(BEFORE, after, 'spec').map(changeText)).toEqual(texts);
  });
});

describe('the merge patch', () => {
  it('has the changed members, null for a removed one, and lists as a whole', () => {
    const after = { minReplicas: 2, maxReplicas: 15, metrics: [{ target: 60 }, { target: 8 }] };

    expect(mergePatch(BEFORE, after)).toEqual({
      maxReplicas: 15,
      metrics: [{ target: 60 }, { target: 8 }],
      paused: null,
    });
    expect(mergePatch({ spec: BEFORE }, { spec: BEFORE })).toEqual({});
  });
});
