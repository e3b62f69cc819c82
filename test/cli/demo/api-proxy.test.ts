import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type ApiProxy, startApiProxy } from '../../../src/cli/demo/set-up-demo.js';
import { listen, shut } from '../../../src/simulator/sockets.js';

const endings: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** A server that answers with its name, the method, the path and the body of each request. */
async function echo(name: string): Promise<string> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      response.statusCode = request.url === '/gone' ? 404 : 200;
      response.end(`${name} ${request.method ?? ''} ${request.url ?? ''} ${body}`);
    });
  });
  endings.push(() => shut(server));
  return listen(server, 0);
}

async function front(apiUrl: string, serviceUrl: string): Promise<ApiProxy> {
  const started = await startApiProxy(apiUrl, serviceUrl);
  endings.push(() => started.close());
  return started;
}

describe('the API of the demo', () => {
  it('forwards requests for the Service to promscaler, all others to the cluster', async () => {
    const { url } = await front(await echo('api'), await echo('service'));
    const ask = async (path: string, init: RequestInit = {}): Promise<string> =>
      (await fetch(`${url}${path}`, init)).text();

    const proxy = '/api/v1/namespaces/shop/services/http:promscaler:8080/proxy';
    expect(await ask(`${proxy}/api/v1/scalers?limit=5`)).toBe('service GET /api/v1/scalers?limit=5 ');
    expect(await ask(proxy)).toBe('service GET / ');
    expect(await ask(`${proxy}xy/a`)).toBe(`api GET ${proxy}xy/a `);
    expect(await ask('/api/v1/namespaces/shop/services')).toBe('api GET /api/v1/namespaces/shop/services ');
    expect(await ask('/x', { method: 'PATCH', body: '{}' })).toBe('api PATCH /x {}');
    expect((await fetch(`${url}/gone`)).status).toBe(404);
  });

  it('answers 502 while the service does not listen', async () => {
    const { url } = await front(await echo('api'), 'http://127.0.0.1:1');

    const answer = await fetch(`${url}/api/v1/namespaces/shop/services/promscaler/proxy/metrics`);

    expect(answer.status).toBe(502);
  });

  it('streams a watch, and ends it at the cluster when the client disconnects', async () => {
    let isEnded: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (isEnded = resolve));
    const api = createServer((_, response) => {
      response.flushHeaders();
      response.write('first\n');
      response.on('close', isEnded);
    });
    endings.push(() => shut(api));
    const { url } = await front(await listen(api, 0), 'http://127.0.0.1:1');
    const client = new AbortController();

    const answer = await fetch(`${url}/watch`, { signal: client.signal });
    const chunk = await answer.body?.getReader().read();
    client.abort();
    await ended;

    expect(Buffer.from(chunk?.value ?? []).toString()).toBe('first\n');
  });
});
