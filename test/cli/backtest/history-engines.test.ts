import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FilledServer, type ServerName, startFilled } from '../../support/filled-server.js';
import type { WrittenSeries } from '../../support/remote-write.js';
import { scalerYaml } from '../../support/scaler-yaml.js';
import { folderOf, type Ran, runCli } from '../fake-io.js';

/** Downloading the programs on a fresh machine counts toward the first test. */
const START_MS = 240_000;
const now = Math.floor(Date.now() / 1000);
const SECONDS = Array.from({ length: 150 }, (_, index) => now - 2700 + index * 15);
const PODS = ['a', 'b', 'c', 'd'].map((letter) => `web-5d4f8b7c9-bcd4${letter}`);

const SUM = 'sum(rate(requests_total{namespace="$namespace"}[1m]))';
const ONCE = SUM.replace('sum(', 'sum(max by (pod) (').concat(')');
const metricOf = (query: string): string => `external: { query: '${query}', target: { averageValue: 10 } }`;

const cwd = folderOf(
  Object.fromEntries(
    ['single', 'pair', 'restart', 'started'].flatMap((namespace) => [
      [`cpu-${namespace}.yaml`, scalerYaml({ namespace })],
      [`sum-${namespace}.yaml`, scalerYaml({ namespace, metrics: [metricOf(SUM)] })],
      [`once-${namespace}.yaml`, scalerYaml({ namespace, metrics: [metricOf(ONCE)] })],
    ]),
  ),
);

type Labels = Readonly<Record<string, string>>;

function series(labels: Labels, valueAt: (second: number) => number, from = 0, to = Infinity): WrittenSeries {
  const seconds = SECONDS.slice(from, to);
  return { labels, samples: seconds.map((second) => [second, valueAt(second)] as const) };
}

/** Four pods with 0.35 cores and 5 requests per second each, scraped by the named replicas of Prometheus. */
function workload(namespace: string, replicas: readonly Labels[]): readonly WrittenSeries[] {
  return PODS.flatMap((pod) =>
    replicas.flatMap((replica) => {
      const of = { namespace, pod, ...replica };
      const cAdvisor = { container: 'app', id: `/${pod}`, name: pod, image: 'i', cpu: 'total' };
      return [
        series(
          { __name__: 'container_cpu_usage_seconds_total', ...of, ...cAdvisor },
          (second) => (second - now + 9000) * 0.35,
        ),
        series({ __name__: 'requests_total', ...of }, (second) => (second - now + 9000) * 5),
        series(
          { __name__: 'kube_pod_container_resource_requests', ...of, container: 'app', resource: 'cpu' },
          () => 0.5,
        ),
        series({ __name__: 'kube_pod_created', ...of }, () => now - 9000),
        series({ __name__: 'kube_pod_status_ready_time', ...of }, () => now - 8958),
      ];
    }),
  );
}

/** Pods that are created in the time, ready after 42 s, and again after 20 minutes; and one that is never ready. */
const STARTED = ['a', 'b', 'c', 'd'].flatMap((letter, index): readonly WrittenSeries[] => {
  const of = { namespace: 'started', pod: `web-5d4f8b7c9-bcd4${letter}`, uid: letter };
  const first = 20 + index;
  const created = (SECONDS[first] ?? now) - 5;
  const isNeverReady = letter === 'd';
  const readyTime = (second: number): number => {
    if (isNeverReady || second < created + 42) return created + 1;
    // It is unready for a minute.
    if (second < created + 600) return created + 42;
    return second < created + 660 ? created + 600 : created + 660;
  };
  const isReady = (second: number): boolean =>
    !isNeverReady && second >= created + 42 && (second < created + 600 || second >= created + 660);
  return [
    series({ __name__: 'kube_pod_created', ...of }, () => created, first),
    series({ __name__: 'kube_pod_status_ready_time', ...of }, readyTime, first),
    series(
      { __name__: 'kube_pod_status_ready', ...of, condition: 'true' },
      (second) => (isReady(second) ? 1 : 0),
      first,
    ),
  ];
});

/** One pod, whose container restarts in the middle of the time: the new series has another id and starts at 0. */
const RESTARTED = [0, 1].map((run) => {
  const [from, to] = run === 0 ? [0, 75] : [75, 150];
  const start = SECONDS[from] ?? now;
  const labels = {
    namespace: 'restart',
    pod: PODS[0] ?? '',
    container: 'app',
    id: `/${run}`,
    name: 'k',
    image: 'i',
    cpu: 'total',
  };
  return series(
    { __name__: 'container_cpu_usage_seconds_total', ...labels },
    (second) => (second - start) * 0.35,
    from,
    to,
  );
});

const SERIES = [
  ...workload('single', [{}]),
  ...workload('pair', [{ prometheus_replica: 'p0' }, { prometheus_replica: 'p1' }]),
  ...RESTARTED,
  ...STARTED,
  ...workload('started', [{}]).filter(({ labels }) => !labels['__name__']?.startsWith('kube_pod_')),
];

describe.each<ServerName>(['Prometheus', 'VictoriaMetrics'])('the history of %s', (engine) => {
  let server: FilledServer;

  beforeAll(async () => {
    server = await startFilled(engine, SERIES);
  }, START_MS);

  afterAll(() => server.stop());

  const timeOf = (second: number): string => new Date(second * 1000).toISOString();
  const run = (document: string, ...more: readonly string[]): Promise<Ran> =>
    runCli(
      [
        ...['backtest', '--scaler', document, '--prometheus', server.url, '-o', 'json', '--no-cache'],
        ...['--from', timeOf(now - 2600), '--to', timeOf(now - 700), ...more],
      ],
      { cwd },
    );

  interface JsonReport {
    readonly assumptions: readonly string[];
    readonly baselines: readonly { readonly figures: Readonly<Record<string, number>> }[];
  }

  /** The highest demand, in pods of `capacity`. */
  function peakOf({ stdout }: Ran): number | undefined {
    return (JSON.parse(stdout) as JsonReport).baselines[0]?.figures['peak_pods'];
  }

  it('gives a cpu load of 4 x 0.35 cores, the requests and the start of pods', async () => {
    const ran = await run('cpu-single.yaml', '--capacity', '0.1');

    expect([ran.stderr, ran.exitCode]).toEqual(['', 0]);
    expect(peakOf(ran)).toBe(14);
    const { assumptions } = JSON.parse(ran.stdout) as JsonReport;
    expect(assumptions).toContain('a pod is ready 42 s after its creation (--pod-start)');
    expect(assumptions).toContain('a pod requests 0.5 cores (--request)');
  });

  it('measures the first readiness of pods, not a later one', async () => {
    const ran = await run('cpu-started.yaml', '--capacity', '0.1', '--request', '1');

    const { assumptions } = JSON.parse(ran.stdout) as JsonReport;
    expect(assumptions).toContain('a pod is ready 42 s after its creation (--pod-start)');
  });

  it('counts each container once that two replicas of Prometheus scrape, and says so', async () => {
    const ran = await run('cpu-pair.yaml', '--capacity', '0.1');

    expect([ran.exitCode, peakOf(ran)]).toEqual([0, 14]);
    if (engine === 'Prometheus')
      expect(ran.stderr).toBe(
        'promscaler: warning: metric cpu: containers have up to 2 cpu series each, which differ in prometheus_replica (p0, p1): only the largest is counted, as in the service\n',
      );
  });

  it('refuses a query of the document that adds the two up, and runs one that does not', async () => {
    const sum = await run('sum-pair.yaml', '--capacity', '2');
    const once = await run('once-pair.yaml', '--capacity', '2');
    const single = await run('sum-single.yaml', '--capacity', '2');

    expect([sum.exitCode, sum.stdout]).toEqual([1, '']);
    expect(sum.stderr).toContain(
      'each series of the query exists 2 times, with different values of prometheus_replica (p0, p1). Each copy is counted, so the load would be a multiple of the true load. Aggregate the copies with max by before the sum\n',
    );
    expect([once.stderr, once.exitCode, peakOf(once)]).toEqual(['', 0, 10]);
    expect([single.stderr, single.exitCode, peakOf(single)]).toEqual(['', 0, 10]);
  });

  it('does not count a container twice after its restart', async () => {
    const ran = await run('cpu-restart.yaml', '--capacity', '0.1', '--request', '1');

    // 0.35 cores; a rate that is extrapolated for both series would be up to 0.7.
    expect([ran.exitCode, peakOf(ran)]).toEqual([0, 4]);
  });

  it('is kept with its flavor: without the server, and in a file', async () => {
    const env = { XDG_CACHE_HOME: folderOf({}) };
    const times = ['--from', timeOf(now - 2600), '--to', timeOf(now - 700), '-o', 'json'];
    const document = ['backtest', '--scaler', 'cpu-pair.yaml', '--capacity', '0.1'];
    const online = [...document, '--prometheus', server.url, ...times];
    const first = await runCli([...online, '--save-history', 'pair.json'], { cwd, env });
    await server.stop();

    const again = await runCli(online, { cwd, env });
    const saved = await runCli([...document, '--history', 'pair.json', '-o', 'json'], { cwd });

    expect([first.exitCode, peakOf(first)]).toEqual([0, 14]);
    expect(again).toEqual(first);
    expect(saved).toEqual(first);
  });
});
