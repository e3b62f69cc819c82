import { createServer, request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/manual-clock.js';
import { folderOf, runCli } from '../fake-io.js';

const PREFIX = '/api/v1/namespaces/ops/services/http:rel:8080/proxy';
const SERVICE = {
  metadata: { namespace: 'ops', name: 'rel' },
  spec: { ports: [{ name: 'http', port: 8080 }] },
};

interface Seen {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** An API server with the Service of promscaler, whose pages answer with their path. Returns its kubeconfig. */
async function startApi(): Promise<{ readonly folder: string; readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(({ url = '', headers }, response) => {
    seen.push({ path: url, headers });
    response.setHeader('Content-Type', 'application/json');
    response.setHeader('X-Internal', 'not for the browser');
    if (url.startsWith('/api/v1/services?')) response.end(JSON.stringify({ kind: 'List', items: [SERVICE] }));
    else response.end(JSON.stringify({ page: url.replace(PREFIX, '') }));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const folder = folderOf({
    kubeconfig: `apiVersion: v1
kind: Config
current-context: c
clusters: [{ name: k, cluster: { server: 'http://127.0.0.1:${port}' } }]
contexts: [{ name: c, context: { cluster: k, user: u } }]
users: [{ name: u, user: {} }]
`,
    token: 'file-token\n',
    bad: 'two words',
    empty: '\n',
  });
  return { folder, seen };
}

interface Running {
  readonly url: string;
  readonly seen: Seen[];
  readonly stop: () => Promise<{ readonly exitCode: number; readonly stderr: string }>;
}

async function open(args: readonly string[] = [], env: Record<string, string> = {}): Promise<Running> {
  const { folder, seen } = await startApi();
  const stop = new AbortController();
  const written = { stdout: '', stderr: '' };
  const running = runCli(['dashboard', '--kubeconfig', `${folder}/kubeconfig`, '--no-open', ...args], {
    cwd: folder,
    signal: stop.signal,
    written,
    env,
  });
  await Promise.race([running, eventually(() => written.stderr.includes('Ctrl-C'))]);
  return {
    url: written.stdout.trim(),
    seen,
    stop: () => {
      stop.abort();
      return running;
    },
  };
}

/** Sends the path as it is: `fetch` would resolve `..`. */
function statusOf(
  url: string,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    httpRequest({ hostname, port, path, method, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

describe('promscaler dashboard', () => {
  it('prints a local address, forwards the page until it is interrupted, and then exits with 0', async () => {
    const { url, seen, stop } = await open();

    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    const page = await fetch(`${url}api/v1/scalers/shop/web.v2/history?step=60`);
    expect(await page.json()).toEqual({ page: '/api/v1/scalers/shop/web.v2/history?step=60' });
    expect(page.headers.get('x-internal')).toBeNull();
    const { exitCode, stderr } = await stop();

    expect([exitCode, stderr]).toEqual([
      0,
      'promscaler: forwarding from service ops/rel; press Ctrl-C to stop\n',
    ]);
    expect(seen.at(-1)?.headers).not.toHaveProperty('x-promscaler-authorization');
    await expect(fetch(url)).rejects.toThrow();
  });

  it.each([
    '/../../../../../secrets',
    '/api/v1/../../../secrets',
    '/api/v1/%2e%2e/secrets',
    '/api/v1/..%2fsecrets',
    '/api/v1/.hidden',
    '/api/v1//secrets',
    '/assets/../secrets',
    '/metrics',
    '//other.example.com/',
    'http://other.example.com/',
    '/api/v2/scalers',
  ])('forwards no other path: %s', async (path) => {
    const { url, seen, stop } = await open();
    const before = seen.length;

    expect(await statusOf(url, path)).toBe(404);
    expect(seen.length).toBe(before);
    await stop();
  });

  it('refuses other host names, as of a web page that resolves its name to this address, and other methods', async () => {
    const { url, stop } = await open();

    expect(await statusOf(url, '/', { Host: 'attacker.example.com' })).toBe(421);
    expect(await statusOf(url, '/', {}, 'POST')).toBe(405);
    await stop();
  });

  it.each<[string, readonly string[], Record<string, string>, string]>([
    ['--token-file', ['--token-file', 'token'], {}, 'Bearer file-token'],
    ['PROMSCALER_TOKEN', [], { PROMSCALER_TOKEN: 'env-token' }, 'Bearer env-token'],
    ['both', ['--token-file', 'token'], { PROMSCALER_TOKEN: 'env-token' }, 'Bearer file-token'],
  ])('sends the token of %s to the service', async (_, args, env, sent) => {
    const { url, seen, stop } = await open(args, env);
    await fetch(`${url}api/v1/overview`);
    await stop();

    expect(seen.at(-1)?.headers['x-promscaler-authorization']).toBe(sent);
  });

  it('passes the token that the page sends to promscaler, not to the API server', async () => {
    const { url, seen, stop } = await open();
    await fetch(`${url}api/v1/overview`, { headers: { Authorization: 'Bearer page-token' } });
    await stop();

    expect(seen.at(-1)?.headers).toMatchObject({ 'x-promscaler-authorization': 'Bearer page-token' });
    expect(seen.at(-1)?.headers).not.toHaveProperty('authorization');
  });

  it.each([
    ['bad', 2, 'is not a bearer token'],
    ['empty', 1, 'the file is empty'],
    ['missing', 1, 'reading --token-file missing'],
  ])('rejects the token file %s with exit code %i', async (file, exitCode, message) => {
    const { folder } = await startApi();

    const ran = await runCli(['status', '--kubeconfig', `${folder}/kubeconfig`, '--token-file', file], {
      cwd: folder,
    });

    expect(ran).toMatchObject({ exitCode, stderr: expect.stringContaining(message) });
  });

  it('prints the address of --url and ends', async () => {
    const ran = await runCli(['dashboard', '--url', 'http://localhost:8080/promscaler', '--no-open']);

    expect(ran).toEqual({ exitCode: 0, stdout: 'http://localhost:8080/promscaler/\n', stderr: '' });
  });

  it('reports that no browser can be opened', async () => {
    const ran = await runCli(['dashboard', '--url', 'http://localhost:8080'], {
      env: { PATH: '/nonexistent' },
    });

    expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('no browser could be opened') });
  });

  it.each(['65536', '-1', 'x', '123456'])('rejects --port %s', async (port) => {
    expect((await runCli(['dashboard', '--url', 'http://x', `--port=${port}`])).exitCode).toBe(2);
  });
});
