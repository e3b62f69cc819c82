import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import type { TlsMaterial } from '../../../src/http/tls.js';
import type { Connection } from '../../../src/kubernetes/access/connection.js';
import { createTransport, type Transport } from '../../../src/kubernetes/requests/transport.js';
import { ManualClock } from '../../support/manual-clock.js';
import { CA, CLIENT_CERTIFICATE, CLIENT_KEY, SERVER_CERTIFICATE, SERVER_KEY } from './test-certificates.js';

const TRUSTED: TlsMaterial = {
  ca: CA,
  certificate: null,
  key: null,
  serverName: 'kubernetes.default.svc',
  verify: true,
};

let server: Server;
let transport: Transport;
let material: TlsMaterial;
let serverNames: (readonly string[])[];

beforeEach(async () => {
  const options = {
    cert: SERVER_CERTIFICATE,
    key: SERVER_KEY,
    ca: CA,
    requestCert: true,
    rejectUnauthorized: false,
  };
  server = createServer(options, (request, response) => {
    const peer = request.socket instanceof TLSSocket ? request.socket.getPeerCertificate() : null;
    const hasShown = peer !== null && Object.keys(peer).length > 0;
    response.end(JSON.stringify({ client: hasShown ? peer.subject.CN : null }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const connection: Connection = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    source: 'test',
    authorization: () => Promise.resolve(null),
    tls: () => Promise.resolve(material),
  };
  serverNames = [];
  const onServerNames = (names: readonly string[]): void => void serverNames.push(names);
  transport = createTransport({ connection, clock: new ManualClock(), onServerNames });
});

afterEach(async () => {
  transport.close();
  await new Promise((resolve) => server.close(resolve));
});

function read(lane: 'read' | 'list' = 'read') {
  return transport.request({
    lane,
    path: '/version',
    doing: 'reading the version',
    verb: 'get',
    resource: 'version',
    deadlineMs: 5000,
  });
}

describe('TLS', () => {
  it('trusts the configured CA and verifies the server name', async () => {
    material = TRUSTED;

    expect(await read()).toEqual({ client: null });
  });

  it('rejects a server certificate of another CA', async () => {
    material = { ...TRUSTED, ca: null };

    await expect(read()).rejects.toMatchObject({
      kind: 'connection',
      message: expect.stringMatching(/^reading the version: .*certificate.*/),
    });
  });

  it('rejects a server certificate for another name', async () => {
    material = { ...TRUSTED, serverName: 'other.test' };

    await expect(read()).rejects.toMatchObject({ kind: 'connection' });
  });

  it('skips verification only if configured', async () => {
    material = { ...TRUSTED, ca: null, verify: false };

    expect(await read()).toEqual({ client: null });
  });

  it('presents its client certificate, also one that was configured later', async () => {
    material = TRUSTED;
    const before = await read();
    material = { ...TRUSTED, certificate: CLIENT_CERTIFICATE, key: CLIENT_KEY };

    expect([before, await read()]).toEqual([{ client: null }, { client: 'alice' }]);
  });

  it('returns the DNS names in the certificate of a server that it lists from', async () => {
    material = TRUSTED;

    await read('list');
    await read('list');
    await read();

    expect(serverNames).toEqual([['kubernetes.default.svc'], ['kubernetes.default.svc']]);
  });

  it('returns no names of a certificate that is not verified', async () => {
    material = { ...TRUSTED, ca: null, verify: false };

    await read('list');

    expect(serverNames).toEqual([]);
  });
});
