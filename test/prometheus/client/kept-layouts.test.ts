import { describe, expect, it } from '@jest/globals';
import { SentLayout, KeptLayouts } from '../../../src/prometheus/answers/columns.js';
import { ManualClock } from '../../support/manual-clock.js';

const MIB = 1024 * 1024;
const layoutOf = (mib: number): SentLayout =>
  new SentLayout(Buffer.alloc(mib * MIB), new Int32Array(0), new Uint32Array(0));

/** Rounds of 15 s: each query is answered with some MiB of labels. Returns which labels were known. */
function start() {
  const clock = new ManualClock();
  const layouts = new KeptLayouts(clock);
  const round = (mib: number, ...queries: readonly string[]): readonly boolean[] => {
    clock.advance(15_000);
    return queries.map((query) => {
      const known = layouts.of(query);
      layouts.keep(query, known ?? layoutOf(mib));
      return known !== null;
    });
  };
  return { clock, layouts, round };
}

describe('the kept labels', () => {
  it('have less than 64 MiB, and are always those of the same queries if those of all do not fit', () => {
    const { round } = start();
    const queries = ['a', 'b', 'c'];

    round(31, ...queries);

    for (let index = 0; index < 3; index += 1) expect(round(31, ...queries)).toEqual([true, true, false]);
  });

  it('are not those of a query that was answered more than 120 s ago', () => {
    const { clock, layouts } = start();
    layouts.keep('dead', layoutOf(1));
    clock.advance(120_000);
    layouts.keep('other', layoutOf(1));
    expect(layouts.of('dead')).not.toBeNull();

    clock.advance(1);
    layouts.keep('other', layoutOf(1));

    expect(layouts.of('dead')).toBeNull();
  });

  it('make room for those of other queries after 120 s', () => {
    const { round } = start();
    round(40, 'before');

    const known = Array.from({ length: 11 }, () => round(40, 'after')[0]);

    expect(known).toEqual([...new Array<boolean>(9).fill(false), true, true]);
  });

  it('are removed after an answer that is no vector', () => {
    const { layouts } = start();
    layouts.keep('a', layoutOf(1));

    layouts.keep('a', null);

    expect(layouts.of('a')).toBeNull();
  });
});
