import { describe, expect, it } from '@jest/globals';
import { beginWait, createTurns, limitShare, takeTurn } from '../../src/recommendations/back-test.js';
import { ManualClock, settle } from '../support/manual-clock.js';

const STEP_MS = 5;

/**
 * Returns the share of 20 s in percent in which a worker works that looks at its turns after each `workMs`, and otherwise
 * is idle.
 */
async function shareOf(percent: number, workMs: number): Promise<number> {
  const clock = new ManualClock();
  const ending = new AbortController();
  const turns = createTurns();
  const ended = limitShare(turns, { percent, clock, signal: ending.signal });
  let workedMs = 0;
  let leftMs = 0;
  for (let ms = 0; ms < 20_000; ms += STEP_MS) {
    if (leftMs <= 0 && Atomics.load(turns, 0) === 0) leftMs = workMs;
    if (leftMs > 0) {
      takeTurnIfOpen(turns);
      workedMs += STEP_MS;
      leftMs -= STEP_MS;
    } else beginWait(turns);
    clock.advance(STEP_MS);
    await settle();
  }
  ending.abort();
  await ended;
  return (100 * workedMs) / 20_000;
}

function takeTurnIfOpen(turns: ReturnType<typeof createTurns>): void {
  // `takeTurn` would block this thread.
  if (Atomics.load(turns, 0) === 0) takeTurn(turns);
}

describe('limitShare', () => {
  it.each([
    [20, STEP_MS],
    [5, STEP_MS],
    [50, STEP_MS],
    [20, 400],
  ])('lets a worker work for %i %% of the time, in steps of %i ms', async (percent, workMs) => {
    const share = await shareOf(percent, workMs);

    expect(share).toBeLessThanOrEqual(percent * 1.1);
    expect(share).toBeGreaterThanOrEqual(percent * 0.8);
  });

  it('never pauses a worker that may use a whole core', async () => {
    expect(await shareOf(100, STEP_MS)).toBe(100);
  });
});
