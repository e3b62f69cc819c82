import { describe, expect, it } from '@jest/globals';
import { SentLayout } from '../../../src/prometheus/answers/columns.js';
import { QueryMemos } from '../../../src/prometheus/client/query-memos.js';
import { ManualClock } from '../../support/manual-clock.js';

const MIB = 1024 * 1024;
const layoutOf = (mib: number): SentLayout =>
  new SentLayout(Buffer.alloc(mib * MIB), new Int32Array(0), new Uint32Array(0), null);

/** Rounds of 15 s: each query is answered with a layout of some MiB unless it has one. Returns which had one. */
function start() {
  const clock = new ManualClock();
  const memos = new QueryMemos(clock);
  const round = (mib: number, ...queries: readonly string[]): readonly boolean[] => {
    clock.advance(15_000);
    return queries.map((query) => {
      const memo = memos.of(query);
      const isKnown = memo.layout !== null;
      memo.layout ??= layoutOf(mib);
      return isKnown;
    });
  };
  return { clock, memos, round };
}

describe('what is kept of queries', () => {
  it('are labels of at most 64 MiB, always of the same queries if those of all do not fit', () => {
    const { memos, round } = start();
    const queries = ['a', 'b', 'c'];

    round(32, ...queries);
    for (let index = 0; index < 3; index += 1) expect(round(32, ...queries)).toEqual([true, true, false]);
    expect(memos.bytes).toBe(64 * MIB);
    for (let index = 0; index < 2; index += 1) expect(round(32, 'a', 'c')).toEqual([true, false]);
    expect(round(32, 'a', 'c')).toEqual([true, true]);
  });

  it('are labels of 12 MiB of the queries of today, after 10 changes of their text', () => {
    const { round } = start();
    for (let text = 0; text < 10; text += 1)
      for (let index = 0; index < 4; index += 1) round(12, `cpu ${text}`, `memory ${text}`);

    expect(round(12, 'cpu 9', 'memory 9')).toEqual([true, true]);
  });

  it('are not those of a query that has not been sent for more than 10 minutes', () => {
    const { clock, memos, round } = start();
    round(1, 'dead', 'seldom');
    clock.advance(600_000);
    const memo = memos.of('seldom');
    expect(memos.bytes).toBe(2 * MIB);

    clock.advance(1);
    memos.of('other');

    expect(memos.bytes).toBe(MIB);
    expect(memos.of('seldom')).toBe(memo);
  });

  it('are not those of a query that was dropped while it was being answered', () => {
    const { clock, memos } = start();
    const late = memos.of('late');
    clock.advance(600_001);
    memos.of('other');

    late.layout = layoutOf(1);

    expect([late.layout, memos.bytes]).toEqual([null, 0]);
  });

  it('are those of the 20,000 queries that were sent last', () => {
    const { memos } = start();
    const memo = memos.of('0');
    const next = memos.of('1');
    for (let query = 2; query < 20_000; query += 1) memos.of(`${query}`);
    expect(memos.of('0')).toBe(memo);

    memos.of('20000');
    expect(memos.of('0')).toBe(memo);
    expect(memos.of('1')).not.toBe(next);
  });
});
