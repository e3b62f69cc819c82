import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { createReceiver } from '../../src/notifications/post.js';
import type { PostResult } from '../../src/notifications/post.js';
import type { ReceiverConfig } from '../../src/notifications/notification.js';
import { type FakeServer, realClock, startServer } from '../prometheus/fakes.js';
import { aReceiver } from './builders.js';

const directory = mkdtempSync(join(tmpdir(), 'notifications-'));
let server: FakeServer | null = null;

afterEach(async () => server?.close());
afterAll(() => rmSync(directory, { recursive: true }));

function fileWith(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

async function post(
  respond: Parameters<typeof startServer>[0],
  config: (url: string) => Partial<ReceiverConfig> = (url) => ({ url }),
  timeoutMs = 10_000,
): Promise<PostResult> {
  await server?.close();
  server = await startServer(respond);
  return createReceiver(aReceiver(config(server.url)), realClock).post('{"a":1}', { timeoutMs });
}

describe('a request to a receiver', () => {
  it('is a POST of JSON to the URL of the file, with the token', async () => {
    const result = await post(
      (response) => response.end('ok'),
      (url) => ({
        url: null,
        urlFile: fileWith('url', `${url}/services/T0/SECRET?a=1\n`),
        bearerTokenFile: fileWith('token', 'abcdef\n'),
      }),
    );

    expect(result).toEqual({ kind: 'sent' });
    expect(server?.requests).toMatchObject([
      {
        method: 'POST',
        url: '/services/T0/SECRET?a=1',
        headers: { 'content-type': 'application/json', authorization: 'Bearer abcdef' },
      },
    ]);
    expect(server?.requests[0]?.form.has('{"a":1}')).toBe(true);
  });

  it.each([
    ['', '/api/v2/alerts'],
    ['/', '/api/v2/alerts'],
    ['/prefix/', '/prefix/api/v2/alerts'],
    ['/api/v2', '/api/v2/alerts'],
    ['/prefix/api/v2/alerts', '/prefix/api/v2/alerts'],
  ])('goes to the API of Alertmanager below %j', async (path, asked) => {
    await post(
      (response) => response.end(),
      (url) => ({ format: 'alertmanager', url: `${url}${path}` }),
    );

    expect(server?.requests.map(({ url }) => url)).toEqual([asked]);
  });

  it.each([
    [200, { kind: 'sent' }],
    [204, { kind: 'sent' }],
    [302, { kind: 'failed', why: 'redirect', mayRetry: false }],
    [400, { kind: 'failed', why: 'rejected', mayRetry: false }],
    [404, { kind: 'failed', why: 'rejected', mayRetry: false }],
    [429, { kind: 'failed', why: 'rate limited', mayRetry: true, retryAfterSeconds: 7 }],
    [500, { kind: 'failed', why: 'server error', mayRetry: true }],
    [503, { kind: 'failed', why: 'server error', mayRetry: true, retryAfterSeconds: 7 }],
  ])('answered with %i', async (status, result) => {
    expect(
      await post((response) =>
        response.writeHead(status, { 'retry-after': '7', location: 'http://127.0.0.1:1/' }).end('SECRET'),
      ),
    ).toMatchObject(result);
    expect(server?.requests).toHaveLength(1);
  });

  it('ends at its timeout if the receiver is silent (O10)', async () => {
    const result = await post(() => undefined, undefined, 50);

    expect(result).toMatchObject({ kind: 'failed', why: 'timeout', mayRetry: true });
  });

  it('does not read an endless answer (O10)', async () => {
    let isClosed = false;
    const result = await post((response) => {
      response.on('close', () => (isClosed = true)).on('error', () => undefined);
      response.writeHead(200);
      const write = (): void => {
        while (!isClosed && response.write(Buffer.alloc(65_536))) continue;
      };
      response.on('drain', write);
      write();
    });

    expect(result).toEqual({ kind: 'sent' });
  });

  it('fails without a server', async () => {
    const receiver = createReceiver(aReceiver({ url: 'http://127.0.0.1:1' }), realClock);

    expect(await receiver.post('{}', { timeoutMs: 5000 })).toMatchObject({
      why: 'connection',
      mayRetry: true,
    });
  });

  it.each([
    ['is missing', join(directory, 'none')],
    ['is empty', fileWith('empty', ' \n')],
    ['has no URL', fileWith('text', 'hooks.slack.com/services/SECRET')],
    ['has another scheme', fileWith('scheme', 'file:///etc/passwd')],
    ['has two lines', fileWith('lines', 'http://127.0.0.1:1/a\nb')],
  ])('is not sent if the file of its URL %s', async (_, urlFile) => {
    const receiver = createReceiver(aReceiver({ url: null, urlFile }), realClock);

    expect(await receiver.post('{}', { timeoutMs: 5000 })).toMatchObject({
      why: 'credentials',
      status: null,
    });
  });
});
