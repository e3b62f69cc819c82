import type { RequestListener } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { VERSION } from '../../../src/cli/output/version.js';
import { createLedger } from '../../../src/telemetry/ledger.js';
import { folderOf, runCli } from '../fake-io.js';
import type { Ran } from '../fake-io.js';
import {
  apiServer,
  appOf,
  cpuSnapshot,
  kubeconfigFor,
  listen,
  recordOf,
  serviceIn,
} from '../live-service.js';
import type { Listening } from '../live-service.js';

let server: Listening | null = null;

afterEach(() => server?.close());

async function statusOf(app: RequestListener): Promise<Ran> {
  server = await listen(app);
  return runCli(['status', '--url', server.url]);
}

function answer(status: number, body: string): RequestListener {
  return (_request, response) => void response.writeHead(status).end(body);
}

describe('a service by --url', () => {
  it.each([
    [200, '<html></html>', 'the response is not valid JSON: the server is not promscaler'],
    [
      200,
      '{"items":3}',
      'version: expected string, received undefined: the server is not promscaler, or has another version than this command',
    ],
    [
      200,
      '{"items":[{"metadata":{}}]}',
      'the server is not promscaler, or has another version than this command',
    ],
    [
      200,
      '{"version":"9.0.0","leader":true,"items":[{"namespace":"shop","name":"web"}]}',
      `items[0].target: expected object, received undefined: the service has version 9.0.0, this command has ${VERSION}`,
    ],
    [
      404,
      '<html></html>',
      '404 Not Found: the server is not promscaler, or has an older version than this command',
    ],
    [
      404,
      '{"error":"there is no such page"}',
      'there is no such page: the service is older than this command',
    ],
    [401, '', '401 Unauthorized: a proxy requires credentials, but this command sends none with --url'],
    [302, '', '302 Found: the server is not promscaler'],
    [404, '{"message":"Not found","traceID":""}', 'the server is not promscaler, or has an older version'],
    [
      200,
      '{"status":"success","data":[]}',
      'the server is not promscaler, or has another version than this command',
    ],
  ])('that answers %i and %s', async (status, body, sentence) => {
    const ran = await statusOf(answer(status, body));

    expect([ran.exitCode, ran.stdout]).toEqual([1, '']);
    expect(ran.stderr).toContain(`reading /api/v1/scalers from ${server?.url ?? ''}: `);
    expect(ran.stderr).toContain(sentence);
  });

  it('that does not listen', async () => {
    server = await listen(answer(200, ''));
    await server.close();

    const { exitCode, stderr } = await runCli(['explain', 'shop/web', '--url', server.url]);

    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/ECONNREFUSED.*: no HTTP server listens at this address\n$/);
  });

  it('with an unknown host', async () => {
    const { exitCode, stderr } = await runCli(['status', '--url', 'http://promscaler.invalid:8080']);

    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/(ENOTFOUND|EAI_AGAIN).*: the host name cannot be resolved\n$/);
  });

  it('without a valid address is wrong usage', async () => {
    const { exitCode, stderr } = await runCli(['status', '--url', 'localhost:8080']);

    expect([exitCode, stderr]).toEqual([
      2,
      'promscaler: --url localhost:8080: url must begin with http:// or https:// and must not contain a user\n',
    ]);
  });

  it('with a path is queried below that path', async () => {
    const paths: string[] = [];
    server = await listen((request, response) => {
      paths.push(request.url ?? '');
      response.end('{"version":"0.1.0","leader":true,"items":[],"continue":null}');
    });

    await runCli(['status', '-n', 'shop', '--url', `${server.url}/tools/`]);

    expect(paths.sort()).toEqual(['/tools/api/v1/scalers?namespace=shop', '/tools/api/v1/service']);
  });
});

describe("a service behind the API server's proxy", () => {
  /** Runs a command line with a kubeconfig that names this API server. */
  async function run(argv: readonly string[], app: RequestListener): Promise<Ran> {
    server = await listen(app);
    return runCli(argv, { env: kubeconfigFor(server.url) });
  }

  it('is found by its label, listed and queried', async () => {
    const ledger = createLedger();
    ledger.add(recordOf(cpuSnapshot(83)));
    const app = apiServer(appOf(ledger), [serviceIn('monitoring')]);

    const status = await run(['status'], app);
    const explained = await runCli(['explain', 'shop/web'], { env: kubeconfigFor(server?.url ?? '') });

    expect(status.stdout).toContain('cpu: 83%/60%');
    expect(explained.stdout).toContain('ceil(1.3833 x 4 ready pods) = 6');
  });

  it('is queried again if a standby answers', async () => {
    const ledger = createLedger();
    ledger.add(recordOf(cpuSnapshot(83)));
    const [standby, leader] = [appOf(createLedger(), {}, { isLeading: () => false }), appOf(ledger)];
    let asked = 0;
    const either: RequestListener = (request, response) => {
      asked += 1;
      (asked % 2 === 1 ? standby : leader)(request, response);
    };
    const app = apiServer(either, [serviceIn('monitoring')]);

    const status = await run(['status'], app);
    const explained = await runCli(['explain', 'shop/web'], { env: kubeconfigFor(server?.url ?? '') });

    expect([status.stderr, status.stdout.includes('cpu: 83%/60%')]).toEqual(['', true]);
    expect(explained.stdout).toContain('ceil(1.3833 x 4 ready pods) = 6');
  });

  it('is searched in one namespace with --service-namespace', async () => {
    const paths: string[] = [];
    const app = apiServer(appOf(createLedger()), []);

    const { stderr } = await run(['status', '--service-namespace', 'tools'], (request, response) => {
      paths.push(request.url ?? '');
      app(request, response);
    });

    expect(paths).toEqual([
      '/api/v1/namespaces/tools/services?labelSelector=app.kubernetes.io%2Fname%3Dpromscaler',
    ]);
    expect(stderr).toContain(
      'no Service with the label app.kubernetes.io/name=promscaler in namespace tools',
    );
  });

  it('is not guessed if there are 2', async () => {
    const services = [serviceIn('monitoring'), serviceIn('stage')];

    const { exitCode, stderr } = await run(['status'], apiServer(appOf(createLedger()), services));

    expect([exitCode, stderr]).toEqual([
      1,
      'promscaler: 2 Services have the label app.kubernetes.io/name=promscaler: monitoring/promscaler, stage/promscaler. Select one with --service-namespace\n',
    ]);
  });

  it.each([
    [
      403,
      'services/proxy is forbidden',
      'permission denied: cannot get services/proxy in namespace monitoring. Use --url, which does not need this permission',
    ],
    [503, 'no endpoints available for service', 'no pod of the service answers'],
  ])('that answers %i', async (code, message, sentence) => {
    const refuse = answer(code, JSON.stringify({ kind: 'Status', message, code }));

    const { exitCode, stderr } = await run(['status'], apiServer(refuse, [serviceIn('monitoring')]));

    expect(exitCode).toBe(1);
    expect(stderr).toContain(`reading /api/v1/scalers from service monitoring/promscaler: ${code} `);
    expect(stderr).toContain(`${message}: ${sentence}`);
  });

  it('whose Services cannot be listed', async () => {
    const { exitCode, stderr } = await run(['status'], answer(403, '{"kind":"Status","message":"no"}'));

    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      'permission denied: cannot list services. Use --service-namespace to search one',
    );
  });

  it('without a kubeconfig', async () => {
    const { exitCode, stderr } = await runCli(['status'], { env: { HOME: folderOf({}) } });

    expect(exitCode).toBe(1);
    expect(stderr).toContain('no connection to the Kubernetes API');
    expect(stderr).toContain('To connect to the service directly, use --url');
  });
});
