import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../src/prometheus/answers/answer.js';
import type { Series } from '../../../src/prometheus/answers/columns.js';
import { applyChecks } from '../../../src/prometheus/queries/checks.js';
import { sampleOutcome } from '../../../src/prometheus/recovery-hold.js';
import { toSample } from '../../../src/prometheus/samples.js';
import { aSource, at, externalMetric, T0, WORKLOAD } from '../../support/builders.js';
import { values } from '../fakes.js';

const vector = (...numbers: readonly number[]): Answer =>
  values(numbers.map((value): Series => ({ labels: {}, value })));
const missing: Answer = { class: 'missing', message: 'no series' };
const failed: Answer = { class: 'failed', reason: 'timeout', message: 'h: late' };
const invalid: Answer = { class: 'invalid', message: 'a matrix' };
const partial = (...numbers: readonly number[]): Answer => ({
  ...(vector(...numbers) as Extract<Answer, { class: 'value' }>),
  class: 'partial',
  why: 'store down',
});
const NUMBER = vector(7);
const SECONDS = T0 / 1000;

const guarded = (guard: Answer, answer = NUMBER, isMissingZero = false): Answer =>
  applyChecks({ isMissingZero }, answer, { guard });
const dated = (freshness: Answer, answer = NUMBER, isMissingZero = false): Answer =>
  applyChecks({ maxAgeSeconds: 120, isMissingZero }, answer, { freshness });

describe('a guard', () => {
  it.each([[[1]], [[0.001]], [[-1]], [[Infinity]], [[3, 1]]])('is true for %j', (numbers) => {
    expect(guarded(vector(...numbers))).toEqual(NUMBER);
  });

  it.each([
    ['no series', missing, 'the guard is not true: no series'],
    [
      '0',
      vector(0),
      'the guard is not true: the value 0 (use a comparison with "bool" if 0 is a valid value)',
    ],
    ['NaN', vector(NaN), 'the guard is not true: the value NaN'],
    [
      'one 0 among others',
      vector(1, 0),
      'the guard is not true: the value 0 (use a comparison with "bool" if 0 is a valid value)',
    ],
    ['no series of a partial answer', partial(), 'the guard is not true: no series, and guard: store down'],
  ])('with %s leaves the metric missing', (_name, guard, message) => {
    expect(guarded(guard)).toEqual({ class: 'missing', message });
  });

  it('that failed fails the metric, and one that is not a vector makes it invalid', () => {
    expect(guarded(failed)).toEqual({ ...failed, message: 'guard: h: late' });
    expect(guarded(invalid)).toEqual({ class: 'invalid', message: 'guard: a matrix' });
  });

  it('that is true in a partial answer makes the value partial', () => {
    expect(guarded(partial(1))).toEqual({ ...NUMBER, class: 'partial', why: 'guard: store down' });
    expect(guarded(partial(1), partial(7))).toMatchObject({ why: 'store down; guard: store down' });
  });

  it('does not change a metric whose own query failed', () => {
    expect(guarded(missing, failed)).toEqual(failed);
  });
});

describe('onMissing: zero next to a guard', () => {
  const metric = externalMetric({ onMissing: 'zero' });
  const sampleOf = (answer: Answer) =>
    toSample(metric, answer, { namespace: 'shop', workload: WORKLOAD, pods: [], now: T0, source: aSource() });

  it('reads no series as 0 if the guard is true, and as no value if it is not', () => {
    const good = sampleOf(guarded(vector(1), missing, true));
    const bad = sampleOf(guarded(missing, missing, true));

    expect([good, sampleOutcome(metric, good).kind]).toMatchObject([
      { failure: { reason: 'missing' } },
      'value',
    ]);
    expect([bad, sampleOutcome(metric, bad).kind]).toMatchObject([
      { failure: { reason: 'invalid' } },
      'broken',
    ]);
  });

  it('does not read no series as 0 if the guard is true on a partial answer', () => {
    expect(sampleOf(guarded(partial(1), missing, true))).toMatchObject({ failure: { reason: 'invalid' } });
  });

  it('does not read old data as 0', () => {
    expect(sampleOf(dated(missing, missing, true))).toMatchObject({ failure: { reason: 'invalid' } });
    expect(sampleOf(dated(vector(SECONDS - 121), missing, true))).toMatchObject({
      failure: { reason: 'invalid' },
    });
  });
});

describe('freshness', () => {
  it.each([0, 120, -1, -120])('with a sample %d s old is sufficient for 120 s', (age) => {
    expect(dated(vector(SECONDS - age))).toEqual(NUMBER);
  });

  it.each([
    [vector(SECONDS - 121), 'the newest sample is 121 s old, more than maxAgeSeconds (120)'],
    [vector(SECONDS - 120.2), 'the newest sample is 121 s old, more than maxAgeSeconds (120)'],
    [vector(SECONDS, SECONDS - 300), 'the newest sample is 300 s old, more than maxAgeSeconds (120)'],
    [
      vector(SECONDS + 121),
      'the newest sample is 121 s in the future: the clocks differ, or the freshness query does not return seconds',
    ],
    [missing, 'the age of the data is unknown: the freshness query returned no series'],
    [partial(), 'the age of the data is unknown: the freshness query returned no series'],
    [vector(NaN), 'the age of the data is unknown: the freshness query returned NaN'],
    [vector(SECONDS, Infinity), 'the age of the data is unknown: the freshness query returned Infinity'],
  ])('leaves the metric missing with %#', (freshness, message) => {
    expect(dated(freshness)).toEqual({ class: 'missing', message });
  });

  it('rejects a query that returns an age or milliseconds instead of a time', () => {
    expect(dated(vector(12))).toMatchObject({
      message: expect.stringContaining('the freshness query must return a time since 1970'),
    });
    expect(dated(vector(T0))).toMatchObject({ message: expect.stringContaining('does not return seconds') });
  });

  it('is relative to the evaluation time of the server, not to the local clock', () => {
    const late: Answer = {
      ...(vector(SECONDS + 400) as Extract<Answer, { class: 'value' }>),
      evaluatedAt: at(500),
    };

    expect(dated(late)).toEqual(NUMBER);
  });

  it('that failed fails the metric, and that of a partial answer makes it partial', () => {
    expect(dated(failed)).toEqual({ ...failed, message: 'freshness: h: late' });
    expect(dated(partial(SECONDS))).toMatchObject({ class: 'partial', why: 'freshness: store down' });
  });

  it('is checked after the guard, whose message is used', () => {
    const limits = { maxAgeSeconds: 120, isMissingZero: false };

    expect(applyChecks(limits, NUMBER, { guard: missing, freshness: missing })).toMatchObject({
      message: 'the guard is not true: no series',
    });
    expect(applyChecks(limits, NUMBER, { guard: partial(1), freshness: partial(SECONDS) })).toMatchObject({
      why: 'guard: store down; freshness: store down',
    });
  });
});

describe('a backlog', () => {
  const withBacklog = (backlog: Answer, answer = NUMBER): Answer =>
    applyChecks({ isMissingZero: false }, answer, { backlog });

  it('is the sum of its series, next to the value of the metric', () => {
    expect(withBacklog(vector(3, 4.5))).toEqual({ ...NUMBER, backlog: 7.5 });
    expect(withBacklog(vector(0))).toEqual({ ...NUMBER, backlog: 0 });
  });

  it('without a value leaves the metric without one, and is never 0', () => {
    expect(withBacklog(missing)).toEqual({ class: 'missing', message: 'backlog: no series' });
    expect(withBacklog(failed)).toEqual({ ...failed, message: 'backlog: h: late' });
    expect(withBacklog(invalid)).toEqual({ class: 'invalid', message: 'backlog: a matrix' });
    expect(withBacklog(vector(NaN))).toEqual({
      class: 'invalid',
      message: 'backlog: the value is NaN',
    });
    expect(withBacklog(vector(-1))).toMatchObject({ class: 'invalid' });
  });

  it('of a partial answer, or with some NaN, makes the metric partial', () => {
    expect(withBacklog(partial(2))).toMatchObject({
      class: 'partial',
      backlog: 2,
      why: 'backlog: store down',
    });
    expect(withBacklog(vector(2, NaN))).toMatchObject({
      class: 'partial',
      backlog: 2,
      why: 'backlog: 1 of 2 series are NaN',
    });
  });

  it('does not make a value of a rate that is missing', () => {
    expect(withBacklog(vector(5), missing)).toEqual(missing);
  });
});

describe('a capacity', () => {
  const withCapacity = (capacity: Answer): Answer =>
    applyChecks({ isMissingZero: false }, NUMBER, { capacity });

  it('above 0 is added to the answer', () => {
    expect(withCapacity(vector(8.5))).toEqual({ ...NUMBER, capacity: 8.5 });
    expect(withCapacity(partial(8.5))).toMatchObject({ class: 'partial', capacity: 8.5 });
  });

  it.each([
    ['no series', missing, 'no series'],
    ['a failure', failed, 'h: late'],
    ['two series', vector(8, 9), 'more than one series'],
    ['0', vector(0), 'the value 0 is not above 0'],
    ['NaN', vector(NaN), 'the value NaN is not above 0'],
    ['infinity', vector(Infinity), 'the value Infinity is not above 0'],
  ])('with %s leaves the target in effect, and the metric partial', (_name, capacity, why) => {
    expect(withCapacity(capacity)).toEqual({
      ...NUMBER,
      class: 'partial',
      why: `capacity: ${why}, so target.averageValue applies`,
    });
  });
});
