import { describe, expect, it } from '@jest/globals';
import { EMPTY_STATE } from '../../src/decision/snapshot/snapshot.js';
import { describeFailure, failed, type Failure } from '../../src/units/failure.js';
import type { Scaler } from '../../src/scaler/spec.js';
import type { CycleRecord } from '../../src/telemetry/cycle-record.js';
import { logCycle } from '../../src/telemetry/cycle-log.js';
import { createLedger } from '../../src/telemetry/ledger.js';
import { createOutages, dataSourceId } from '../../src/telemetry/outages.js';
import type { Facts, Log } from '../../src/units/log.js';
import { ManualClock } from '../support/manual-clock.js';
import { condition, decision, metricResult, record, scaler } from './record-builder.js';

const DEFAULT = dataSourceId('default');
const URLS = ['http://prometheus:9090'];
const REFUSED = 'POST http://prometheus:9090/api/v1/query: connect ECONNREFUSED';

type Line = readonly [level: string, message: string, facts: Facts];

/** Scalers whose cycles are logged, with the reports of the queries of their data source. */
class OutageFixture {
  readonly clock = new ManualClock();
  readonly lines: Line[] = [];
  readonly #log: Log;
  readonly outages;
  readonly #ledger = createLedger();

  constructor() {
    const write =
      (level: string) =>
      (message: string, facts: Facts = {}): void =>
        void this.lines.push([level, message, facts]);
    this.#log = { debug: () => undefined, info: write('info'), warn: write('warn'), error: write('error') };
    this.outages = createOutages(new Map([['default', { urls: URLS }]]), this.clock, this.#log);
  }

  /** A report of a query that took 1 ms. */
  query(failure: string | null, seconds = 0.001): void {
    const reported = failure === null ? null : failed('connection', failure);
    this.outages.observeQuery({ source: 'default', seconds, failure: reported });
  }

  cycle(one: CycleRecord): void {
    const { before, after } = this.#ledger.add(one);
    logCycle({ log: this.#log, outages: this.outages }, before, after);
  }

  /** Starts a round, reports one query with its result, and runs the cycle of each scaler. */
  round(scalers: readonly Scaler[], make: (one: Scaler) => CycleRecord, failure: string | null): void {
    this.clock.advance(15_000);
    this.outages.startRound();
    this.query(failure);
    for (const one of scalers) this.cycle(make(one));
    this.clock.advance(2000);
  }

  messages(): readonly string[] {
    return this.lines.map(([, message]) => message);
  }
}

function fleet(count: number): readonly Scaler[] {
  return Array.from({ length: count }, (_, index) => scaler(`web-${index}`));
}

const healthy = (one: Scaler): CycleRecord =>
  record({
    scaler: one,
    decision: decision({ metrics: [metricResult()] }),
    conditions: [condition(), condition({ type: 'ScalingActive', reason: 'ValidMetricFound' })],
  });

function failingWith(error: Failure): (one: Scaler) => CycleRecord {
  return (one) =>
    record({
      scaler: one,
      decision: decision({ metrics: [metricResult({ error, proposal: null })] }),
      snapshot: {
        scaler: one.spec,
        now: record().at,
        target: { specReplicas: 3, statusReplicas: 3 },
        pods: [],
        samples: [{ form: 'error', failure: error }],
        state: EMPTY_STATE,
      } as unknown as CycleRecord['snapshot'],
      conditions: [
        condition(),
        condition({
          type: 'ScalingActive',
          status: 'False',
          reason: 'FailedGetResourceMetric',
          message: describeFailure(error),
        }),
      ],
    });
}

const unanswered = failingWith({ ...failed('connection', REFUSED), source: 'default' });

describe('the log of an outage of a data source', () => {
  it('has one line when it begins and one when it ends, for 1,000 scalers over 4 rounds', () => {
    const fixture = new OutageFixture();
    const scalers = fleet(1000);
    fixture.round(scalers, healthy, null);

    for (let round = 0; round < 4; round += 1) fixture.round(scalers, unanswered, REFUSED);
    fixture.round(scalers, healthy, null);

    expect(fixture.lines).toEqual([
      ['warn', 'data source failed', { source: 'default', urls: URLS, error: REFUSED }],
      [
        'info',
        'data source answers again',
        {
          source: 'default',
          urls: URLS,
          since: '2026-01-01T00:00:32Z',
          seconds: 68,
          scalers: 1000,
        },
      ],
    ]);
  });

  it('has the line also at the start of the service, when nothing has answered yet', () => {
    const fixture = new OutageFixture();

    fixture.round(fleet(30), unanswered, REFUSED);

    expect(fixture.messages()).toEqual(['data source failed']);
    expect(fixture.outages.since(DEFAULT)).toBe(fixture.clock.now() - 2000);
  });

  it('has lines for the scaler whose metric has no value after the outage, either', () => {
    const fixture = new OutageFixture();
    const [web, api] = fleet(2);
    if (web === undefined || api === undefined) throw new Error('two scalers');
    fixture.round([web, api], unanswered, REFUSED);
    fixture.lines.length = 0;

    fixture.round(
      [web, api],
      (one) => (one === web ? healthy(one) : failingWith(failed('missing', 'no series'))(one)),
      null,
    );

    expect(fixture.messages()).toEqual(['data source answers again', 'metric has no value']);
    expect(fixture.lines[1]?.[2]).toMatchObject({ scaler: 'shop/web-1', error: 'no series' });
  });

  it('has the lines of a scaler whose own query fails while the source answers those of others', () => {
    const fixture = new OutageFixture();
    const [web, api] = fleet(2);
    if (web === undefined || api === undefined) throw new Error('two scalers');
    fixture.outages.startRound();
    fixture.query('timeout after 7500 ms', 7.5);
    fixture.cycle(unanswered(web));
    expect(fixture.lines).toEqual([]);

    fixture.query(null);
    fixture.cycle(healthy(api));
    fixture.clock.advance(2000);
    fixture.cycle(healthy(web));

    expect(fixture.messages()).toEqual(['metric has no value', 'metric has a value again']);
  });

  it.each([
    [20, 20, 'metric has no value'],
    [21, 1, 'data source answers only some of the requests'],
  ])(
    'of a source that answers some, but not those of %d scalers, has %d lines: %s',
    (count, lines, first) => {
      const fixture = new OutageFixture();

      fixture.outages.startRound();
      fixture.query(null);
      fixture.query('timeout after 7500 ms', 7.5);
      for (const one of fleet(count)) fixture.cycle(unanswered(one));
      fixture.clock.advance(2000);

      expect(fixture.lines).toHaveLength(lines);
      expect(fixture.messages()[0]).toBe(first);
    },
  );

  it('has the lines of a query that the source rejects', () => {
    const fixture = new OutageFixture();

    fixture.round(fleet(1), unanswered, null);

    expect(fixture.messages()).toEqual(['metric has no value']);
  });

  it('has the lines of metrics without series, at once', () => {
    const fixture = new OutageFixture();

    for (const one of fleet(30)) fixture.cycle(failingWith(failed('missing', 'no series'))(one));

    expect(fixture.lines).toHaveLength(30);
  });
});

describe('the log of an outage of the API server', () => {
  it('has one line, and none for each target that could not be read', () => {
    const fixture = new OutageFixture();
    const unread = (one: Scaler): CycleRecord =>
      record({
        scaler: one,
        decision: null,
        conditions: [condition({ status: 'False', reason: 'FailedGetScale', message: 'timeout' })],
      });

    fixture.outages.startRound();
    fixture.outages.observeRequest({
      verb: 'get',
      resource: 'deployments/scale',
      code: 'timeout',
      seconds: 10,
    });
    for (const one of fleet(100)) fixture.cycle(unread(one));
    fixture.clock.advance(2000);

    expect(fixture.lines).toEqual([
      ['warn', 'API server failed', { error: 'get deployments/scale: timeout' }],
    ]);
  });
});
