import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { findPrometheus } from '../../../src/cli/demo/programs/prometheus-release.js';
import { type RunningPrometheus, startPrometheus } from '../../../src/cli/demo/programs/prometheus-server.js';
import { createMetricSource } from '../../../src/prometheus/metric-source.js';
import { aSource, scalerOf } from '../../support/builders.js';
import { eventually } from '../../support/manual-clock.js';
import { remoteWrite, type WrittenSeries } from '../../support/remote-write.js';
import { type RunningVictoriaMetrics, startVictoriaMetrics } from '../../support/victoria-metrics.js';
import { realClock, startRound } from '../fakes.js';

/** Downloading the programs on a fresh machine counts toward the first test. */
const START_MS = 240_000;
const now = Math.floor(Date.now() / 1000) - 2;
const SECONDS = Array.from({ length: 41 }, (_, index) => now - 600 + index * 15);
const CORES = 0.8;
const BYTES = 1000;

type Labels = Readonly<Record<string, string>>;

/** The cpu and memory of one container of `namespace`, once for each set of labels. */
function containerOf(namespace: string, ...reported: readonly Labels[]): readonly WrittenSeries[] {
  return reported.flatMap((labels) => {
    const of = { namespace, pod: 'web-1', container: 'app', ...labels };
    return [
      {
        labels: { __name__: 'container_cpu_usage_seconds_total', ...of },
        samples: SECONDS.map((second) => [second, (second - now + 9000) * CORES] as const),
      },
      {
        labels: { __name__: 'container_memory_working_set_bytes', ...of },
        samples: SECONDS.map((second) => [second, BYTES] as const),
      },
    ];
  });
}

/** Requests of two services, scraped by the named replicas of Prometheus. */
function requestsOf(name: string, replicas: readonly string[]): readonly WrittenSeries[] {
  return [3, 8].flatMap((rate, index) =>
    replicas.map((prometheus_replica) => ({
      labels: { __name__: name, service: `s${index}`, prometheus_replica },
      samples: SECONDS.map((second) => [second, (second - now + 9000) * rate] as const),
    })),
  );
}

const C_ADVISOR = { id: '/a', name: 'k8s_a', image: 'i', cpu: 'total' };
const SHAPES: Readonly<Record<string, readonly Labels[]>> = {
  once: [C_ADVISOR],
  restarted: [C_ADVISOR, { ...C_ADVISOR, id: '/b', name: 'k8s_b' }],
  jobs: [
    { ...C_ADVISOR, job: 'a' },
    { ...C_ADVISOR, job: 'b' },
  ],
  receive: [
    { ...C_ADVISOR, receive_replica: '0' },
    { ...C_ADVISOR, receive_replica: '1' },
    { ...C_ADVISOR, receive_replica: '2' },
  ],
  resource: [{ ...C_ADVISOR, metrics_path: '/metrics/cadvisor' }, { metrics_path: '/metrics/resource' }],
  'resource-without-path': [C_ADVISOR, {}],
};

const SERIES = [
  ...Object.entries(SHAPES).flatMap(([namespace, reported]) => containerOf(namespace, ...reported)),
  ...requestsOf('requests_of_one_total', ['p0']),
  ...requestsOf('requests_of_two_total', ['p0', 'p1']),
];

/**
 * Returns the series of cpu and memory that one service reads from a data source in its first rounds, and its report.
 */
async function found(
  url: string,
  namespace: string,
): Promise<{
  readonly cores: readonly number[];
  readonly bytes: readonly number[];
  readonly reported: readonly string[] | null;
  readonly times: number;
}> {
  let times = 0;
  const metrics = createMetricSource({
    sources: new Map([['default', aSource({ urls: [url] })]]),
    clock: realClock,
    onQuery: () => undefined,
    seeksDuplicates: true,
    onDuplicates: (_, most) => (times = most),
  });
  const scaler = scalerOf(
    {
      scaleTargetRef: { name: 'web' },
      maxReplicas: 9,
      metrics: [
        { resource: { name: 'cpu', target: { averageUtilization: 60 } } },
        { resource: { name: 'memory', target: { averageUtilization: 60 } } },
      ],
    },
    { namespace },
  );
  const round = startRound(metrics, [scaler]);
  const answers = await round.of(scaler);
  const valuesOf = (index: number): readonly number[] => {
    const answer = answers[index];
    return answer?.class === 'value' ? answer.series.map(({ value }) => Math.round(value * 100) / 100) : [];
  };
  await startRound(metrics, [scaler]).of(scaler);
  return { cores: valuesOf(0), bytes: valuesOf(1), reported: round.duplicates(scaler) ?? null, times };
}

describe.each(['Prometheus', 'VictoriaMetrics'])('duplicate series in the data of %s', (engine) => {
  let server: RunningPrometheus | RunningVictoriaMetrics;

  beforeAll(async () => {
    const [env, clock] = [process.env, SYSTEM_CLOCK];
    if (engine === 'Prometheus') {
      const binary = await findPrometheus({ env, clock });
      const args = ['--web.enable-remote-write-receiver'];
      server = await startPrometheus({ binary, config: '', env, clock, args });
      await remoteWrite(server.url, SERIES);
    } else {
      const started = await startVictoriaMetrics();
      server = started;
      await remoteWrite(server.url, SERIES);
      await started.flush();
    }
  }, START_MS);

  afterAll(async () => {
    await ('kill' in server ? server.kill() : server.stop());
  });

  it.each([
    ['jobs', 2, 'job (a, b)'],
    ['receive', 3, 'receive_replica (0, 1, 2)'],
    ['resource', 2, 'metrics_path (/metrics/cadvisor, /metrics/resource)'],
    ['resource-without-path', 2, 'id ("", /a)'],
  ])('are reported and counted once from the first round on: %s', async (shape, times, label) => {
    const seen = await found(server.url, shape);

    expect(seen).toMatchObject({ cores: [CORES], bytes: [BYTES], times });
    const words = `series each, which differ in ${label}: only the largest is counted`;
    expect(seen.reported).toEqual([
      `metric "cpu": containers have up to ${times} cpu ${words}`,
      `metric "memory": containers have up to ${times} memory ${words}`,
    ]);
  });

  it.each(['once', 'restarted'])('are not detected for a container %s', async (shape) => {
    const seen = await found(server.url, shape);

    expect([seen.reported, seen.times]).toEqual([null, 1]);
  });

  it.each([
    ['sum(rate(requests_of_two_total[2m]))', true],
    ['sum by (service) (rate(requests_of_two_total[2m]))', true],
    ['sum(max by (service) (rate(requests_of_two_total[2m])))', false],
    ['sum(max without (prometheus_replica) (rate(requests_of_two_total[2m])))', false],
    ['max(rate(requests_of_two_total[2m]))', false],
    ['sum(rate(requests_of_two_total{prometheus_replica="p0"}[2m]))', false],
    ['rate(requests_of_two_total{service="s0"}[2m])', true],
    ['sum(rate(requests_of_one_total[2m]))', false],
  ])('are detected in the query of a document: %s: %s', async (query, isTwice) => {
    const metrics = createMetricSource({
      sources: new Map([['default', aSource({ urls: [server.url] })]]),
      clock: realClock,
      onQuery: () => undefined,
      seeksDuplicates: true,
    });
    const target = { type: 'AverageValue', averageValue: 10 };
    const spec = { scaleTargetRef: { name: 'web' }, maxReplicas: 9 };
    const scaler = scalerOf({
      ...spec,
      metrics: [{ external: { metric: { name: 'rps' }, query, target } }],
    });
    const { signal } = new AbortController();
    const start = () => startRound(metrics, [scaler], signal);
    // The first round detects the flavor of the server.
    await start().of(scaler);
    const round = start();
    await round.of(scaler);
    // The check of a query is sent with its round; its answer arrives before those of three later rounds.
    if (isTwice) await eventually(() => round.duplicates(scaler) != null, 'the duplicates');
    else for (let later = 0; later < 3; later += 1) await start().of(scaler);

    expect(round.duplicates(scaler) ?? null).toEqual(
      isTwice
        ? [
            'metric "rps": each series of the query has 2 copies, which differ in prometheus_replica (p0, p1): the value is counted 2 times',
          ]
        : null,
    );
  });
});
