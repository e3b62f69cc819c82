import { describe, expect, it } from '@jest/globals';
import { resolveChange } from '../../../src/control/memory/unresolved-change.js';
import type { Memory } from '../../../src/control/memory/memory.js';
import { at, settledMemory } from '../fixture.js';

describe('resolveChange', () => {
  /** From 5 to `to`, sent at second 0 for resourceVersion 100, after a change of +1 at -50. */
  function unresolved(to: number): Memory {
    const event = { at: at(-50), change: 1 };
    const memory = settledMemory({ lastScaleUp: at(-50), lastScaleDown: at(-90), scaleEvents: [event] });
    return {
      ...memory,
      unresolved: {
        epoch: '1/a',
        from: 5,
        to,
        earlier: [],
        at: at(0),
        resourceVersion: '100',
        generation: 7,
      },
    };
  }

  it('does not change a memory without a lost answer', () => {
    const memory = settledMemory();

    expect(resolveChange(memory, { specReplicas: 8, resourceVersion: '101', generation: 8 }, at(15))).toBe(
      memory,
    );
  });

  it('counts +3 as of now, 15 s after it was announced, if the count is 8', () => {
    const resolved = resolveChange(
      unresolved(8),
      { specReplicas: 8, resourceVersion: '101', generation: 8 },
      at(15),
    );

    expect(resolved.unresolved).toBeNull();
    expect(resolved.state).toMatchObject({
      lastScaleUp: at(15),
      lastScaleDown: at(-90),
      scaleEvents: [
        { at: at(-50), change: 1 },
        { at: at(15), change: 3 },
      ],
      zeroedBySelf: false,
    });
  });

  it('counts -5 and owns the 0 if the count is 0', () => {
    const resolved = resolveChange(
      unresolved(0),
      { specReplicas: 0, resourceVersion: '101', generation: 8 },
      at(15),
    );

    expect(resolved.state).toMatchObject({
      lastScaleUp: at(-50),
      lastScaleDown: at(15),
      scaleEvents: [
        { at: at(-50), change: 1 },
        { at: at(15), change: -5 },
      ],
      zeroedBySelf: true,
    });
  });

  it('counts nothing if the count is 5 with another resourceVersion in the same generation 7', () => {
    const memory = unresolved(8);

    expect(resolveChange(memory, { specReplicas: 5, resourceVersion: '101', generation: 7 }, at(1))).toEqual({
      ...memory,
      unresolved: null,
    });
  });

  it('counts -2 and begins the windows of both directions if another client has set 12', () => {
    const memory = unresolved(3);

    const resolved = resolveChange(
      memory,
      { specReplicas: 12, resourceVersion: '103', generation: 8 },
      at(15),
    );

    expect(resolved.unresolved).toBeNull();
    expect(resolved.state).toEqual({
      ...memory.state,
      lastScaleUp: at(15),
      lastScaleDown: at(15),
      scaleEvents: [
        ...memory.state.scaleEvents,
        { at: at(15), change: -2, earliest: at(0), alsoAt: [at(0)] },
      ],
    });
  });

  it('counts the widest change of each direction if 3, 8 and 7 were sent and another client has set 12', () => {
    const memory = unresolved(3);
    const intent = memory.unresolved === null ? null : { ...memory.unresolved, earlier: [8, 7] };

    const resolved = resolveChange(
      { ...memory, unresolved: intent },
      { specReplicas: 12, resourceVersion: '103', generation: 8 },
      at(15),
    );

    expect(resolved.state.scaleEvents.slice(1).map(({ change }) => change)).toEqual([3, -2]);
  });

  it.each([
    [59.999, true],
    [60, false],
    [3600, false],
  ])('with an unchanged resourceVersion is %d s later still open: %s', (seconds, isOpen) => {
    const memory = unresolved(8);

    const resolved = resolveChange(
      memory,
      { specReplicas: 5, resourceVersion: '100', generation: 7 },
      at(seconds),
    );

    expect(resolved).toEqual(isOpen ? memory : { ...memory, unresolved: null });
  });

  it('stays open if the clock was set back by an hour', () => {
    const memory = unresolved(8);

    expect(resolveChange(memory, { specReplicas: 5, resourceVersion: '100', generation: 7 }, at(-3600))).toBe(
      memory,
    );
  });
});
