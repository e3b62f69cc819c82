import { describe, expect, it } from '@jest/globals';
import { createFairSlots, type QueryOwner } from '../../../src/prometheus/source/fair-slots.js';
import { ManualClock, settle } from '../../support/manual-clock.js';

interface Work {
  readonly name: string;
  readonly owners: readonly QueryOwner[];
  readonly isSlow: boolean;
  readonly untilMs: number;
}

/** Slots whose work ends when the test says so, by name. */
function setUp(most: number) {
  const clock = new ManualClock();
  const begun: string[] = [];
  const expired: string[] = [];
  const ends = new Map<string, () => void>();
  const slots = createFairSlots<Work>({
    most,
    clock,
    runWithSlot: ({ name }) => {
      begun.push(name);
      return new Promise((resolve) => ends.set(name, resolve));
    },
    expire: ({ name }) => expired.push(name),
  });
  /** `owners`: NAMESPACE/SCALER, several separated by a space; '': none. */
  const add = (name: string, owners = '', { isSlow = false, untilMs = 1e6 } = {}): void =>
    slots.add({
      name,
      owners: owners
        .split(' ')
        .filter((each) => each !== '')
        .map((each) => ({ namespace: each.split('/')[0] ?? '', scaler: each.split('/')[1] ?? '' })),
      isSlow,
      untilMs,
    });
  /** Ends all work after `seconds`, in turn, until none is left. */
  const drain = async (seconds = 0): Promise<readonly string[]> => {
    await settle();
    while (ends.size > 0) {
      const [first] = ends.entries();
      if (first === undefined) break;
      clock.advance(seconds * 1000);
      ends.delete(first[0]);
      first[1]();
      await settle();
    }
    return begun.splice(0);
  };
  const end = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) ends.get(name)?.();
    await settle();
  };
  return { add, drain, end, begun, expired, clock };
}

describe('slots', () => {
  it('are given to at most as many as there are, never within the call', async () => {
    const { add, begun, end } = setUp(2);
    for (const name of ['a', 'b', 'c']) add(name);
    expect(begun).toEqual([]);

    await settle();
    expect(begun).toEqual(['a', 'b']);
    await end('a');
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('are given to the namespaces in turn, and within one to its scalers in turn', async () => {
    const { add, drain } = setUp(1);
    for (const name of ['a1', 'a2', 'a3']) add(name, 'a/x');
    add('a4', 'a/y');
    for (const name of ['b1', 'b2']) add(name, 'b/x');

    expect(await drain(0.1)).toEqual(['a1', 'b1', 'a4', 'b2', 'a2', 'a3']);
  });

  it('are given first to queries of the service and of all namespaces', async () => {
    const { add, drain } = setUp(1);
    add('own', 'a/x');
    add('merged');

    expect(await drain()).toEqual(['merged', 'own']);
  });

  it('are given last to the namespace that has taken the most seconds, which are halved every 15 s', async () => {
    const { add, drain, clock } = setUp(1);
    add('a', 'a/x');
    await drain(4);
    add('b', 'b/x');
    await drain(1);
    const both = async (name: string): Promise<readonly string[]> => {
      add(`a${name}`, 'a/x');
      add(`b${name}`, 'b/x');
      return drain();
    };

    expect(await both('1')).toEqual(['b1', 'a1']);
    clock.advance(60_000);
    add('b', 'b/x');
    await drain(2);
    expect(await both('2')).toEqual(['a2', 'b2']);
  });

  it('count the seconds of a shared query for all of its namespaces, and use the turn of the first one', async () => {
    const { add, drain } = setUp(1);
    add('a', 'a/x');
    await drain(5);
    add('c', 'c/x');
    await drain(1);
    add('shared', 'a/x b/x');
    add('own', 'c/x');

    expect(await drain(8)).toEqual(['shared', 'own']);
    add('b', 'b/x');
    add('d', 'd/x');
    expect(await drain()).toEqual(['d', 'b']);
  });

  it('are not all given to one of two namespaces: one of four is left', async () => {
    const { add, begun } = setUp(4);
    for (let index = 0; index < 5; index += 1) add(`a${index}`, 'a/x');
    await settle();
    expect(begun).toHaveLength(4);
    const other = setUp(4);
    other.add('b', 'b/x');
    for (let index = 0; index < 5; index += 1) other.add(`a${index}`, 'a/x');
    await settle();
    await other.end('b');

    expect(other.begun).toEqual(['b', 'a0', 'a1', 'a2']);
  });

  it('are given to slow queries up to the half, as long as most namespaces have none', async () => {
    const slowOf = async (namespaces: readonly string[]): Promise<number> => {
      const { add, begun, drain } = setUp(10);
      for (const namespace of ['a', 'b', 'c', 'd']) add(namespace, `${namespace}/x`);
      await drain();
      for (const namespace of namespaces)
        for (let index = 0; index < 10; index += 1)
          add(`${namespace}${index}`, `${namespace}/x`, { isSlow: true });
      await settle();
      return begun.length;
    };

    expect(await slowOf(['a'])).toBe(5);
    expect(await slowOf(['a', 'b'])).toBe(5);
    expect(await slowOf(['a', 'b', 'c'])).toBe(7);
    expect(await slowOf(['a', 'b', 'c', 'd'])).toBe(9);
  });

  it('are given to one slow query while others wait, and to all of the only namespace', async () => {
    const { add, begun } = setUp(3);
    add('slow1', 'a/x', { isSlow: true });
    add('slow2', 'a/x', { isSlow: true });
    for (let index = 0; index < 4; index += 1) add(`b${index}`, `b/${index}`);
    await settle();
    expect(begun).toEqual(['slow1', 'b0', 'b1']);

    const alone = setUp(3);
    for (let index = 0; index < 4; index += 1) alone.add(`${index}`, 'a/x', { isSlow: true });
    await settle();
    expect(alone.begun).toHaveLength(3);
  });

  it('are not given after the time of a request, which expires then', async () => {
    const { add, begun, expired, clock, end } = setUp(1);
    add('first', 'a/x');
    await settle();
    add('late', 'a/x', { untilMs: 2000 });
    add('sooner', '', { untilMs: 1000 });
    add('last', 'b/x', { untilMs: 3000 });
    await settle();

    await clock.advanceAndSettle(999);
    expect(expired).toEqual([]);
    await clock.advanceAndSettle(1);
    expect(expired).toEqual(['sooner']);
    await clock.advanceAndSettle(1000);
    expect(expired).toEqual(['sooner', 'late']);
    await end('first');

    expect(begun).toEqual(['first', 'last']);
    expect(clock.pending).toBe(0);
  });

  it('are given to 5,000 scalers of one namespace once each', async () => {
    const { add, begun, end } = setUp(5000);
    const names = Array.from({ length: 5000 }, (_, index) => `s${index}`);
    for (const name of names) add(name, `a/${name}`);
    await settle();
    await end();

    expect(begun).toEqual(names);
  });
});
