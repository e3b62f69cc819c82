import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPrometheusClient } from '../../../src/prometheus/client/client.js';
import { createConnection } from '../../../src/prometheus/client/connection.js';
import type { SourceTls } from '../../../src/prometheus/data-source/source-config.js';
import type { Clock } from '../../../src/units/clock.js';
import { aSource } from '../../support/builders.js';
import { ManualClock, settle } from '../../support/manual-clock.js';
import { realClock, vectorBody } from '../fakes.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../tls-fixture.js';

const NO_TLS: SourceTls = {
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

const ask = (tls: Partial<SourceTls>) =>
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

describe('createConnection', () => {
  it('keeps the last valid certificate and token while the files are invalid, and uses new ones after 10 s', async () => {
    let nowMs = 0;
    const clock: Clock = { ...realClock, monotonicMs: () => nowMs, after: () => () => undefined };
    const tokenFile = join(directory, 'token');
    const ca = join(directory, 'changing-ca.pem');
    await writeFile(tokenFile, 'token-1');
    await writeFile(ca, TEST_CERTIFICATE);
    const connect = createConnection(
      aSource({ bearerTokenFile: tokenFile, tls: { ...NO_TLS, caFile: ca } }),
      clock,
    );
    const first = await connect();

    await writeFile(tokenFile, '');
    await writeFile(ca, '-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----');
    nowMs = 10_000;
    const broken = await connect();
    await writeFile(tokenFile, 'token-2');
    await writeFile(ca, `${TEST_CERTIFICATE}${TEST_CERTIFICATE}`);
    nowMs = 19_999;
    const early = await connect();
    nowMs = 20_000;
    const renewed = await connect();

    expect([first, broken, early, renewed].map(({ headers }) => headers['Authorization'])).toEqual([
      'Bearer token-1',
      'Bearer token-1',
      'Bearer token-1',
      'Bearer token-2',
    ]);
    expect(broken.httpsAgent).toBe(first.httpsAgent);
    expect(renewed.httpsAgent).not.toBe(first.httpsAgent);
  });
});

describe('the turns in which large bodies end', () => {
  it('are one for each body, in the order of the calls, also after a pause', async () => {
    const clock = new ManualClock();
    const { takeTurn } = await createConnection(aSource(), clock)();
    const resolved: number[] = [];
    const states: number[][] = [];
    for (const numbers of [[1, 2, 3], [4]]) {
      for (const number of numbers) void takeTurn?.().then(() => resolved.push(number));
      await settle();
      states.push([...resolved]);
      for (let turn = 0; turn < numbers.length; turn += 1) {
        clock.advance(0);
        await settle();
        states.push([...resolved]);
      }
    }

    expect(states).toEqual([[], [1], [1, 2], [1, 2, 3], [1, 2, 3], [1, 2, 3, 4]]);
    expect(clock.pending).toBe(0);
  });
});
