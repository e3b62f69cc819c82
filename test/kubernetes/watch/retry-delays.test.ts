import { describe, expect, it } from '@jest/globals';
import { KubernetesError } from '../../../src/kubernetes/api/types.js';
import {
  createRetryDelays,
  type RetryDelays,
  type Verb,
} from '../../../src/kubernetes/watch/retry-delays.js';
import { ManualClock } from '../../support/manual-clock.js';

const busy = (retryAfterSeconds: number | null): KubernetesError =>
  new KubernetesError('rate_limited', 'busy', { status: 429, retryAfterSeconds });

interface Fixture {
  readonly pauses: RetryDelays;
  /** Returns the waits after `count` 429 in a row, in milliseconds. */
  readonly waits: (verb: Verb, count: number, retryAfterSeconds: number | null) => readonly number[];
}

function setUp(): Fixture {
  const clock = new ManualClock();
  clock.chance = 0.5;
  const pauses = createRetryDelays(clock);
  const waits: Fixture['waits'] = (verb, count, retryAfterSeconds) =>
    Array.from({ length: count }, () => {
      const { ms } = pauses.after({ verb, error: busy(retryAfterSeconds), listedMs: null });
      clock.advance(ms);
      return ms;
    });
  return { pauses, waits };
}

describe('the pauses after 429 in a row', () => {
  it.each([
    [null, [1200, 2400, 4800, 9600, 19_200, 38_400, 45_000, 45_000]],
    [3, [3000, 3000, 4800, 9600, 19_200, 38_400, 45_000, 45_000]],
    [60, [60_000, 60_000, 60_000]],
  ])('of a list with a Retry-After of %p s back off from the first one on', (seconds, expected) => {
    const { waits } = setUp();

    expect(waits('list', expected.length, seconds)).toEqual(expected);
  });

  it('of a watch back off from the second one on', () => {
    const { waits } = setUp();

    expect(waits('watch', 4, 3)).toEqual([3000, 3000, 3000, 4800]);
  });

  it('of a watch start with only the Retry-After again after a success', () => {
    const { pauses, waits } = setUp();
    waits('watch', 5, null);

    pauses.clear('watch');

    expect(waits('watch', 2, null)).toEqual([1000, 19_200]);
  });

  it('of a list are as long if a list succeeded in between, for two minutes', () => {
    const { pauses, waits } = setUp();
    waits('list', 5, null);

    pauses.clear('list');

    expect(waits('list', 1, null)).toEqual([38_400]);
  });
});
