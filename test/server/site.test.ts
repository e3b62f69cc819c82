import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { createApp } from '../../src/server/app.js';
import { startServer } from '../../src/server/server.js';
import type { RunningServer } from '../../src/server/server.js';
import { readSite } from '../../src/server/site.js';
import { partsOf } from './app-parts.js';

const INDEX = '<!doctype html><script type="module" src="./assets/index-abc.js"></script>';
const SCRIPT = `console.log(${JSON.stringify('x'.repeat(2000))});`;

let directory = '';
const servers: RunningServer[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'site-'));
  await mkdir(join(directory, 'assets'));
  await writeFile(join(directory, 'index.html'), INDEX);
  await writeFile(join(directory, 'assets/index-abc.js'), SCRIPT);
  await writeFile(join(directory, 'assets/notes.txt'), 'not served');
  await writeFile(join(directory, 'secret.js'), 'not served');
});

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  await rm(directory, { recursive: true });
});

async function serve(isEnabled = true): Promise<RunningServer> {
  const site = isEnabled ? await readSite(directory) : null;
  const server = await startServer({
    app: createApp(partsOf({}, { site })),
    host: '127.0.0.1',
    port: 0,
    clock: SYSTEM_CLOCK,
  });
  servers.push(server);
  return server;
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Sends the path as it is: `fetch` would resolve `..`. */
function get(url: string, path: string, headers: Record<string, string> = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = httpRequest({ hostname, port, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', reject).end();
  });
}

describe('the dashboard', () => {
  it('is served at / with a policy that allows only this server, and is not cached', async () => {
    const { url } = await serve();

    const { status, headers, body } = await get(url, '/');

    expect([status, body.toString()]).toEqual([200, INDEX]);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    });
  });

  it('serves hashed files for a year, compressed if the client accepts gzip', async () => {
    const { url } = await serve();
    const path = '/assets/index-abc.js';

    const plain = await get(url, path);
    const gzipped = await get(url, path, { 'Accept-Encoding': 'br, gzip' });
    const refused = await get(url, path, { 'Accept-Encoding': 'gzip;q=0' });

    expect(plain.body.toString()).toBe(SCRIPT);
    expect(plain.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    });
    expect(gzipped.headers['content-encoding']).toBe('gzip');
    expect(gzipped.body.length).toBeLessThan(200);
    expect(gunzipSync(gzipped.body).toString()).toBe(SCRIPT);
    expect([refused.headers['content-encoding'], refused.body.length]).toEqual([undefined, SCRIPT.length]);
  });

  it.each([
    '/assets/../secret.js',
    '/assets/%2e%2e/secret.js',
    '/assets/..%2fsecret.js',
    '/secret.js',
    '/index.html',
    '/assets/notes.txt',
    '/assets/',
    '/assets',
    '//',
    '/ASSETS/index-abc.js',
    '/assets/index-abc.js/',
    '/assets/__proto__',
  ])('answers 404 to %s', async (path) => {
    const { url } = await serve();

    expect((await get(url, path)).status).toBe(404);
  });

  it('answers 404 at / if it is disabled, and the API still answers', async () => {
    const { url } = await serve(false);

    const statuses = [
      await get(url, '/'),
      await get(url, '/assets/index-abc.js'),
      await get(url, '/api/v1/scalers'),
    ];

    expect(statuses.map(({ status }) => status)).toEqual([404, 404, 200]);
  });

  it('is refused for an unknown host name, as the API is', async () => {
    const { url } = await serve();

    expect((await get(url, '/', { Host: 'attacker.example.com' })).status).toBe(421);
  });

  it('works behind a proxy that adds a path, because every address is relative', async () => {
    const { url } = await serve();
    const prefix = '/api/v1/namespaces/monitoring/services/http:promscaler:8080/proxy';
    const proxy = express().get(/.*/, (request, response, next) => {
      // As the API server does.
      if (request.path === prefix) {
        response.redirect(301, `${prefix}/`);
        return;
      }
      if (!request.path.startsWith(`${prefix}/`)) return void response.status(404).end();
      get(url, request.url.slice(prefix.length))
        .then(({ status, headers, body }) => response.status(status).set(headers).end(body))
        .catch(next);
    });
    const front = await startServer({ app: proxy, host: '127.0.0.1', port: 0, clock: SYSTEM_CLOCK });
    servers.push(front);

    const page = await fetch(`${front.url}${prefix}`);
    const [, source = ''] = /src="([^"]+)"/.exec(await page.text()) ?? [];
    const script = await fetch(new URL(source, page.url));
    const list = await fetch(new URL('api/v1/overview', page.url));

    expect([page.url, await script.text()]).toEqual([`${front.url}${prefix}/`, SCRIPT]);
    expect(list.status).toBe(200);
  });

  it('is not there if it was not built', async () => {
    expect(await readSite(join(directory, 'nothing'))).toBeNull();
    await rm(join(directory, 'assets'), { recursive: true });
    expect(await readSite(directory)).toBeNull();
  });
});
