import { describe, expect, it } from '@jest/globals';
import { SentLayout } from '../../../src/prometheus/answers/series-layout.js';
import { createQueryMemos } from '../../../src/prometheus/client/query-memos.js';

const MIB = 1024 * 1024;
const layoutOf = (bytes: number): SentLayout => new SentLayout(Buffer.alloc(bytes), new Int32Array(0), 0);

describe('what is kept of queries', () => {
  it('is a form for each query', () => {
    const memos = createQueryMemos();

    expect(memos.of('sum(x{a="&+é"})').encoded).toBe('query=sum%28x%7Ba%3D%22%26%2B%C3%A9%22%7D%29');
    expect(memos.of('up')).toBe(memos.of('up'));
  });

  it('are labels of at most 64 MiB: further ones are not kept until others are released', () => {
    const memos = createQueryMemos();
    const [one, other] = [memos.of('one'), memos.of('other')];
    const half = layoutOf(32 * MIB);
    one.layout = half;
    other.layout = half;
    expect([one.layout, other.layout]).toEqual([half, half]);

    const more = layoutOf(32 * MIB + 1);
    other.layout = more;
    expect(other.layout).toBeNull();

    one.layout = null;
    other.layout = more;
    expect(other.layout).toBe(more);
  });

  it('is forgotten with the 20,001st query', () => {
    const memos = createQueryMemos();
    const first = memos.of('0');
    for (let query = 1; query < 20_000; query += 1) memos.of(`${query}`);
    expect(memos.of('0')).toBe(first);

    memos.of('20000');
    expect(memos.of('0')).not.toBe(first);
  });
});
