import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPrometheusClient } from '../../../src/prometheus/client/client.js';
import type { TlsFiles } from '../../../src/http/tls.js';
import { aSource } from '../../support/builders.js';
import { eventually, ManualClock, settle } from '../../support/manual-clock.js';
import { realClock, startServer, vectorBody } from '../fakes.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../tls-fixture.js';

const NO_TLS: TlsFiles = {
  caFile: null,
  certFile: null,
  keyFile: null,
  serverName: null,
  insecureSkipVerify: false,
};

let server: Server;
let directory: string;
let caFile: string;
let url: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'connection-test-'));
  caFile = join(directory, 'ca.pem');
  await writeFile(caFile, TEST_CERTIFICATE);
  server = createServer({ cert: TEST_CERTIFICATE, key: TEST_KEY }, (_request, response) =>
    response.end(vectorBody([{ labels: {}, value: 1 }])),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(directory, { recursive: true });
});

const ask = (tls: Partial<TlsFiles>) =>
  createPrometheusClient(aSource({ urls: [url], tls: { ...NO_TLS, ...tls } }), realClock).query('x', {
    timeoutMs: 10_000,
  });

describe('a query over TLS', () => {
  it('trusts the authority of caFile for the name of serverName', async () => {
    await expect(ask({ caFile, serverName: 'localhost' })).resolves.toMatchObject({ class: 'value' });
  });

  it('rejects an unknown authority', async () => {
    await expect(ask({ serverName: 'localhost' })).resolves.toMatchObject({
      reason: 'connection',
      message: expect.stringContaining('set tls.caFile'),
    });
  });

  it('rejects another host name', async () => {
    await expect(ask({ caFile })).resolves.toMatchObject({
      reason: 'connection',
      message: expect.stringContaining('set tls.serverName'),
    });
  });

  it('verifies nothing with insecureSkipVerify', async () => {
    await expect(ask({ insecureSkipVerify: true })).resolves.toMatchObject({ class: 'value' });
  });

  it('names the missing file', async () => {
    await expect(ask({ caFile: join(directory, 'nosuch') })).resolves.toMatchObject({
      reason: 'unauthorized',
      message: expect.stringContaining('tls.caFile'),
    });
  });
});

describe('the headers of a query', () => {
  const headersFor = async (headers: Readonly<Record<string, string>>, user = '') => {
    const asked = await startServer((response) => response.end(vectorBody([])));
    const urls = [asked.url.replace('//', `//${user}`)];
    await createPrometheusClient(aSource({ urls, headers }), realClock).query('é', { timeoutMs: 10_000 });
    await asked.close();
    const [request] = asked.requests;
    const host = asked.url.replace('http://', '');
    return { host, headers: request?.headers, form: request?.form.get('query') };
  };

  it('have the host and the length of the body', async () => {
    const { host, headers, form } = await headersFor({ 'X-Scope-OrgID': 'team' });

    expect(headers).toMatchObject({
      host,
      'content-length': '28',
      'content-type': 'application/x-www-form-urlencoded',
      'x-scope-orgid': 'team',
      'user-agent': 'promscaler',
      accept: 'application/json',
      'accept-encoding': 'gzip',
    });
    expect(form).toBe('é');
  });

  it('have the host and the user agent of the config instead', async () => {
    const { headers, form } = await headersFor({
      host: 'prometheus.example',
      'user-agent': 'me',
      ACCEPT: 'x',
    });

    expect(headers).toMatchObject({
      host: 'prometheus.example',
      'user-agent': 'me',
      accept: 'application/json',
    });
    expect(form).toBe('é');
  });

  it('have the user of the URL', async () => {
    const { headers } = await headersFor({}, 'me:secret@');

    expect(headers).toMatchObject({ authorization: `Basic ${Buffer.from('me:secret').toString('base64')}` });
  });
});

describe('two answers of 300 KiB that arrive together', () => {
  it('end in two turns of the event loop', async () => {
    const asked = await startServer((response) => response.end(vectorBody([]).padEnd(300 * 1024)));
    const clock = new ManualClock();
    const client = createPrometheusClient(aSource({ urls: [asked.url] }), clock);
    let answered = 0;
    const answers = ['a', 'b'].map((query) =>
      client.query(query, { timeoutMs: 10_000 }).then(() => (answered += 1)),
    );
    // The time limits, and the first of the turns.
    await eventually(() => clock.pending === 3);
    expect(answered).toBe(0);

    clock.advance(0);
    await eventually(() => answered > 0);
    await settle();
    // A time limit, and the second turn.
    expect([answered, clock.pending]).toEqual([1, 2]);

    clock.advance(0);
    await Promise.all(answers);
    await asked.close();
  });
});
