import { afterEach, expect, it } from '@jest/globals';
import type { LoadHistory } from '../../../src/decision/snapshot/snapshot.js';
import { createMetricSource } from '../../../src/prometheus/metric-source.js';
import { addSeconds } from '../../../src/units/time.js';
import { aSource, scalerOf } from '../../support/builders.js';
import { eventually } from '../../support/manual-clock.js';
import { type FakeServer, realClock, startRound, startServer } from '../fakes.js';

const MIB = 1024 * 1024;
const servers: FakeServer[] = [];
let stop = new AbortController();

afterEach(async () => {
  stop.abort();
  stop = new AbortController();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Returns the history from a server whose answers to range queries have `bytes` bytes. */
async function historyWith(bytes: number): Promise<LoadHistory> {
  let answers = 0;
  const server = await startServer((response, { url, form }) => {
    response.setHeader('Content-Type', 'application/json');
    if (!url.includes('query_range')) {
      response.end('{"status":"success","data":{"resultType":"vector","result":[]}}');
      return;
    }
    const [start, end] = ['start', 'end'].map((name) => Number(form.get(name)));
    const values: [number, string][] = [];
    for (let at = start ?? 0; at <= (end ?? 0); at += 60) values.push([at, '7']);
    const result = [{ metric: {}, values }];
    const body = JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } });
    response.end(body.padEnd(bytes, ' '));
    answers += 1;
  });
  servers.push(server);
  const scaler = scalerOf({
    scaleTargetRef: { name: 'web' },
    maxReplicas: 20,
    metrics: [{ external: { metric: { name: 'load' }, query: 'sum(load)', target: { averageValue: 10 } } }],
    forecast: { lead: '120s' },
  });
  const metrics = createMetricSource({
    sources: new Map([['default', aSource({ urls: [server.url] })]]),
    clock: realClock,
    onQuery: () => undefined,
  });
  metrics.setScalers([scaler]);
  // What is known is looked up once a minute.
  for (let minute = 0; minute < 100; minute += 1) {
    const round = startRound(metrics, [scaler], stop.signal);
    await round.of(scaler);
    const now = addSeconds(realClock.now(), 60 * minute);
    const history = round.loadHistory(scaler, { now, podStartSeconds: 60 });
    if (history !== undefined) return history;
    const asked = answers;
    // It may have arrived before it is waited for.
    const lastMs = performance.now() + 100;
    await eventually(() => answers > asked || performance.now() > lastMs);
  }
  throw new Error('the history is not known');
}

it('uses an answer of 1 MiB', async () => {
  expect(await historyWith(MIB)).toMatchObject({ highest: 7, unusable: null });
});

it('does not use an answer of more than 1 MiB', async () => {
  expect(await historyWith(MIB + 1)).toMatchObject({
    seasons: [],
    unusable: expect.stringContaining('the answer is larger than maxAnswerBytes (1 MiB)'),
  });
});
