import { describe, expect, it } from '@jest/globals';
import type { BackTestResult } from '../../src/recommendations/back-test.js';
import {
  createRecommendations,
  type RecommendationPorts,
  type Recommendations,
} from '../../src/recommendations/recommendations.js';
import type { Scaler } from '../../src/scaler/spec.js';
import { formatInstant } from '../../src/units/time.js';
import { aScaler, aSource, cpuMetric } from '../support/builders.js';
import { ManualClock, settle } from '../support/manual-clock.js';

const CONFIG = {
  days: 7,
  schedule: '0 0 * * *',
  timeZone: 'UTC',
  spreadMinutes: 360,
  cpuPercent: 20,
  events: true,
};
const HOURLY = { ...CONFIG, schedule: '0 * * * *', spreadMinutes: 1 };
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const named = (name: string): Scaler => aScaler([cpuMetric], 'shop', name);
const NOTHING: BackTestResult = { why: 'nothing' };

function proposing(proposed: string): BackTestResult {
  const at = new ManualClock('2026-01-01T00:00:00Z').now();
  return {
    suggestion: {
      from: at,
      to: at,
      reason: 'it saves 12 %',
      changes: [{ field: 'spec.maxReplicas', current: '20', proposed }],
      patch: `{"spec":{"maxReplicas":${proposed}}}`,
      saving: { percent: 12, lowest: 9, highest: 14 },
      thetaU: { current: 1, proposed: 1 },
    },
  };
}

interface Fixture extends Recommendations {
  readonly clock: ManualClock;
  /** Times and names. */
  readonly begun: string[];
  readonly kept: string[];
  readonly events: string[];
  readonly published: string[];
  readonly stopped: string[];
  readonly faults: unknown[];
  readonly end: () => Promise<void>;
  readonly pass: (minutes: number) => Promise<void>;
}

/** Begins a term. A back-test takes `minutes` and returns `result`. */
function setUp(
  over: Partial<RecommendationPorts> & {
    readonly begin?: string;
    readonly minutes?: number;
    readonly result?: BackTestResult;
  } = {},
): Fixture {
  const { begin = '2026-01-01T00:00:00Z', minutes = 5, result = NOTHING, ...ports } = over;
  const clock = new ManualClock(begin);
  const [begun, kept, stopped]: [string[], string[], string[]] = [[], [], []];
  const [events, published]: [string[], string[]] = [[], []];
  const faults: unknown[] = [];
  const recommendations = createRecommendations({
    config: CONFIG,
    clock,
    log: {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: (_, facts) => void faults.push(facts),
    },
    historyOf: () => ({
      config: aSource(),
      queryRange: () => Promise.resolve({ class: 'failed', reason: 'timeout', message: 'timeout' }),
    }),
    isFailing: () => false,
    keep: (scaler) => {
      kept.push(scaler.name);
      return true;
    },
    publish: ({ name }, message) => void published.push(`${name}: ${message}`),
    sendEvent: ({ name }, message) => {
      events.push(`${name}: ${message}`);
      return Promise.resolve();
    },
    backTest: ({ name }, _range, { signal }) => {
      begun.push(`${formatInstant(clock.now()).slice(8, 16)} ${name}`);
      return new Promise((resolve) => {
        clock.after(minutes * 60_000, () => resolve(result));
        signal.addEventListener('abort', () => {
          stopped.push(name);
          resolve(null);
        });
      });
    },
    ...ports,
  });
  const ending = new AbortController();
  const running = recommendations.run(ending.signal);
  return {
    ...recommendations,
    ...{ clock, begun, kept, stopped, events, published, faults },
    end: () => {
      ending.abort();
      return running;
    },
    pass: async (passed) => {
      await settle();
      for (let second = 0; second < passed * 60; second += 30) await clock.advanceAndSettle(30_000);
    },
  };
}

describe('createRecommendations', () => {
  it('back-tests each document once a night, at its own time within 360 minutes', async () => {
    const fixture = setUp();
    fixture.setScalers(NAMES.map(named));

    await fixture.pass(360);
    const [firstNight, kept] = [[...fixture.begun], [...fixture.kept]];
    await fixture.pass(24 * 60);
    await fixture.end();

    expect(kept.toSorted()).toEqual(NAMES);
    expect(new Set(firstNight.map((text) => text.slice(3, 5))).size).toBeGreaterThan(2);
    // The next night has the same times.
    expect(fixture.begun.slice(6).map((text) => text.slice(2))).toEqual(
      firstNight.map((text) => text.slice(2)),
    );
  });

  it('begins the next night with the documents that were not reached', async () => {
    const fixture = setUp({ minutes: 100 });
    fixture.setScalers(NAMES.map(named));

    await fixture.pass(24 * 60);
    const reached = new Set(fixture.kept);
    await fixture.pass(24 * 60);
    await fixture.end();

    expect(reached.size).toBeLessThan(5);
    expect(new Set(fixture.kept)).toEqual(new Set(NAMES));
  });

  it.each<[string, (fixture: Fixture) => void | Promise<void>]>([
    ['the term ends', (fixture) => fixture.end()],
    ['the document changes', (fixture) => fixture.setScalers([named('a')])],
    ['the document is removed, or decided by another replica', (fixture) => fixture.setScalers([])],
  ])('stops a back-test without a result when %s', async (_, change) => {
    const fixture = setUp({ minutes: 400 });
    fixture.setScalers([named('a')]);
    await fixture.pass(359);
    const before = [...fixture.stopped];

    await change(fixture);
    const after = [...fixture.stopped];
    await fixture.end();

    expect([fixture.begun.length > 0, before, after, fixture.kept]).toEqual([true, [], ['a'], []]);
  });

  it('ends with the term although a back-test does not, and the next term waits for that', async () => {
    let release = (): void => undefined;
    const fixture = setUp({
      config: HOURLY,
      backTest: ({ name }) => {
        fixture.begun.push(name);
        return new Promise((resolve) => (release = () => resolve(NOTHING)));
      },
    });
    fixture.setScalers([named('a')]);
    await fixture.pass(1);

    await fixture.end();
    const ending = new AbortController();
    const nextTerm = fixture.run(ending.signal);
    await fixture.pass(65);
    const meanwhile = [...fixture.begun];
    release();
    await fixture.pass(65);
    ending.abort();
    await nextTerm;

    expect([meanwhile, fixture.begun, fixture.kept]).toEqual([['a'], ['a', 'a'], []]);
  });

  it('keeps a back-test running when another document changes', async () => {
    const scaler = named('a');
    const fixture = setUp({ minutes: 30 });
    fixture.setScalers([scaler]);
    while (fixture.begun.length === 0) await fixture.pass(1);

    fixture.setScalers([scaler, named('b')]);
    await fixture.pass(31);
    await fixture.end();

    expect(fixture.kept).toContain('a');
  });

  it.each<[string, boolean, readonly BackTestResult[], readonly string[]]>([
    [
      'once while the change stays the same',
      true,
      [proposing('15'), proposing('15')],
      ['a: spec.maxReplicas: 20 -> 15: it saves 12 %'],
    ],
    [
      'again when it differs',
      true,
      [proposing('15'), proposing('16')],
      ['a: spec.maxReplicas: 20 -> 15: it saves 12 %', 'a: spec.maxReplicas: 20 -> 16: it saves 12 %'],
    ],
    ['never without a change', true, [NOTHING, NOTHING], []],
    ['never without `events`', false, [proposing('15'), proposing('16')], []],
  ])('records an Event %s', async (_, events, nights, expected) => {
    const results = [...nights];
    const fixture = setUp({
      config: { ...HOURLY, events },
      backTest: () => Promise.resolve(results.shift() ?? NOTHING),
    });
    fixture.setScalers([named('a')]);

    await fixture.pass(90);
    await fixture.end();

    expect([results.length, fixture.events]).toEqual([0, expected]);
    // Receivers of notifications and clients of the API choose themselves.
    if (events) expect(fixture.published).toEqual(expected);
    else expect(fixture.published).toHaveLength(2);
  });

  it('records an Event in the next night if the target could not be read', async () => {
    let nights = 0;
    const fixture = setUp({
      config: HOURLY,
      backTest: () => Promise.resolve(proposing('15')),
      sendEvent: () => (++nights === 1 ? Promise.reject(new Error('forbidden')) : Promise.resolve()),
    });
    fixture.setScalers([named('a')]);

    await fixture.pass(150);
    await fixture.end();

    expect([nights, fixture.faults]).toEqual([2, []]);
  });

  it('records no Event for a document that has changed meanwhile', async () => {
    const fixture = setUp({
      config: HOURLY,
      backTest: () => Promise.resolve(proposing('15')),
      keep: () => false,
    });
    fixture.setScalers([named('a')]);

    await fixture.pass(30);
    await fixture.end();

    expect(fixture.events).toEqual([]);
  });

  it('starts nothing outside of the night', async () => {
    const fixture = setUp({ begin: '2026-01-01T06:00:00Z' });
    fixture.setScalers(NAMES.map(named));

    await fixture.pass(18 * 60 - 1);
    await fixture.end();

    expect(fixture.begun).toEqual([]);
  });

  it('starts nothing while a data source of the document does not answer', async () => {
    let isFailing = true;
    const fixture = setUp({ isFailing: () => isFailing });
    fixture.setScalers([named('a')]);
    await fixture.pass(350);
    const before = fixture.begun.length;

    isFailing = false;
    await fixture.pass(2);
    await fixture.end();

    expect([before, fixture.begun.length]).toEqual([0, 1]);
  });

  it('rests for 15 minutes after a query has failed, and does not repeat that back-test in the same night', async () => {
    const fixture = setUp({
      begin: '2026-01-01T05:30:00Z',
      backTest: async ({ name }, { start: from, end }, { queryRange, signal }) => {
        const query = { query: 'up', start: from, end, stepSeconds: 30 };
        const answer = await queryRange('default', query, signal);
        fixture.begun.push(`${formatInstant(fixture.clock.now()).slice(8, 16)} ${name}`);
        return { why: answer.class === 'failed' ? answer.message : 'answered' };
      },
    });
    fixture.setScalers(NAMES.map(named));

    await fixture.pass(30);
    await fixture.end();

    expect(fixture.begun.map((text) => text.slice(3, 8))).toEqual(['05:30', '05:45']);
  });

  it('goes on with the next document after an internal error', async () => {
    const fixture = setUp({
      begin: '2026-01-01T05:59:00Z',
      backTest: () => Promise.reject(new Error('defect')),
    });
    fixture.setScalers([named('a'), named('b')]);

    await fixture.pass(1);
    await fixture.end();

    expect(fixture.faults.map((facts) => (facts as { readonly scaler: string }).scaler).toSorted()).toEqual([
      'shop/a',
      'shop/b',
    ]);
  });
});
