import { describe, expect, it } from '@jest/globals';
import { NO_REVERSALS } from '../../../src/control/memory/conflicting-writer.js';
import { freshMemory } from '../../../src/control/memory/memory.js';
import { EMPTY_STATE } from '../../../src/decision/snapshot/snapshot.js';
import { at } from '../fixture.js';

describe('freshMemory', () => {
  it('has scaled in both directions just now and has never decided', () => {
    expect(freshMemory(at(7), null)).toEqual({
      uid: null,
      state: { ...EMPTY_STATE, lastScaleUp: at(7), lastScaleDown: at(7) },
      assumedAt: at(7),
      holds: [],
      unresolved: null,
      isUnannounced: false,
      override: null,
      isRestored: false,
      writer: NO_REVERSALS,
      shortfall: null,
      stored: null,
      isUnsaved: false,
    });
  });
});
