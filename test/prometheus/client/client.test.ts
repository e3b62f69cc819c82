import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { createPrometheusClient } from '../../../src/prometheus/client/client.js';
import type { SourceConfig } from '../../../src/prometheus/data-source/source-config.js';
import { aSource, T0 } from '../../support/builders.js';
import { realClock, vectorBody } from '../fakes.js';
import { afterThisTest, clientOf, serve, serveText } from '../served.js';

const BODY = vectorBody([{ labels: { pod: 'a' }, value: 3 }]);
const VALUE = { class: 'value', series: [{ labels: { pod: 'a' }, value: 3 }], evaluatedAt: T0 };

async function aFile(content: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'client-test-'));
  afterThisTest(() => rm(directory, { recursive: true }));
  const path = join(directory, 'secret');
  await writeFile(path, content);
  return path;
}

const ask = (overrides: Partial<SourceConfig>, timeoutMs = 2000) =>
  clientOf(overrides).query('sum(x{a="&+é"})', { timeoutMs });

describe('a query', () => {
  it('is a POST form with the server-side timeout and without a time', async () => {
    const server = await serveText(200, BODY);

    await expect(ask({ urls: [`${server.url}/prefix/`] })).resolves.toMatchObject(VALUE);

    const [request] = server.requests;
    expect([request?.method, request?.url]).toEqual(['POST', '/prefix/api/v1/query']);
    // The rest of the 2000 ms when the request is built.
    const timeout: unknown = expect.stringMatching(/^(?:1\d{3}|2000)ms$/);
    expect(Object.fromEntries(request?.form ?? [])).toEqual({ query: 'sum(x{a="&+é"})', timeout });
  });

  it('counts the series whose labels were in the last answer to the same query', async () => {
    const labels = ['a', 'b', 'c'].map((pod) => ({ labels: { pod }, value: 1 }));
    const bodies = [vectorBody(labels), vectorBody(labels), 'an error', vectorBody(labels.toSpliced(1, 1))];
    const server = await serve((response) => {
      const body = bodies.shift() ?? '';
      response.writeHead(body === 'an error' ? 500 : 200).end(body);
    });
    const client = clientOf({ urls: [server.url] });

    while (bodies.length > 0) await client.query('x', { timeoutMs: 2000, mayRetry: false });

    expect(client.series()).toEqual({ known: 3, read: 5 });
  });

  it.each([405, 501])('falls back to GET after %d, permanently', async (status) => {
    const server = await serve((response, { method }) =>
      method === 'POST' ? response.writeHead(status).end() : response.end(BODY),
    );
    const client = clientOf({ urls: [server.url] });

    await client.query('x + y', { timeoutMs: 2000 });

    await expect(client.query('x + y', { timeoutMs: 2000 })).resolves.toMatchObject(VALUE);
    expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
    expect(new URL(server.requests[1]?.url ?? '', server.url).searchParams.get('query')).toBe('x + y');
  });

  it.each([
    ['thanos', { dedup: 'true', partial_response: 'false', max_source_resolution: '0s' }],
    ['victoriametrics', { nocache: '1', deny_partial_response: '1' }],
  ] as const)('of %s has its safety parameters', async (flavor, parameters) => {
    const server = await serveText(200, BODY);

    await ask({ urls: [server.url], flavor });

    expect(Object.fromEntries(server.requests[0]?.form ?? [])).toMatchObject(parameters);
  });

  it.each([
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['identity', (text: string) => text],
  ])('reads an answer with the encoding %s', async (encoding, encode) => {
    const server = await serve((response) =>
      response.writeHead(200, { 'Content-Encoding': encoding }).end(encode(BODY)),
    );

    await expect(ask({ urls: [server.url] })).resolves.toMatchObject(VALUE);
  });
});

describe('a failing query', () => {
  it.each([
    ['HTML', 200, '<html>log in</html>', 'bad_answer'],
    ['text', 200, 'hello', 'bad_answer'],
    ['a parse error', 400, '{"status":"error","errorType":"bad_data","error":"1:1"}', 'bad_query'],
    ['503', 503, 'Service Unavailable', 'server_error'],
    ['401', 401, '', 'unauthorized'],
    ['429', 429, '', 'rate_limited'],
  ])('with %s is failed', async (_name, status, body, reason) => {
    const server = await serveText(status, body);

    await expect(ask({ urls: [server.url] })).resolves.toMatchObject({ class: 'failed', reason });
  });

  it('does not follow a redirect', async () => {
    const other = await serveText(200, BODY);
    const server = await serveText(302, '', { Location: `${other.url}/api/v1/query` });

    await expect(ask({ urls: [server.url] })).resolves.toMatchObject({ reason: 'bad_answer' });
    expect(other.requests).toHaveLength(0);
  });

  it('ends at its deadline if the answer arrives slowly', async () => {
    const server = await serve((response) => {
      const timer = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(timer));
    });

    await expect(ask({ urls: [server.url] }, 1000)).resolves.toMatchObject({
      reason: 'timeout',
      message: expect.stringMatching(/^timeout after (?:[5-9]\d\d|1000) ms \(127\.0\.0\.1:\d+\)$/),
    });
  });

  it('is canceled when its signal is aborted', async () => {
    const controller = new AbortController();
    const server = await serve(() => controller.abort());

    const answer = clientOf({ urls: [server.url] }).query('x', {
      timeoutMs: 5000,
      signal: controller.signal,
    });

    await expect(answer).resolves.toMatchObject({ reason: 'canceled' });
  });

  it('is not retried with mayRetry: false', async () => {
    const server = await serveText(503, 'Service Unavailable');

    await clientOf({ urls: [server.url] }).query('x', { timeoutMs: 2000, mayRetry: false });
    expect(server.requests).toHaveLength(1);
    await clientOf({ urls: [server.url] }).query('x', { timeoutMs: 2000 });
    expect(server.requests).toHaveLength(3);
  });

  it('is retried once if the connection breaks', async () => {
    let count = 0;
    const server = await serve((response) => {
      count += 1;
      if (count === 1) response.destroy();
      else response.end(BODY);
    });

    await expect(ask({ urls: [server.url] })).resolves.toMatchObject(VALUE);
  });

  it('fails for the reason of the retry if the server then rejects the query', async () => {
    const rejection = '{"status":"error","errorType":"bad_data","error":"1:5: parse error"}';
    let count = 0;
    const server = await serve((response) => {
      count += 1;
      if (count === 1) response.destroy();
      else response.writeHead(400, { 'Content-Type': 'application/json' }).end(rejection);
    });

    await expect(ask({ urls: [server.url] })).resolves.toMatchObject({ reason: 'bad_query' });
  });

  it('is rejected above 16 MiB after decompression', async () => {
    const server = await serve((response) =>
      response
        .writeHead(200, { 'Content-Encoding': 'gzip' })
        .end(gzipSync(Buffer.alloc(17 * 1024 * 1024, 32))),
    );

    await expect(ask({ urls: [server.url] }, 5000)).resolves.toMatchObject({ reason: 'too_large' });
  });

  it('is not sent to a data: url', async () => {
    const url = `data:application/json,${encodeURIComponent(BODY)}`;

    await expect(ask({ urls: [url] })).resolves.toMatchObject({ class: 'failed', reason: 'connection' });
  });

  it('waits for the Retry-After of a 429 before the next request', async () => {
    const server = await serveText(429, '', { 'Retry-After': '60' });
    const client = clientOf({ urls: [server.url] });

    await client.query('x', { timeoutMs: 1000 });

    await expect(client.query('x', { timeoutMs: 1000 })).resolves.toMatchObject({ reason: 'rate_limited' });
    expect(server.requests).toHaveLength(1);
  });
});

describe('several urls', () => {
  it('are tried in order, with a failed one last for a while', async () => {
    const bad = await serveText(503, 'Service Unavailable');
    const good = await serveText(200, BODY);
    const client = clientOf({ urls: [bad.url, good.url] });

    await expect(client.query('x', { timeoutMs: 2000 })).resolves.toMatchObject(VALUE);
    await expect(client.query('x', { timeoutMs: 2000 })).resolves.toMatchObject(VALUE);

    expect([bad.requests.length, good.requests.length]).toEqual([1, 2]);
  });

  it('are tried in order again by one query in 30 s, until the failed one has answered', async () => {
    let nowMs = 0;
    let status = 503;
    const first = await serve((response) => response.writeHead(status).end(BODY));
    const second = await serveText(200, BODY);
    const clock = { ...realClock, monotonicMs: () => nowMs };
    const client = createPrometheusClient(aSource({ urls: [first.url, second.url] }), clock);
    const askAt = async (ms: number): Promise<readonly number[]> => {
      nowMs = ms;
      await client.query('x', { timeoutMs: 2000 });
      return [first.requests.length, second.requests.length];
    };

    expect(await askAt(0)).toEqual([1, 1]);
    expect(await askAt(29_999)).toEqual([1, 2]);
    expect(await askAt(30_000)).toEqual([2, 3]);
    expect(await askAt(59_999)).toEqual([2, 4]);
    status = 200;
    expect(await askAt(60_000)).toEqual([3, 4]);
    expect(await askAt(60_001)).toEqual([4, 4]);
  });

  it('have at most one query on the failed one while it does not answer', async () => {
    let nowMs = 0;
    let isSilent = false;
    const first = await serve((response) => {
      if (!isSilent) response.writeHead(503).end();
    });
    const second = await serveText(200, BODY);
    const clock = { ...realClock, monotonicMs: () => nowMs };
    const client = createPrometheusClient(aSource({ urls: [first.url, second.url] }), clock);
    await client.query('x', { timeoutMs: 2000 });
    nowMs = 30_000;
    isSilent = true;

    const answers = await Promise.all(
      ['a', 'b', 'c'].map((query) => client.query(query, { timeoutMs: 2000 })),
    );

    expect(answers).toMatchObject([VALUE, VALUE, VALUE]);
    expect(first.requests).toHaveLength(2);
  });

  it('share the deadline: a silent first one leaves time for the second', async () => {
    const silent = await serve(() => undefined);
    const good = await serveText(200, BODY);

    await expect(ask({ urls: [silent.url, good.url] }, 2000)).resolves.toMatchObject(VALUE);
  });

  it('are not all tried for an invalid query', async () => {
    const first = await serveText(400, '{"status":"error","errorType":"bad_data","error":"1:1"}');
    const second = await serveText(200, BODY);

    await expect(ask({ urls: [first.url, second.url] })).resolves.toMatchObject({ reason: 'bad_query' });
    expect(second.requests).toHaveLength(0);
  });

  it('are all named if all fail', async () => {
    const bad = await serveText(200, 'hello');

    const answer = await ask({ urls: [bad.url, 'http://127.0.0.1:1'] });

    expect(JSON.stringify(answer)).toMatch(
      /HTTP 200 with text instead of JSON \(127\.0\.0\.1:\d+\); connection refused \(127\.0\.0\.1:1\)/,
    );
  });
});

describe('credentials', () => {
  it('are sent as configured: headers and a bearer token', async () => {
    const server = await serveText(200, BODY);
    const bearerTokenFile = await aFile(' tok-1\n');

    await ask({ urls: [server.url], headers: { 'X-Scope-OrgID': 'team-a' }, bearerTokenFile });

    expect(server.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer tok-1',
      'x-scope-orgid': 'team-a',
    });
  });

  it('are sent as basic auth', async () => {
    const server = await serveText(200, BODY);
    const passwordFile = await aFile('pass:word');

    await ask({ urls: [server.url], basicAuth: { username: 'me', passwordFile } });

    const expected = Buffer.from('me:pass:word').toString('base64');
    expect(server.requests[0]?.headers.authorization).toBe(`Basic ${expected}`);
  });

  it('are read again after a 401', async () => {
    const bearerTokenFile = await aFile('old-token');
    const server = await serve((response, { headers }) =>
      headers.authorization === 'Bearer new-token' ? response.end(BODY) : response.writeHead(401).end(),
    );
    const client = clientOf({ urls: [server.url], bearerTokenFile });
    await client.query('x', { timeoutMs: 2000 });

    await writeFile(bearerTokenFile, 'new-token');

    await expect(client.query('x', { timeoutMs: 2000 })).resolves.toMatchObject(VALUE);
  });

  it('that cannot be read fail the query without a request', async () => {
    const server = await serveText(200, BODY);

    await expect(ask({ urls: [server.url], bearerTokenFile: '/nonexistent/token' })).resolves.toMatchObject({
      reason: 'unauthorized',
      message: expect.stringContaining('bearerTokenFile'),
    });
    expect(server.requests).toHaveLength(0);
  });

  it.each([
    ['a server that repeats them', 400],
    ['a connection that breaks', 0],
    ['a warning', 200],
  ])('appear in no message: %s', async (_name, status) => {
    const bearerTokenFile = await aFile('canary-token');
    const server = await serve((response, { headers }) => {
      const echo = JSON.stringify(headers);
      if (status === 0) response.destroy();
      else if (status === 400) {
        response.writeHead(400).end(JSON.stringify({ status: 'error', errorType: 'bad_data', error: echo }));
      } else response.end(JSON.stringify({ ...(JSON.parse(BODY) as object), warnings: [echo] }));
    });

    const answer = await ask({ urls: [server.url], headers: { 'X-Key': 'canary-header' }, bearerTokenFile });

    expect(['failed', 'partial']).toContain(answer.class);
    expect(JSON.stringify(answer)).not.toContain('canary');
  });
});
