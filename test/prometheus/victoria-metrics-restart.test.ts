import { afterEach, describe, expect, it } from '@jest/globals';
import { createMetricSource } from '../../src/prometheus/metric-source.js';
import type { MetricHold } from '../../src/prometheus/recovery-hold.js';
import { addSeconds } from '../../src/units/time.js';
import { FakeCluster } from '../control/fake-cluster.js';
import { answerAndRun } from '../control/run-cycle.js';
import { buildScaler, settledMemory, Fixture } from '../control/fixture.js';
import { aSource } from '../support/builders.js';
import { remoteWrite, type WrittenSeries } from '../support/remote-write.js';
import { until } from '../support/until.js';
import { askAt, type RunningVictoriaMetrics, startVictoriaMetrics } from '../support/victoria-metrics.js';
import { type FakeServer, realClock, startRound, startServer } from './fakes.js';

/** Downloading VictoriaMetrics on a fresh machine counts toward the first test. */
const START_MS = 240_000;
/** Use more in a manual run; each takes 4 s. */
const KILLS = 2;
/** The recovery hold before a kill, so that the engine is soon older than it, and after a kill, however slow it is. */
const SHORT_HOLD_SECONDS = 2;
const LONG_HOLD_SECONDS = 60;
const REPLICAS = 6;
const ROUNDS_AFTER = 5;

const endings: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(endings.splice(0).map((end) => end()));
});

/** Six queues of ten messages each, and six targets that are up, for ten minutes until now. */
function history(names: readonly number[]): readonly WrittenSeries[] {
  // VictoriaMetrics evaluates at whole seconds, and somewhat in the past unless configured otherwise.
  const now = Date.now() / 1000 - 5;
  const seconds = Array.from({ length: 21 }, (_, index) => now - 600 + index * 30);
  return names.flatMap((name) => [
    {
      labels: { __name__: 'queue_messages', queue: `q${name}` },
      samples: seconds.map((second) => [second, 10] as const),
    },
    {
      labels: { __name__: 'up', instance: `i${name}` },
      samples: seconds.map((second) => [second, 1] as const),
    },
  ]);
}

/** The data of a fresh engine after it was scraped once. */
function beginning(): readonly WrittenSeries[] {
  return history([0]).map(({ labels, samples }) => ({ labels, samples: samples.slice(-1) }));
}

/** A gateway before the engine that serves only the API and hides the engine's own metrics. */
function gatewayTo(port: number): Promise<FakeServer> {
  return startServer((response, { url, form }) => {
    if (!url.startsWith('/api/v1/query')) {
      response.writeHead(404).end();
      return;
    }
    fetch(`http://127.0.0.1:${port}${url}`, { method: 'POST', body: form }).then(
      async (answer) => response.writeHead(answer.status).end(await answer.text()),
      () => response.writeHead(502).end(),
    );
  });
}

interface Service {
  readonly cluster: FakeCluster;
  readonly cycle: (recoveryHoldMaxSeconds: number) => Promise<void>;
  /** Advances past every hold, as if the metric had returned values for a long time. */
  readonly settle: () => void;
}

/** A service without stabilization and with one replica per ten messages that has run for a long time. */
function serviceOf(url: string): Service {
  const sources = new Map([['default', aSource({ urls: [url] })]]);
  const metrics = createMetricSource({ sources, clock: realClock, onQuery: () => undefined });
  const query = 'sum(queue_messages)';
  const scaler = buildScaler({
    syncPeriodSeconds: 1,
    metrics: [
      { external: { metric: { name: 'queue' }, query, target: { type: 'AverageValue', averageValue: 10 } } },
    ],
  });
  const { signal } = new AbortController();
  const fixture = new Fixture();
  const cluster = new FakeCluster();
  cluster.setReplicas(REPLICAS);
  cluster.statusReplicas = REPLICAS;
  let memory = settledMemory();
  return {
    cluster,
    cycle: async (recoveryHoldMaxSeconds) => {
      const answers = startRound(metrics, [scaler], signal);
      const input = { scaler, memory, now: realClock.now(), answers, signal };
      const ports = { ...fixture.ports(), clock: realClock, cluster, sources, recoveryHoldMaxSeconds };
      ({ memory } = await answerAndRun(input, ports));
    },
    settle: () => {
      const since = addSeconds(realClock.now(), -3600);
      const settled = (hold: MetricHold): MetricHold => ({ ...hold, valuesSince: since });
      memory = { ...memory, holds: memory.holds.map((held) => ({ ...held, hold: settled(held.hold) })) };
    },
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until written samples are visible. */
async function visible(engine: RunningVictoriaMetrics): Promise<void> {
  await engine.flush();
  const isThere = async (): Promise<boolean> =>
    Object.keys(await askAt(engine.url, 'queue_messages', Date.now() / 1000)).length > 0;
  await until(isThere, 'the written samples');
}

/** Kills and empties the engine between two rounds, and returns the counts of all scale-downs. */
async function loweringsAround(kills: number, hasGateway: boolean): Promise<readonly number[]> {
  let engine: RunningVictoriaMetrics = await startVictoriaMetrics();
  const { port } = engine;
  endings.push(() => engine.kill());
  const gateway = hasGateway ? await gatewayTo(port) : null;
  if (gateway !== null) endings.push(gateway.close);
  const service = serviceOf(gateway?.url ?? engine.url);
  const lowerings: number[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    service.cluster.setReplicas(REPLICAS);
    await remoteWrite(engine.url, history([0, 1, 2, 3, 4, 5]));
    await visible(engine);
    // Wait until the engine itself is older than the hold.
    await pause((SHORT_HOLD_SECONDS + 1) * 1000 - (hasGateway ? 2500 : 0));
    await service.cycle(SHORT_HOLD_SECONDS);
    service.settle();
    await service.cycle(SHORT_HOLD_SECONDS);
    const before = service.cluster.arrived.length;
    // Between two rounds: a query in the meantime would fail or return nothing, which is a gap in itself.
    await engine.kill();
    engine = await startVictoriaMetrics({ port });
    await remoteWrite(engine.url, beginning());
    await visible(engine);
    for (let round = 0; round < ROUNDS_AFTER; round += 1) await service.cycle(LONG_HOLD_SECONDS);
    lowerings.push(...service.cluster.arrived.slice(before).map(({ replicas }) => replicas));
  }
  return lowerings;
}

describe('a VictoriaMetrics that is killed, emptied and restarted at once', () => {
  it(
    'does not scale down a target without stabilization: it reports its start in its metrics',
    async () => {
      await expect(loweringsAround(KILLS, false)).resolves.toEqual([]);
    },
    START_MS,
  );

  it(
    'does not scale down a target without stabilization if a gateway hides its metrics: it has lost its earlier targets',
    async () => {
      await expect(loweringsAround(KILLS, true)).resolves.toEqual([]);
    },
    START_MS,
  );
});
