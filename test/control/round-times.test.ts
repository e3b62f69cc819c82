import { describe, expect, it } from '@jest/globals';
import { createInFlight, runRounds } from '../../src/control/round-times.js';
import type { Round } from '../../src/control/round-times.js';
import { ManualClock } from '../support/manual-clock.js';

function start(periodSeconds: number, clock = new ManualClock(), startMs = clock.monotonicMs()) {
  const stop = new AbortController();
  const rounds: Round[] = [];
  const ended = runRounds(clock, periodSeconds, {
    startMs,
    signal: stop.signal,
    onRound: (round) => rounds.push(round),
  });
  return { clock, stop, rounds, ended };
}

describe('runRounds with a period of 15 s', () => {
  it('runs the first round at the start and the second 15 s later, not 14.999 s', async () => {
    const { clock, rounds } = start(15);
    expect(rounds).toHaveLength(1);

    await clock.advanceAndSettle(14_999);
    expect(rounds).toHaveLength(1);

    await clock.advanceAndSettle(1);
    expect(rounds).toHaveLength(2);
  });

  it('keeps to its slots: four rounds in 45 s, each on time', async () => {
    const { clock, rounds } = start(15);

    await clock.advanceAndSettle(45_000);

    expect(rounds).toHaveLength(4);
    expect(rounds.map(({ latenessSeconds }) => latenessSeconds)).toEqual([0, 0, 0, 0]);
    expect(rounds.every(({ missed }) => missed === 0)).toBe(true);
  });

  it('ends when its signal is aborted, between two rounds', async () => {
    const { clock, stop, rounds, ended } = start(15);
    await clock.advanceAndSettle(20_000);

    stop.abort();
    await ended;
    await clock.advanceAndSettle(60_000);

    expect(rounds).toHaveLength(2);
  });
});

it('runRounds runs the first round at the start with a clock that has moved since the start', () => {
  const clock = new ManualClock();
  const rounds: Round[] = [];
  const startMs = clock.monotonicMs();
  const stop = new AbortController();
  clock.advance(5);

  void runRounds(clock, 15, { startMs, signal: stop.signal, onRound: (round) => rounds.push(round) });

  expect(rounds).toHaveLength(1);
  stop.abort();
});

describe('runRounds with a start 20 s ago', () => {
  it('runs the first round 30 s after that start, on time', async () => {
    const clock = new ManualClock();
    await clock.advanceAndSettle(20_000);
    const { rounds } = start(15, clock, clock.monotonicMs() - 20_000);

    await clock.advanceAndSettle(9999);
    expect(rounds).toEqual([]);

    await clock.advanceAndSettle(1);
    expect(rounds).toMatchObject([{ missed: 0, latenessSeconds: 0 }]);
  });
});

describe('runRounds after 40 s without a run', () => {
  it('counts the 1 slot that passed, does not make up for it and reports that it is 10 s late', async () => {
    const { clock, rounds } = start(15);

    // The timer of the second slot fires 25 s after it was due.
    await clock.stall(40_000);

    expect(rounds).toHaveLength(2);
    expect(rounds[1]).toMatchObject({ missed: 1, latenessSeconds: 10 });

    await clock.advanceAndSettle(5000);
    expect(rounds).toHaveLength(3);
    expect(rounds[2]).toMatchObject({ missed: 0, latenessSeconds: 0 });
  });
});

/** Notes whether the promise has resolved. */
async function isResolved(promise: Promise<void>): Promise<boolean> {
  let resolved = false;
  void promise.then(() => (resolved = true));
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  return resolved;
}

describe('createInFlight', () => {
  it('waits for nothing without work', async () => {
    expect(await isResolved(createInFlight().untilNone())).toBe(true);
  });

  it('waits until the last of 2 has ended, for all that wait', async () => {
    const inFlight = createInFlight();
    inFlight.begin();
    inFlight.begin();
    const waiting = [inFlight.untilNone(), inFlight.untilNone()];

    inFlight.end();
    const afterOne = await Promise.all(waiting.map(isResolved));
    inFlight.end();
    const afterBoth = await Promise.all(waiting.map(isResolved));

    expect([afterOne, afterBoth]).toEqual([
      [false, false],
      [true, true],
    ]);
  });

  it('waits again for work that begins later', async () => {
    const inFlight = createInFlight();
    inFlight.begin();
    inFlight.end();
    inFlight.begin();

    expect(await isResolved(inFlight.untilNone())).toBe(false);
  });
});
