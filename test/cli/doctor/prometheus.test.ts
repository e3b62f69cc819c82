import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CheckResult } from '../../../src/cli/checks/check-result.js';
import type { SourceContext } from '../../../src/cli/checks/context.js';
import { checkPrometheus } from '../../../src/cli/checks/prometheus.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { failed } from '../../../src/units/failure.js';
import { addSeconds } from '../../../src/units/time.js';
import { aSource } from '../../support/builders.js';
import { cluster, diagnosed, healthy, prometheus, server } from './fixture.js';

let simulator: Simulator;

beforeAll(async () => {
  simulator = await cluster({});
});

/** Returns the only result for the data source at this address. */
async function findingAt(url: string, source = ''): Promise<CheckResult> {
  const { of, exitCode } = await diagnosed({ prometheus: url, source, kubernetes: simulator.url });
  const [found, second] = of('prometheus');
  if (found === undefined || second !== undefined) throw new Error(`there is not one result on ${url}`);
  expect(exitCode).toBe(found.status === 'failed' ? 1 : 0);
  return found;
}

type Page = {
  readonly status?: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
};

async function result(page: Page | ((path: string) => Page), source = ''): Promise<CheckResult> {
  const { url } = await server((response, request) => {
    const path = new URL(request.url, 'http://x').pathname;
    const { status = 200, body, headers = {} } = typeof page === 'function' ? page(path) : page;
    response.writeHead(status, headers);
    response.end(body);
  });
  return findingAt(url, source);
}

const HTML = { 'Content-Type': 'text/html' };
const NOT_FOUND: Page = { status: 404, body: '404 page not found\n' };
const TIME = JSON.stringify({
  status: 'success',
  data: { resultType: 'scalar', result: [Date.now() / 1000, String(Date.now() / 1000)] },
});

describe('a server that is not a Prometheus', () => {
  it.each<[string, Page]>([
    ['a Grafana', { status: 404, body: '<html><head><title>Grafana</title></head></html>', headers: HTML }],
    ['a Grafana', { body: '<html><title>Grafana</title><input type="password"></html>', headers: HTML }],
    ['an Alertmanager', { body: '<html><title>Alertmanager</title></html>', headers: HTML }],
    ['a Pushgateway', { body: '<title>Prometheus Pushgateway</title>', headers: HTML }],
    ['a node exporter', { body: '<title>Node Exporter</title>', headers: HTML }],
    ['the metrics page of an exporter', { body: '# HELP up Is up.\nup 1\n' }],
    ['a login page', { body: '<form><input type="password" name="p"></form>', headers: HTML }],
    ['an HTML page', { body: '<html>Welcome to nginx!</html>', headers: HTML }],
    ['a Kubernetes API server', { status: 404, body: '{"kind":"Status","message":"no"}' }],
  ])('is identified as %s', async (name, page) => {
    const { status, message, fix } = await result(page);

    expect(status).toBe('failed');
    expect(message).toContain(` is ${name}`);
    expect(fix).toContain('prometheus.default');
  });

  it('is identified by its root page if the API path has none', async () => {
    const { message } = await result((path) =>
      path === '/' ? { body: '<html><title>Alertmanager</title></html>', headers: HTML } : NOT_FOUND,
    );

    expect(message).toContain('is an Alertmanager');
  });

  it('is identified as a login that a redirect leads to, without its state', async () => {
    const { message, fix } = await result({
      status: 302,
      body: '',
      headers: { Location: 'https://sso.example.com/oauth2/start?state=topsecret' },
    });

    expect(message).toContain(
      'is a login page: the server redirects to https://sso.example.com/oauth2/start',
    );
    expect(message).not.toContain('topsecret');
    expect(fix).toMatch(/http:\/\/SERVICE\.NAMESPACE:9090\), or set prometheus\.default\.bearerTokenFile$/);
  });

  it('is reported with its answer if it is unknown', async () => {
    const { message, fix } = await result({ status: 418, body: 'teapot' });

    expect(message).toContain('does not serve the Prometheus API (HTTP 418: teapot)');
    expect(fix).toContain('/api/v1/query');
  });
});

describe('a Prometheus at another path of the host', () => {
  it('is found below /prometheus, with the url to set', async () => {
    const { message, fix } = await result((path) =>
      path === '/prometheus/api/v1/query' ? { body: TIME } : NOT_FOUND,
    );

    expect(message).toMatch(/does not serve the Prometheus API \(HTTP 404\), but http:.*\/prometheus does$/);
    expect(fix).toMatch(/^prometheus\.default\.urls: \['http:.*\/prometheus'\]$/);
  });

  it("is found at the target of the root's redirect", async () => {
    const { fix } = await result((path) => {
      if (path === '/monitoring/api/v1/query') return { body: TIME };
      return path === '/' ? { status: 302, body: '', headers: { Location: '/monitoring/graph' } } : NOT_FOUND;
    });

    expect(fix).toMatch(/\/monitoring'\]$/);
  });

  it('is found at the root if the url has an extra path', async () => {
    const { url } = await prometheus([]);

    const { fix } = await findingAt(`${url}/graph`);

    expect(fix).toBe(`prometheus.default.urls: ['${url}']`);
  });
});

describe('a Prometheus that requires credentials', () => {
  it('is reported with the settings for credentials if none are set', async () => {
    const { message, fix } = await result({ status: 401, body: 'no' });

    expect(message).toMatch(/requires credentials \(HTTP 401\), but no credentials are configured$/);
    expect(fix).toContain('prometheus.default.bearerTokenFile, prometheus.default.basicAuth');
  });

  it('is reported with the file of the rejected token, not the token', async () => {
    const { message, fix } = await result({ status: 403, body: 'no' }, ', bearerTokenFile: promscaler.yaml');

    expect(message).toContain('rejected the configured credentials');
    expect(fix).toContain('the file of prometheus.default.bearerTokenFile');
  });

  it('is reported with the header for the tenant that it requires', async () => {
    const { fix } = await result({ status: 401, body: 'no org id' });

    expect(fix).toBe('set prometheus.default.headers: { X-Scope-OrgID: TENANT } in the service config');
  });

  it('is reported with the setting of a missing file', async () => {
    const { message, fix } = await findingAt('http://127.0.0.1:1', ', bearerTokenFile: missing');

    expect(message).toContain('the file of bearerTokenFile is empty or cannot be read');
    expect(fix).toContain('mount the credentials file');
  });
});

describe('an unreachable Prometheus', () => {
  it('that refuses the connection is reported with the port', async () => {
    const { message, fix } = await findingAt('http://127.0.0.1:1');

    expect(message).toBe('http://127.0.0.1:1 is not reachable: connection refused');
    expect(fix).toContain('kubectl get svc -A');
  });

  it('that is a Service of the cluster is reported with the command that shows whether its pods run', async () => {
    const probe = () => Promise.resolve(failed('connection', 'connection refused', 'ECONNREFUSED'));
    const source = { ...aSource(), urls: ['http://prometheus.monitoring:9090'] };
    const [found] = await checkPrometheus({ source, probe } as unknown as SourceContext);

    expect(found?.fix).toMatch(
      /^see whether the pods of Prometheus run: `kubectl get -n monitoring pods`\. If they run: no process listens/,
    );
  });

  it('with an unknown host is reported with the url in the cluster and outside', async () => {
    const { fix } = await findingAt('http://prometheus.nowhere.invalid:9090');

    expect(fix).toContain('the host name prometheus.nowhere.invalid cannot be resolved');
    expect(fix).toContain('--prometheus http://localhost:9090');
  });

  it('that speaks plain http is reported for https', async () => {
    const { url } = await prometheus([]);

    const { fix } = await findingAt(`${url.replace('http:', 'https:')}/KEY`);

    expect(fix).toBe(`the port serves plain http: set prometheus.default.urls: ['${url}/KEY']`);
  });

  it('that speaks https is reported for http', async () => {
    const { message, fix } = await result({
      status: 400,
      body: 'Client sent an HTTP request to an HTTPS server.\n',
    });

    expect(message).toMatch(/serves https, not http$/);
    expect(fix).toMatch(/urls: \['https:\/\/127/);
  });

  it('that does not answer within the deadline is reported for lost packets', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    // All timers of the doctor are a hundred times as fast.
    const clock = {
      ...SYSTEM_CLOCK,
      after: (ms: number, call: () => void) => SYSTEM_CLOCK.after(ms / 100, call),
    };

    const { of } = await diagnosed({ prometheus: `http://127.0.0.1:${port}`, clock });
    silent.close();

    expect(of('prometheus')[0]?.message).toContain('is not reachable: timeout after 5000 ms');
    expect(of('prometheus')[0]?.fix).toContain('NetworkPolicy');
  });

  it('that answers with an error is reported with it', async () => {
    const { message, fix } = await result({ status: 503, body: 'not ready' });

    expect(message).toContain('answers with an error (HTTP 503: not ready)');
    expect(fix).toContain('/-/ready');
  });

  it('skips the other checks of the data source, with the reason', async () => {
    const { of } = await diagnosed({ kubernetes: simulator.url });

    for (const check of ['prometheus-clock', 'resource-series', 'scrape-interval'] as const)
      expect(of(check)).toMatchObject([{ status: 'skipped', message: 'the data source does not answer' }]);
  });
});

describe('a Prometheus that is elsewhere in the cluster', () => {
  it('is searched among the Services', async () => {
    const { url, addObject } = await cluster({});
    const service = (name: string, port: number, clusterIP = '10.0.0.1'): unknown =>
      addObject({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace: 'monitoring', name },
        spec: {
          clusterIP,
          ports: [
            { name: 'other', port: 1 },
            { name: 'http', port },
          ],
        },
      });
    service('prometheus-operated', 9090, 'None');
    service('prometheus-server', 80);
    service('prometheus-node-exporter', 9100);
    service('grafana', 80);

    const { of } = await diagnosed({ kubernetes: url });

    expect(of('prometheus')[0]?.fix).toMatch(
      /These Services of the cluster may be a Prometheus: http:\/\/prometheus-server\.monitoring, http:\/\/prometheus-operated\.monitoring:9090$/,
    );
  });
});

describe('a Prometheus that answers in part', () => {
  it('is reported with its warning', async () => {
    const { status, message } = await result({
      body: TIME.replace('{', '{"warnings":["a store is away"],'),
    });

    expect([status, message.replace(/^\S+/, '')]).toEqual([
      'warning',
      ' answers with incomplete data: warning from the server: a store is away',
    ]);
  });
});

describe('the clock of Prometheus', () => {
  it.each([
    [0, []],
    [8, ['warning']],
    [-8, ['warning']],
    [40, ['failed']],
  ])('is %d s ahead', async (aheadSeconds, statuses) => {
    const { url } = await prometheus([...healthy([])], { aheadSeconds });

    const { of } = await diagnosed({ prometheus: url, kubernetes: simulator.url });

    expect(of('prometheus-clock').map(({ status }) => status)).toEqual(statuses);
  });

  it('is reported as behind or ahead, with the way to synchronize it', async () => {
    const { url } = await prometheus([]);
    const clock = { ...SYSTEM_CLOCK, now: () => addSeconds(SYSTEM_CLOCK.now(), 60) };

    const { of } = await diagnosed({ prometheus: url, kubernetes: simulator.url, clock });

    expect(of('prometheus-clock')).toMatchObject([
      { status: 'failed', message: 'the clock of Prometheus is 60 s behind the clock of this machine' },
    ]);
    expect(of('prometheus-clock')[0]?.fix).toContain('timedatectl');
    expect(of('cluster-clock')).toMatchObject([{ status: 'failed' }]);
  });
});
