import { describe, expect, it } from '@jest/globals';
import { answerLimits } from '../../../src/prometheus/answers/answer.js';
import {
  createCountedBody,
  OverloadError,
  TooLargeError,
  type Unread,
} from '../../../src/prometheus/requests/read-body.js';

const KIB = 1024;
/** All bodies together may have 192 KiB. */
const limits = answerLimits({ maxAnswerBytes: 64 * KIB, maxSeries: undefined });

function setUp() {
  const unread: Unread = { bytes: 0 };
  const start = () => {
    const stopped: Error[] = [];
    const body = createCountedBody(
      { unread, limits },
      { checksBounds: true, stop: (error) => stopped.push(error) },
    );
    return { ...body, stopped, add: (kib: number) => body.add(Buffer.alloc(kib * KIB, ' ')) };
  };
  return { unread, start };
}

describe('bodies that are too large in total', () => {
  it('of 193 KiB cost the largest one, not the small one whose piece came last', () => {
    const { unread, start } = setUp();
    const [small, ...large] = [start(), start(), start(), start()];
    expect(large.map((one, index) => one.add([63, 64, 63][index] ?? 0))).toEqual([null, null, null]);
    expect(small.add(2)).toBeNull();
    expect(large.flatMap(({ stopped }) => stopped)).toEqual([]);

    expect(small.add(1)).toBeNull();

    expect(large.map(({ stopped }) => stopped.length)).toEqual([0, 1, 0]);
    expect(large[1].stopped[0]).toBeInstanceOf(OverloadError);
    expect(large[1].add(1)).toBeInstanceOf(OverloadError);
    expect(() => large[1].end()).toThrow(OverloadError);
    expect(small.end()).toHaveLength(3 * KIB);
    for (const one of large) one.drop();
    expect([unread.bytes, unread.bodies?.size]).toEqual([0, 0]);
  });

  it('cost the body itself if it is the largest', () => {
    const { start } = setUp();
    const others = [60, 60, 60].map((kib) => {
      const body = start();
      body.add(kib);
      return body;
    });
    const largest = start();
    largest.add(12);

    expect(largest.add(49)).toBeInstanceOf(OverloadError);
    expect(others.flatMap(({ stopped }) => stopped)).toEqual([]);
  });
});

it('a body that is too large on its own is not an overload', () => {
  const { start } = setUp();
  const body = start();

  expect(body.add(64)).toBeNull();
  expect(body.add(1)).toBeInstanceOf(TooLargeError);
});
