import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { startServer, type FakeServer, type RecordedRequest } from '../../prometheus/fakes.js';
import { startFilled } from '../../support/filled-server.js';
import type { WrittenSeries } from '../../support/remote-write.js';
import { folderOf, type Ran, runCli } from '../fake-io.js';
import { scalerYaml } from '../../support/scaler-yaml.js';

const cwd = folderOf({
  'web.yaml': scalerYaml(),
  'learns.yaml': `${scalerYaml()}  podStart: {}\n`,
  'forecast.yaml': `${scalerYaml()}  forecast: { lookback: 3d }\n`,
});

const cleanups: (() => Promise<void>)[] = [];
afterAll(async () => {
  await Promise.all(cleanups.map((cleanup) => cleanup()));
});

function newCache(): string {
  const cache = mkdtempSync(join(tmpdir(), 'history-cache-'));
  cleanups.push(async () => rm(cache, { recursive: true, force: true }));
  return cache;
}

const beginsBefore = (time: string) =>
  `decisions begin ${time} before --from, but are scored only from --from on`;

interface JsonReport {
  readonly from: string;
  readonly assumptions: readonly string[];
  readonly variants: readonly {
    readonly changes: readonly { readonly to: number }[];
    readonly figures: Readonly<Record<string, number>>;
  }[];
  readonly baselines: readonly {
    readonly name: string;
    readonly figures: Readonly<Record<string, number>>;
  }[];
}

const reportOf = ({ stdout }: Ran): JsonReport => JSON.parse(stdout) as JsonReport;
const timeOf = (seconds: number): string => new Date(seconds * 1000).toISOString();

describe('the history of a real Prometheus', () => {
  const now = Math.floor(Date.now() / 1000);
  const seconds = Array.from({ length: 150 }, (_, index) => now - 2700 + index * 15);
  const series = (labels: Record<string, string>, valueAt: (second: number) => number): WrittenSeries => ({
    labels,
    samples: seconds.map((second) => [second, valueAt(second)] as const),
  });
  const pods = ['a', 'b', 'c', 'd'].map((letter) => `web-5d4f8b7c9-bcd4${letter}`);
  const ofPod = (pod: string, cores: number): readonly WrittenSeries[] => {
    const of = { namespace: 'shop', pod };
    return [
      series(
        { __name__: 'container_cpu_usage_seconds_total', ...of, container: 'app' },
        (second) => (second - now + 9000) * cores,
      ),
      series(
        { __name__: 'kube_pod_container_resource_requests', ...of, container: 'app', resource: 'cpu' },
        () => 0.5,
      ),
      series(
        { __name__: 'kube_pod_container_resource_limits', ...of, container: 'app', resource: 'cpu' },
        () => 0.75,
      ),
      series({ __name__: 'kube_pod_created', ...of }, () => now - 9000),
      series({ __name__: 'kube_pod_status_ready_time', ...of }, () => now - 8958),
    ];
  };
  const all = [
    ...pods.flatMap((pod) => ofPod(pod, 0.35)),
    // Another Deployment, whose name begins like that of the target.
    ...ofPod('web-api-5d4f8b7c9-bcd4a', 7),
    series({ __name__: 'kube_deployment_spec_replicas', namespace: 'shop', deployment: 'web' }, () => 4),
  ];

  it('gives the load of the target, its requests, the start of its pods and what really ran; and is kept', async () => {
    const server = await startFilled('Prometheus', all);
    const run = (document = 'web.yaml'): Promise<Ran> =>
      runCli(
        [
          ...['backtest', '--scaler', document, '--prometheus', server.url, '-o', 'json'],
          ...['--from', timeOf(now - 2640), '--to', timeOf(now - 700)],
          ...['--sweep', 'averageUtilization=35'],
        ],
        { cwd, env: { XDG_CACHE_HOME: cache } },
      );
    const cache = newCache();
    let first: Ran;
    try {
      first = await run();
    } finally {
      await server.stop();
    }
    const again = await run();
    const learning = reportOf(await run('learns.yaml'));

    expect([first.stderr, first.exitCode]).toEqual(['', 0]);
    const { variants, baselines, assumptions } = reportOf(first);
    expect(assumptions).toContain('a pod is ready 42 s after its creation (--pod-start)');
    expect(assumptions).toContain(
      'the pod start time is the median of kube_pod_status_ready_time - kube_pod_created, including the time until the pod is on a node',
    );
    expect(learning.assumptions).toContainEqual(
      expect.stringMatching(
        /until the pod is on a node; the service measures the seconds in which 95 % of the pods became ready after their start on a node \(podStart\.seconds sets both\)$/,
      ),
    );
    expect(assumptions).toContain('a pod requests 0.5 cores (--request)');
    expect(assumptions).toContain('the capacity of a pod is the cpu limit (--capacity)');
    expect(assumptions).toContain('a pod at its capacity uses 150 % of its cpu request, and never uses more');
    expect(variants.map(({ changes }) => changes.map(({ to }) => to).at(-1))).toEqual([undefined, 8]);
    expect(baselines[0]).toMatchObject({ name: 'what really ran', figures: { average_pods: 4, theta_U: 0 } });
    expect(again).toEqual(first);
  }, 240_000);
});

describe('a history', () => {
  const END = 1_700_000_000;
  const NOT_FOUND = { status: 404, body: '' };
  type Respond = (request: RecordedRequest) => { readonly status: number; readonly body: string } | null;

  /** A server with 2 cores of total cpu at each step, unless `respond` answers. */
  async function serve(respond: Respond): Promise<FakeServer> {
    const server = await startServer((response, request) => {
      const isRange = request.url.includes('query_range');
      const { status, body } = isRange
        ? (respond(request) ?? { status: 200, body: matrixOf(request) })
        : NOT_FOUND;
      response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(body);
    });
    cleanups.push(server.close);
    return server;
  }

  function matrixOf({ form }: RecordedRequest, has: (second: number) => boolean = () => true): string {
    const [start, end, step] = ['start', 'end', 'step'].map((name) => Number(form.get(name)));
    const values: (readonly [number, string])[] = [];
    for (let second = start ?? 0; second <= (end ?? 0); second += step ?? 1)
      if (has(second)) values.push([second, '2']);
    const isCpu = form.get('query')?.startsWith('sum by (promscaler_target)') === true;
    const result = isCpu && values.length > 0 ? [{ metric: { promscaler_target: 'yes' }, values }] : [];
    return JSON.stringify({ status: 'success', data: { resultType: 'matrix', result } });
  }

  const failure = (status: number, errorType: string, error: string) => ({
    status,
    body: JSON.stringify({ status: 'error', errorType, error }),
  });

  function run({ url }: FakeServer, more: readonly string[] = [], cache = newCache()): Promise<Ran> {
    return runCli(
      [
        ...['backtest', '--scaler', 'web.yaml', '--prometheus', url, '-o', 'json', '--request', '500m'],
        ...['--from', '2h', '--to', timeOf(END), ...more],
      ],
      { cwd, env: { XDG_CACHE_HOME: cache } },
    );
  }

  it('is read in halves if the server refuses a long range', async () => {
    const asked: number[] = [];
    const server = await serve(({ form }) => {
      const points = (Number(form.get('end')) - Number(form.get('start'))) / Number(form.get('step')) + 1;
      if (form.get('query')?.startsWith('sum by') === true) asked.push(points);
      return points > 200 ? failure(400, 'bad_data', 'exceeded maximum resolution of 200 points') : null;
    });

    const { stderr, exitCode, stdout } = await run(server);

    expect([stderr, exitCode]).toEqual(['', 0]);
    expect(Math.max(...asked)).toBeGreaterThan(200);
    expect((JSON.parse(stdout) as JsonReport).variants[0]?.figures['average_pods']).toBeGreaterThan(5);
  });

  it('with a gap excludes the gap and names it', async () => {
    const isKnown = (second: number): boolean => second < END - 3600 || second > END - 1800;
    const server = await serve((request) => ({ status: 200, body: matrixOf(request, isKnown) }));

    const { stderr, stdout } = await run(server);

    expect(stderr).toMatch(
      /^promscaler: warning: metric cpu: no values at 2023-11-14T\S+ and at other times \(2\d\.\d % of/,
    );
    // 2 hours less the gap of half an hour; at 6 pods and at the start 4.
    const podHours = (JSON.parse(stdout) as JsonReport).variants[0]?.figures['pod_hours'] ?? 0;
    expect(podHours).toBeGreaterThan(1.4 * 5);
    expect(podHours).toBeLessThan(1.6 * 6);
  });

  it('that begins an hour after --from is scored from its start, and says so', async () => {
    const begin = END - 3600;
    const server = await serve((request) => ({
      status: 200,
      body: matrixOf(request, (second) => second >= begin),
    }));

    const ran = await run(server);

    const { from, assumptions, variants } = reportOf(ran);
    expect(ran.stderr).toMatch(
      /^promscaler: warning: metric cpu: no values before 2023-11-14T21:13:30Z \(older than the retention of the server, or before the metric existed\); 50\.\d % of the time is excluded\n$/,
    );
    expect(from).toBe('2023-11-14T21:13:30Z');
    expect(assumptions).toContain(
      'the time from 2023-11-14T20:13:20Z to 2023-11-14T21:13:30Z is not scored, because the history has no values there',
    );
    expect(variants[0]?.figures['pod_hours']).toBeLessThan(6);
  });

  it('that begins late is halved where it begins: --recommend has a first half', async () => {
    const server = await serve((request) => ({
      status: 200,
      body: matrixOf(request, (second) => second >= END - 3000),
    }));

    const { stdout } = await run(server, ['--recommend', 'theta_U<=1']);

    expect(stdout).not.toContain('first half is unknown');
    expect((JSON.parse(stdout) as { recommendation: unknown }).recommendation).toBeDefined();
  });

  it('that begins late and has a gap names both', async () => {
    const isKnown = (second: number): boolean =>
      second > END - 5400 && (second < END - 2700 || second > END - 1800);
    const server = await serve((request) => ({ status: 200, body: matrixOf(request, isKnown) }));

    const { stderr } = await run(server);

    expect(stderr).toMatch(
      /no values before \S+ \(.* 2\d\.\d % of the time is excluded; no values at \S+ and at/,
    );
  });

  it('of a server that refuses the shortest part says what to raise', async () => {
    const server = await serve(() =>
      failure(422, 'execution', 'query processing would load too many samples'),
    );

    const { stderr, exitCode } = await run(server);

    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /too many samples \(127\.0\.0\.1:\d+\)\. The server rejects even the shortest part of the range: raise its limit for range queries\n/,
    );
  });

  it.each([
    ['a query that is invalid', failure(400, 'bad_data', 'parse error'), 'HTTP 400 bad_data: parse error'],
    ['a redirect', { status: 302, body: '' }, 'HTTP 302: redirects are not followed'],
    ['a text', { status: 200, body: 'hello' }, 'HTTP 200 with text instead of JSON'],
    [
      'a partial answer',
      {
        status: 200,
        body: '{"status":"success","warnings":["store down"],"data":{"resultType":"matrix","result":[]}}',
      },
      'the answer is partial: warning from the server: store down',
    ],
  ])('fails with the place for %s', async (_, answer, text) => {
    const server = await serve(() => answer);

    const { stderr, exitCode, stdout } = await run(server);

    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^promscaler: the history of .* from 2023-11-14T\S+ to 2023-11-14T\S+ cannot be read: /,
    );
    expect(stderr).toContain(text);
  });

  /** Two decisions on 2 cores, from 4 pods: 2 / 0.5 / 0.7 are 6. */
  it('before --from fills the windows of decisions, and is not scored', async () => {
    const server = await serve((request) => ({ status: 200, body: matrixOf(request) }));
    const linesOf = async (
      has: (second: number) => boolean,
      ...more: string[]
    ): Promise<readonly string[]> => {
      const known = await serve((request) => ({ status: 200, body: matrixOf(request, has) }));
      const { stdout, stderr, exitCode } = await run(known, more);
      expect([stderr, exitCode]).toEqual(['', 0]);
      return reportOf({ stdout, stderr, exitCode }).assumptions.filter((line) =>
        /windows|decisions begin/.test(line),
      );
    };
    const from = END - 7200;

    const report = reportOf(await run(server));
    expect(report.assumptions).toContain(beginsBefore('1h'));
    expect(report.variants[0]).toMatchObject({ changes: [], figures: { changes: 0, average_pods: 6 } });

    expect(await linesOf((second) => second >= from - 600)).toEqual([
      'decisions begin 9m50s before --from, but are scored only from --from on',
    ]);
    expect(await linesOf((second) => second >= from - 240)).toEqual([
      'decisions begin 3m50s before --from, but are scored only from --from on; the history has no earlier values, although windows are up to 5m long',
    ]);
    expect(await linesOf((second) => second >= from)).toEqual([
      'windows (up to 5m) are empty at the start, because the history has no earlier values',
    ]);
    expect(await linesOf(() => true, '--initial-replicas', '2')).toEqual([
      'all windows are empty at --from, because --initial-replicas is set',
    ]);
  });

  it('before --from has the lookback of a forecast', async () => {
    const asked: number[] = [];
    const server = await serve(({ form }) => {
      asked.push(Number(form.get('start')));
      return null;
    });
    const more = ['--scaler', 'forecast.yaml', '--step', '60s'];

    const report = reportOf(await run(server, more));
    expect(Math.min(...asked)).toBe(Math.ceil((END - 7200 - 3 * 86_400) / 60) * 60);
    expect(report.assumptions).toContain(beginsBefore('3d'));

    const from = END - 7200 - 86_400;
    const young = await serve((request) => ({
      status: 200,
      body: matrixOf(request, (second) => second > from),
    }));
    expect(reportOf(await run(young, more)).assumptions).toContainEqual(
      expect.stringMatching(/the history has no earlier values, although a forecast looks back 3d$/),
    );
  });

  it('without values names the metric', async () => {
    const server = await serve((request) => ({ status: 200, body: matrixOf(request, () => false) }));

    const { stderr, exitCode } = await run(server);

    expect([exitCode, stderr]).toEqual([
      1,
      'promscaler: metric cpu: no values from the data source between --from and --to. The time may be before the retention of the server, or the query returns nothing. Set a later --from, or check the query with doctor\n',
    ]);
  });

  it('sends the credentials of the service config, and keeps and prints none of them', async () => {
    const server = await serve(({ headers }) =>
      headers.authorization === 'Bearer s3cret-token' ? null : failure(401, 'unauthorized', 'no'),
    );
    writeFileSync(
      join(cwd, 'service.yaml'),
      `prometheus: { default: { urls: [${server.url}], headers: { Authorization: Bearer s3cret-token } } }\n`,
    );
    const cache = newCache();
    const { stdout, stderr, exitCode } = await runCli(
      [
        'backtest',
        '--scaler',
        'web.yaml',
        '--config',
        'service.yaml',
        '--request',
        '1',
        '--from',
        '2h',
        '--to',
        timeOf(END),
      ],
      { cwd, env: { XDG_CACHE_HOME: cache } },
    );

    expect([stderr, exitCode]).toEqual(['', 0]);
    const folder = join(cache, 'promscaler', 'history');
    const kept = readdirSync(folder).map((name) => name + readFileSync(join(folder, name), 'utf8'));
    expect(kept.length).toBeGreaterThan(0);
    expect([...kept, stdout].filter((text) => text.includes('s3cret'))).toEqual([]);
  });

  it.each([
    [['--to', '2999-01-01T00:00:00Z'], 2, '--to is 2999-01-01T00:00:00Z, must not be in the future'],
    [['--from', 'long ago'], 2, '--from is "long ago", must be a time such as'],
    [['--request', 'much'], 2, '--request is "much", must be a quantity above 0'],
    [['--from', '300d'], 2, 'has 864000 steps of 30 s, must have at most 520000; set a longer --step'],
    [['--from', '401d', '--step', '1d'], 2, 'the time from --from to --to is 401d, must be at most 400 days'],
    [['--from', '1700-01-01T00:00:00Z', '--step', '1d'], 2, 'must be at most 400 days'],
    [['--from', '2999-01-01T00:00:00Z'], 2, '--from is 2999-01-01T00:00:00Z, must not be in the future'],
    [['--from', timeOf(END + 60)], 2, 'is 2023-11-14T22:14:20Z, must be before --to 2023-11-14T22:13:20Z'],
    [['--from', timeOf(END)], 2, 'must be before --to'],
    [['--from', '1h', '--step', '1d'], 2, 'from --from to --to is 1h, must be at least 10 steps of 86400 s'],
    [['--from', '299s'], 2, 'is 4m59s, must be at least 10 steps of 30 s'],
    [['--trace', 'x.csv'], 2, '--trace is the only source of the load: remove --prometheus'],
  ])('rejects %j with exit code %d', async (more, code, text) => {
    const server = await serve(() => null);

    const { stderr, exitCode } = await run(server, more);

    expect(exitCode).toBe(code);
    expect(stderr).toContain(text);
    expect(server.requests).toEqual([]);
  });
});
