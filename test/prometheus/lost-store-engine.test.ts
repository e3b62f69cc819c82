import { afterEach, describe, expect, it } from '@jest/globals';
import { createMetricSource } from '../../src/prometheus/metric-source.js';
import { Fixture } from '../control/fixture.js';
import { aSource } from '../support/builders.js';
import { startFilled } from '../support/filled-server.js';
import type { WrittenSeries } from '../support/remote-write.js';
import { startRound, startServer } from './fakes.js';

/*
 * A real Prometheus that loses a part of its data represents the stores of a Thanos, which does not report since when it
 * stores data and is compared with its own past.
 */

/** Downloading the programs on a fresh machine counts toward the first test. */
const START_MS = 240_000;
const TARGETS = 10;
const PERIOD_SECONDS = 15;
/** Rounds until a rate over one minute can be trusted after the start of promscaler. */
const FIRST_ROUNDS = 10;
/** The clock of the rounds runs ahead of that of Prometheus, which may differ by 120 s. */
const BEHIND_SECONDS = 100;

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function filledSeries(): readonly WrittenSeries[] {
  const nowSeconds = Date.now() / 1000;
  const ages = Array.from({ length: 81 }, (_, index) => 2402 - 30 * index);
  const samplesOf = (valueAt: (age: number) => number): WrittenSeries['samples'] =>
    ages.map((age) => [nowSeconds - age, valueAt(age)]);
  return Array.from({ length: TARGETS }, (_, index) => `10.0.0.${index}:80`).flatMap((instance) => [
    { labels: { __name__: 'up', job: 'jobs', instance }, samples: samplesOf(() => 1) },
    { labels: { __name__: 'jobs', job: 'jobs', instance }, samples: samplesOf((age) => 10 * (3000 - age)) },
  ]);
}

async function startPrometheus(): Promise<string> {
  const { url, stop } = await startFilled('Prometheus', filledSeries());
  cleanups.push(stop);
  return url;
}

async function deleteSeries(url: string, selector: string): Promise<void> {
  const query = new URLSearchParams({ 'match[]': selector });
  const response = await fetch(`${url}/api/v1/admin/tsdb/delete_series?${query.toString()}`, {
    method: 'POST',
  });
  expect(response.status).toBe(204);
}

/** A querier of Thanos that asks this Prometheus, and lists a store for each name in `stores`. */
async function startThanos(prometheus: string, stores: ReadonlySet<string>): Promise<string> {
  const { url, close } = await startServer((response, asked) => {
    if (asked.url === '/api/v1/stores') {
      const sidecar = [...stores].map((name) => ({
        name: `${name}:10901`,
        lastError: null,
        labelSets: [{ cluster: name }],
        minTime: 0,
        maxTime: Number.MAX_SAFE_INTEGER,
      }));
      response.end(JSON.stringify({ status: 'success', data: { sidecar } }));
      return;
    }
    void fetch(
      `${prometheus}${asked.url}`,
      asked.method === 'POST' ? { method: 'POST', body: asked.form } : {},
    )
      .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
      .catch(() => response.destroy());
  });
  cleanups.push(close);
  return url;
}

/** A scaler with one replica for each target, of 10 jobs each, that has run for some minutes. */
async function runningOn(url: string) {
  const fixture = new Fixture({
    metrics: [
      {
        type: 'External',
        external: {
          metric: { name: 'jobs' },
          query: 'sum(rate(jobs[1m]))',
          target: { type: 'AverageValue', averageValue: 10 },
        },
      },
    ],
  });
  fixture.clock.jump((Date.now() - fixture.clock.now()) / 1000 - BEHIND_SECONDS);
  fixture.recoveryHoldMaxSeconds = 900;
  fixture.cluster.setReplicas(TARGETS);
  fixture.cluster.statusReplicas = TARGETS;
  const source = aSource({ urls: [url], flavor: 'thanos', ifVictoriaMetrics: null, maxSampleAgeSeconds: 0 });
  const metrics = createMetricSource({
    sources: new Map([['default', source]]),
    clock: fixture.clock,
    onQuery: ({ failure }) => {
      if (failure !== null) throw new Error(failure.message);
    },
  });
  /** Returns the replicas after a round, and why scale-down is held. */
  const round = async () => {
    fixture.clock.advance(PERIOD_SECONDS * 1000);
    const { record } = await fixture.cycle({ answers: startRound(metrics, [fixture.scaler]) });
    return [fixture.cluster.specReplicas, record.snapshot?.state.holdReason ?? null] as const;
  };
  for (let index = 0; index < FIRST_ROUNDS; index += 1) await round();
  expect(await round()).toEqual([TARGETS, null]);
  return round;
}

describe('a Prometheus behind a Thanos', () => {
  it.each([
    [5, '5 of 10'],
    [1, '9 of 10'],
  ])(
    'that loses the data of %i of 10 targets holds scale-down',
    async (lost, left) => {
      const prometheus = await startPrometheus();
      const round = await runningOn(prometheus);

      await deleteSeries(prometheus, `{instance=~"10.0.0.[0-${lost - 1}]:80"}`);

      const why = expect.stringContaining(`the data source has lost earlier data (${left} targets are left)`);
      for (let index = 0; index < 3; index += 1) expect(await round()).toEqual([TARGETS, why]);
    },
    START_MS,
  );

  it(
    'whose metric falls without a loss of targets scales down',
    async () => {
      const prometheus = await startPrometheus();
      const round = await runningOn(prometheus);

      await deleteSeries(prometheus, 'jobs{instance=~"10.0.0.[0-4]:80"}');

      expect(await round()).toEqual([5, null]);
    },
    START_MS,
  );

  it(
    'that no longer lists a store holds scale-down, although no target is missing',
    async () => {
      const prometheus = await startPrometheus();
      const stores = new Set(['a', 'b']);
      const round = await runningOn(await startThanos(prometheus, stores));

      stores.delete('b');
      await deleteSeries(prometheus, 'jobs{instance=~"10.0.0.[0-4]:80"}');

      const why = expect.stringContaining('the store b:10901 of the data source is gone');
      expect(await round()).toEqual([TARGETS, why]);
    },
    START_MS,
  );
});
