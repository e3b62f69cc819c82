import { describe, expect, it } from '@jest/globals';
import { createArrivals } from '../../../src/control/rounds/arrivals.js';
import type { Readings } from '../../../src/control/cycle/types.js';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import type { RoundAnswers } from '../../../src/prometheus/metric-source.js';
import { UNKNOWN_AGE } from '../../../src/prometheus/source/age.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import { ManualClock, settle } from '../../support/manual-clock.js';
import { gate } from '../controller-rig.js';
import { answerOf, at, buildScaler } from '../world.js';

interface Cycle {
  readonly scaler: Scaler;
  readonly answers: RoundAnswers;
  readonly sinceMs: number;
}

const WEB = buildScaler();
const FAILED: Answer = { class: 'failed', reason: 'timeout', message: 'no answer' };

/** Waits of cycles of one scaler, and what was run and read. */
function start(atOnce = 32): {
  readonly clock: ManualClock;
  readonly wait: (answers: RoundAnswers) => Cycle;
  readonly ran: (readonly [Cycle, Readings])[];
  readonly failed: (readonly [Cycle, unknown])[];
} {
  const clock = new ManualClock();
  const ran: (readonly [Cycle, Readings])[] = [];
  const failed: (readonly [Cycle, unknown])[] = [];
  const arrivals = createArrivals<Cycle>(clock, {
    atOnce,
    run: (cycle, readings) => void ran.push([cycle, readings]),
    fail: (cycle, error) => void failed.push([cycle, error]),
  });
  const wait = (answers: RoundAnswers): Cycle => {
    const cycle = { scaler: WEB, answers, sinceMs: clock.monotonicMs() };
    arrivals(cycle);
    return cycle;
  };
  return { clock, wait, ran, failed };
}

/** Answers that arrive when the gate opens. `asked`: the sources whose age was read. */
function answersBehind(
  opened: Promise<void>,
  answer: Answer = answerOf(50, at(0)),
): { readonly answers: RoundAnswers; readonly asked: string[] } {
  const asked: string[] = [];
  const answers: RoundAnswers = {
    of: () => opened.then(() => [answer]),
    ageOf: (source) => {
      asked.push(source);
      return Promise.resolve(UNKNOWN_AGE);
    },
  };
  return { answers, asked };
}

describe('cycles that wait for their answers', () => {
  it('fail if the age of their source cannot be read, instead of waiting for ever', async () => {
    const { wait, ran, failed } = start();
    const error = new TypeError('a fault of our own');
    const { answers } = answersBehind(Promise.resolve());
    const broken = { ...answers, ageOf: () => Promise.reject(error) };

    const cycles = [wait(broken), wait(broken)];
    await settle();

    expect(ran).toEqual([]);
    expect(failed).toEqual(cycles.map((cycle) => [cycle, error]));
  });

  it('run when these arrive, with the time at which they began to wait', async () => {
    const { clock, wait, ran } = start();
    const { opened, open } = gate();
    const { answers } = answersBehind(opened);
    clock.advance(500);
    const cycle = wait(answers);
    clock.advance(200);
    await settle();
    expect(ran).toEqual([]);

    open();
    await settle();

    const ages = new Map([['default', UNKNOWN_AGE]]);
    expect(ran).toEqual([[cycle, { results: [answerOf(50, at(0))], ages, sinceMs: 500 }]]);
  });

  it('read the age of a source once for all whose answers arrive together, and after them', async () => {
    const { wait, ran } = start();
    const { opened, open } = gate();
    const { answers, asked } = answersBehind(opened);
    for (let count = 0; count < 20; count += 1) wait(answers);
    await settle();
    expect(asked).toEqual([]);

    open();
    await settle();

    expect(asked).toEqual(['default']);
    expect(ran).toHaveLength(20);
  });

  it('read the age again for answers that arrive later', async () => {
    const { wait } = start();
    const { answers, asked } = answersBehind(Promise.resolve());
    wait(answers);
    await settle();
    wait(answers);
    await settle();

    expect(asked).toEqual(['default', 'default']);
  });

  it('read no age of a source that did not answer', async () => {
    const { wait, ran } = start();
    const { answers, asked } = answersBehind(Promise.resolve(), FAILED);
    wait(answers);
    await settle();

    expect(asked).toEqual([]);
    expect(ran.map(([, { results, ages }]) => [results, ages])).toEqual([[[FAILED], new Map()]]);
  });

  it('of two rounds read the ages of their own round', async () => {
    const { wait, ran } = start();
    const { opened, open } = gate();
    const [first, second] = [answersBehind(opened), answersBehind(opened)];
    wait(first.answers);
    wait(second.answers);
    open();
    await settle();

    expect([first.asked, second.asked]).toEqual([['default'], ['default']]);
    expect(ran).toHaveLength(2);
  });

  it('run 3 in a turn of the event loop, in order', async () => {
    const { clock, wait, ran } = start(3);
    const { answers } = answersBehind(Promise.resolve());
    const cycles = Array.from({ length: 8 }, () => wait(answers));
    await settle();
    const lengths = [ran.length];
    for (let turn = 0; turn < 2; turn += 1) {
      const left = clock.pending;
      clock.advance(0);
      lengths.push(left);
    }

    expect(lengths).toEqual([3, 1, 0]);
    expect(ran.map(([cycle]) => cycle)).toEqual(cycles);
  });

  it('fail when the answers cannot be read, and the others run', async () => {
    const { wait, ran, failed } = start();
    const fault = new Error('not part of this round');
    const lost = wait({ ...answersBehind(Promise.resolve()).answers, of: () => Promise.reject(fault) });
    wait(answersBehind(Promise.resolve()).answers);
    await settle();

    expect(failed).toEqual([[lost, fault]]);
    expect(ran).toHaveLength(1);
  });

  it('that share a promise run together, and fail together', async () => {
    const { wait, ran, failed } = start();
    const answer = Promise.resolve([FAILED]);
    const shared = { ...answersBehind(Promise.resolve()).answers, of: () => answer };
    const cycles = [wait(shared), wait(shared)];
    const lost = new Error('lost');
    const rejected = Promise.reject(lost);
    const others = { ...shared, of: () => rejected };
    const unanswered = [wait(others), wait(others)];
    await settle();

    expect(ran.map(([cycle]) => cycle)).toEqual(cycles);
    expect(failed).toEqual(unanswered.map((cycle) => [cycle, lost]));
  });

  it.each([
    ['are', () => Promise.resolve()],
    ['cannot be', () => Promise.reject(new Error('not sent'))],
  ])('ask for their answers once the queries of their round %s sent', async (_, sent) => {
    const { wait, ran } = start();
    const { opened, open } = gate();
    const { answers } = answersBehind(Promise.resolve());
    const asked: string[] = [];
    const sending = opened.then(sent);
    const held = (name: string): RoundAnswers => ({
      ...answers,
      of: (scaler) => {
        asked.push(name);
        return answers.of(scaler);
      },
      sending: () => sending,
    });
    const [first, second] = [held('first'), held('second')];
    const cycles = [wait(first), wait(first), wait(second), wait(first)];
    await settle();
    expect(asked).toEqual([]);

    open();
    await settle();

    expect(asked).toEqual(['first', 'first', 'second', 'first']);
    expect(ran.map(([cycle]) => cycle)).toEqual(cycles);
  });
});
