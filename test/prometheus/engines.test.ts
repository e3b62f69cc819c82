import { describe, expect, it } from '@jest/globals';
import type { SourceConfig } from '../../src/prometheus/data-source/source-config.js';
import { T0 } from '../support/builders.js';
import { vectorBody } from './fakes.js';
import { clientOf, serve, serveText } from './served.js';

const BODY = vectorBody([{ labels: { pod: 'a' }, value: 3 }]);
const VALUE = { class: 'value', series: [{ labels: { pod: 'a' }, value: 3 }], evaluatedAt: T0 };

const ask = (overrides: Partial<SourceConfig>, timeoutMs = 2000) =>
  clientOf(overrides).query('sum(x{a="&+é"})', { timeoutMs });

describe('startTime', () => {
  const startTime = (overrides: Partial<SourceConfig>) =>
    clientOf(overrides).startTime({ timeoutMs: 10_000 });

  it('is that of runtimeinfo', async () => {
    const body =
      '{"status":"success","data":{"startTime":"2026-01-01T00:00:00.123456789Z","storageRetention":"15d"}}';
    const server = await serveText(200, body);

    await expect(startTime({ urls: [server.url] })).resolves.toBe(T0 + 123);
    expect(server.requests[0]?.url).toBe('/api/v1/status/runtimeinfo');
  });

  it.each([
    [404, '404 page not found'],
    [200, '<html>'],
    [200, '{"data":{}}'],
    [200, '{"data":{"startTime":"yesterday","storageRetention":"15d"}}'],
    // A querier of Thanos, which stores nothing.
    [200, '{"data":{"startTime":"2026-01-01T00:00:00Z","CWD":"/","GOMAXPROCS":2}}'],
    [503, ''],
  ])('is unknown after HTTP %d %j', async (status, body) => {
    const server = await serveText(status, body);

    await expect(startTime({ urls: [server.url] })).resolves.toBeNull();
  });

  const METRICS = 'vm_data_size_bytes{type="indexdb"} 1\nvm_app_start_timestamp 1767225600\n';
  const serveVictoriaMetrics = (metrics: string, status = 200) =>
    serve((response, { url }) =>
      url === '/base/metrics'
        ? response.writeHead(status).end(metrics)
        : response.writeHead(400).end('unsupported path'),
    );

  it('of VictoriaMetrics is read from its metrics, in whole seconds, rounded so that it never looks older', async () => {
    const server = await serveVictoriaMetrics(METRICS);
    const urls = [`${server.url}/base`];

    await expect(startTime({ urls })).resolves.toBe(T0 + 1000);
    await expect(startTime({ urls, flavor: 'victoriametrics', ifVictoriaMetrics: null })).resolves.toBe(
      T0 + 1000,
    );
    expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /base/api/v1/status/runtimeinfo',
      'GET /base/metrics',
      'GET /base/metrics',
    ]);
  });

  it.each([
    ['vmauth or vmselect', 'vm_app_start_timestamp 1767225600\n', 200],
    ['a Thanos', 'process_start_time_seconds 1767225600\n', 200],
    ['a page that is not a number', 'vm_data_size_bytes{} 1\nvm_app_start_timestamp x\n', 200],
    ['a refusal', METRICS, 401],
    ['nothing', '', 200],
  ])(
    'is unknown if the metrics are those of %s, and they are requested once in ten minutes',
    async (_, metrics, status) => {
      const server = await serveVictoriaMetrics(metrics, status);
      const client = clientOf({ urls: [`${server.url}/base`] });

      await expect(client.startTime({ timeoutMs: 10_000 })).resolves.toBeNull();
      await expect(client.startTime({ timeoutMs: 10_000 })).resolves.toBeNull();

      expect(server.requests.filter(({ url }) => url.endsWith('/metrics'))).toHaveLength(1);
    },
  );

  it.each(['thanos', 'mimir'] as const)('of %s is not looked up in its metrics', async (flavor) => {
    const server = await serveVictoriaMetrics(METRICS);

    await expect(startTime({ urls: [`${server.url}/base`], flavor })).resolves.toBeNull();
  });
});

describe('recognize', () => {
  const BUILD = (data: object) => JSON.stringify({ status: 'success', data });
  const QUERY_OF_VM =
    '{"status":"success","data":{"resultType":"vector","result":[]},"stats":{"seriesFetched": "1"}}';
  const serveBuild = (body: string, { status = 200, query = BODY, headers = {} } = {}) =>
    serve((response, { url }) =>
      url === '/api/v1/status/buildinfo'
        ? response.writeHead(status, headers).end(body)
        : response.end(query),
    );
  const HOST = { 'X-Server-Hostname': 'vm-0' };

  it.each([
    ['VictoriaMetrics 1.79', BUILD({}), HOST, 'victoriametrics'],
    ['VictoriaMetrics 1.145', BUILD({ version: '2.24.0' }), HOST, 'victoriametrics'],
    ['Prometheus', BUILD({ version: '2.42.0', revision: 'x', goVersion: 'go1.19' }), {}, 'prometheus'],
    ['Prometheus behind vmauth', BUILD({ version: '2.42.0', revision: 'x' }), HOST, 'prometheus'],
    ['something else with few words', BUILD({}), {}, 'prometheus'],
    ['a page', '<html>', HOST, 'prometheus'],
    ['null', 'null', HOST, 'prometheus'],
    ['an array', BUILD([1]), HOST, 'prometheus'],
  ])('recognizes the build information of %s', async (_, body, headers, flavor) => {
    const server = await serveBuild(body, { headers });
    const client = clientOf({ urls: [server.url] });

    await expect(client.recognize({ timeoutMs: 10_000 })).resolves.toBe(true);

    expect(client.fittingConfig().flavor).toBe(flavor);
    await client.query('x', { timeoutMs: 10_000 });
    expect(server.requests.at(-1)?.form.get('nocache')).toBe(flavor === 'victoriametrics' ? '1' : null);
  });

  it('does not recognize a server that does not answer', async () => {
    const server = await serveBuild('', { status: 503 });
    const client = clientOf({ urls: [server.url] });

    await expect(client.recognize({ timeoutMs: 10_000 })).resolves.toBe(false);
  });

  it('uses a configured flavor, without any request', async () => {
    const server = await serveBuild(BUILD({}), { headers: HOST, query: QUERY_OF_VM });
    const client = clientOf({ urls: [server.url], ifVictoriaMetrics: null });

    await expect(client.recognize({ timeoutMs: 10_000 })).resolves.toBe(true);
    await client.query('x', { timeoutMs: 10_000 });

    expect(client.fittingConfig().flavor).toBe('prometheus');
    expect(server.requests.map(({ url }) => url)).toEqual(['/api/v1/query']);
  });

  it.each([
    ['statistics', QUERY_OF_VM, 'victoriametrics'],
    [
      'isPartial',
      '{"status":"success","isPartial":false,"data":{"resultType":"vector","result":[]}}',
      'victoriametrics',
    ],
    [
      'a label that reads like them',
      vectorBody([{ labels: { x: '"stats":{"seriesFetched":' }, value: 1 }]),
      'prometheus',
    ],
    ['neither', BODY, 'prometheus'],
  ])('recognizes VictoriaMetrics by the answer to a query: %s', async (_, query, flavor) => {
    const server = await serveBuild('no', { status: 404, query });
    const client = clientOf({ urls: [server.url] });

    await client.query('x', { timeoutMs: 10_000 });

    expect(client.fittingConfig().flavor).toBe(flavor);
  });
});

describe('a 422', () => {
  const error = (errorType: string, text: string): string =>
    JSON.stringify({ status: 'error', errorType, error: text });
  const OF_VM = (text: string): string =>
    error(
      '422',
      `error when executing query="x{a=unknown func}" for (time=1767225600000, step=300000): ${text}`,
    );

  it.each([
    [
      'VictoriaMetrics cannot read the query',
      OF_VM('argList: unexpected token ""; unparsed data: ""'),
      'bad_query',
    ],
    ['VictoriaMetrics has no such function', OF_VM('unknown func "nosuch"'), 'bad_query'],
    [
      'VictoriaMetrics is out of memory',
      OF_VM('not enough memory for processing 9 data points'),
      'execution',
    ],
    [
      'a store of Thanos is down',
      error('execution', 'expanding series: proxy Series(): rpc error: code = Unavailable desc = x'),
      'server_error',
    ],
    [
      'no store of Thanos matches',
      error(
        'execution',
        'expanding series: proxy Series(): rpc error: code = Aborted desc = No StoreAPIs matched',
      ),
      'server_error',
    ],
    [
      'an ingester of Mimir is down',
      error('execution', 'rpc error: code = Unavailable desc = connection refused'),
      'server_error',
    ],
    [
      'a limit of Mimir',
      error('execution', 'rpc error: code = ResourceExhausted desc = too many series'),
      'execution',
    ],
    ['many to many', error('execution', 'many-to-many matching not allowed'), 'execution'],
  ])('with %s is %s', async (_, body, reason) => {
    const server = await serveText(422, body);

    await expect(ask({ urls: [server.url] })).resolves.toMatchObject({ class: 'failed', reason });
  });

  it('of VictoriaMetrics quotes the error, not the query', async () => {
    const server = await serveText(422, OF_VM('unknown func "nosuch"'));
    const host = server.url.replace('http://', '');

    await expect(ask({ urls: [server.url] })).resolves.toMatchObject({
      message: `HTTP 422: unknown func "nosuch" (${host})`,
    });
  });

  it('of a failed store tries the next url, one for an invalid query does not', async () => {
    const down = await serveText(
      422,
      error('execution', 'proxy Series(): rpc error: code = Unavailable desc = x'),
    );
    const wrong = await serveText(422, OF_VM('unknown func "nosuch"'));
    const good = await serveText(200, BODY);

    await expect(ask({ urls: [down.url, good.url] })).resolves.toMatchObject(VALUE);
    await expect(ask({ urls: [wrong.url, good.url] })).resolves.toMatchObject({ reason: 'bad_query' });
    expect(good.requests).toHaveLength(1);
  });
});
