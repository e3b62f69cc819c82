import { describe, expect, it } from '@jest/globals';
import { createMetricSource } from '../../src/prometheus/metric-source.js';
import { formatInstant } from '../../src/units/time.js';
import { Fixture } from '../control/fixture.js';
import { aSource, at } from '../support/builders.js';
import { startRound, vectorBody } from './fakes.js';
import { serve } from './served.js';

/** A Prometheus whose data allows `load / 10` replicas. */
interface Engine {
  load: number;
  /** When it started, in seconds after the start of the fixture. */
  startSeconds: number;
  answersQueries: boolean;
  /** Whether it answers anything but the query of the metric. */
  answersPages: boolean;
  /** Number of targets; null: it reports its start time instead. */
  targets: number | null;
}

/** A scaler with 6 replicas that has run for long on data of two engines, of which B is tried after A. */
async function setUp(given: { readonly a?: Partial<Engine>; readonly b?: Partial<Engine> } = {}) {
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
  fixture.recoveryHoldMaxSeconds = 900;
  fixture.cluster.setReplicas(6);
  fixture.cluster.statusReplicas = 6;
  const usual = { load: 60, startSeconds: -9000, answersQueries: true, answersPages: true, targets: null };
  const a: Engine = { ...usual, ...given.a };
  const b: Engine = { ...usual, ...given.b };
  const urls: string[] = [];
  for (const engine of [a, b]) {
    const server = await serve((response, { url, form }) => {
      const query = form.get('query') ?? '';
      const isMetric = query.includes('jobs');
      if (!(isMetric ? engine.answersQueries : engine.answersPages)) {
        // A 503 to a page would be retried after a pause, for which this clock does not advance.
        response.writeHead(isMetric ? 503 : 429).end('no backend');
        return;
      }
      const seconds = fixture.clock.now() / 1000;
      const { targets } = engine;
      if (isMetric) response.end(vectorBody([{ labels: {}, value: engine.load }], seconds));
      else if (query !== '') {
        const one = { labels: {}, value: targets ?? 0 };
        const both = query.includes('before') ? [one, { ...one, labels: { at: 'before' } }] : [one];
        response.end(vectorBody(both, seconds));
      } else if (url === '/api/v1/status/runtimeinfo' && targets === null) {
        const data = { startTime: formatInstant(at(engine.startSeconds)), storageRetention: '15d' };
        response.end(JSON.stringify({ status: 'success', data }));
      } else response.writeHead(404).end();
    });
    urls.push(server.url);
  }
  const metrics = createMetricSource({
    sources: new Map([['default', aSource({ urls, maxSampleAgeSeconds: 0 })]]),
    clock: fixture.clock,
    onQuery: () => undefined,
  });
  const heldBecause = async (): Promise<string | null> => {
    fixture.clock.advance(15_000);
    const answers = startRound(metrics, [fixture.scaler]);
    const { record } = await fixture.cycle({ answers });
    fixture.cluster.statusReplicas = fixture.cluster.specReplicas;
    return record.snapshot?.state.holdReason ?? null;
  };
  const rounds = async (count: number): Promise<readonly number[]> => {
    const counts: number[] = [];
    for (let index = 0; index < count; index += 1) {
      await heldBecause();
      counts.push(fixture.cluster.specReplicas);
    }
    return counts;
  };
  await rounds(10);
  return { fixture, a, b, rounds, heldBecause, hosts: urls.map((url) => new URL(url).host) };
}

describe('the age of an answer of one of several urls', () => {
  it('is that of A if A has restarted without its data, answers the query, and is down when its age is read', async () => {
    const { fixture, a, rounds, heldBecause, hosts } = await setUp();
    Object.assign(a, { load: 20, startSeconds: fixture.clock.monotonicMs() / 1000, answersPages: false });

    await expect(rounds(10)).resolves.toEqual(Array(10).fill(6));
    await expect(heldBecause()).resolves.toContain(`it is unknown whether ${hosts[0]} has lost data`);
  });

  it('is that of A if A has restarted without its data, which the reason names', async () => {
    const { fixture, a, rounds, heldBecause, hosts } = await setUp();
    Object.assign(a, { load: 20, startSeconds: fixture.clock.monotonicMs() / 1000 });

    await expect(heldBecause()).resolves.toContain(`the server ${hosts[0]} started at`);
    await expect(rounds(6)).resolves.toEqual(Array(6).fill(6));
  });

  it('is that of A if A flaps: each of its low values is held, and none of B scales down', async () => {
    const { fixture, a, rounds } = await setUp();
    Object.assign(a, { load: 20, startSeconds: fixture.clock.monotonicMs() / 1000 });
    const counts: number[] = [];
    for (let index = 0; index < 8; index += 1) {
      a.answersQueries = index % 3 !== 2;
      a.answersPages = index % 2 === 0;
      counts.push(...(await rounds(1)));
    }

    expect(counts).toEqual(Array(8).fill(6));
  });

  it('holds while both are young', async () => {
    const { fixture, a, b, rounds } = await setUp();
    const startSeconds = fixture.clock.monotonicMs() / 1000;
    Object.assign(a, { load: 20, startSeconds, answersQueries: false });
    Object.assign(b, { load: 20, startSeconds });

    await expect(rounds(7)).resolves.toEqual(Array(7).fill(6));
  });

  it('is that of B alone while A, which has just restarted, answers no query', async () => {
    const { fixture, a, b, rounds } = await setUp();
    Object.assign(a, { startSeconds: fixture.clock.monotonicMs() / 1000, answersQueries: false });
    b.load = 20;

    await expect(rounds(1)).resolves.toEqual([2]);
  });

  it('holds nothing if A has 9 targets and B has 10, whichever answers', async () => {
    const { a, heldBecause } = await setUp({ a: { targets: 9 }, b: { targets: 10 } });
    const reasons: (string | null)[] = [];
    for (let index = 0; index < 12; index += 1) {
      a.answersQueries = a.answersPages = index % 4 < 2;
      reasons.push(await heldBecause());
    }

    expect(reasons).toEqual(Array(12).fill(null));
  });
});
