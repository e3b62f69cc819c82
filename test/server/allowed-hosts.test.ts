import { connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createApp } from '../../src/server/app.js';
import { startServer } from '../../src/server/server.js';
import type { RunningServer } from '../../src/server/server.js';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { partsOf } from './app-parts.js';

const servers: RunningServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const HOSTS = {
  allowed: ['promscaler.example.com', '*.apps.example.com', 'MIXED.example.com'],
  apiServerNames: () => ['kubernetes', 'abc.gr7.eks.amazonaws.com', '*.k8s.example.net'],
};

describe('the Host header', () => {
  it.each([
    ['an address of a pod', '10.244.1.7:8080'],
    ['an address without a port', '10.244.1.7'],
    ['an IPv6 address', '[fd00::17]:8080'],
    ['an IPv6 address without a port', '[::1]'],
    ['port-forward', 'localhost:8080'],
    ['a name of localhost', 'promscaler.localhost:8080'],
    ['a Service of the same namespace', 'promscaler:8080'],
    ['a Service with its namespace', 'promscaler.monitoring.svc'],
    ['a whole Service name', 'promscaler.monitoring.svc.cluster.local:8080'],
    ['a name written out', 'promscaler.monitoring.svc.cluster.local.'],
    ['a name of the API server', 'abc.gr7.eks.amazonaws.com'],
    ['a name that matches a wildcard of its certificate', 'one.k8s.example.net:6443'],
    ['an allowed name', 'promscaler.example.com'],
    ['an allowed name in other letters', 'PromScaler.Example.com:443'],
    ['an allowed name in capitals', 'mixed.example.com'],
    ['a name under an allowed star', 'web.apps.example.com'],
    ['an empty name', ''],
  ])('with %s is accepted: %s', async (_what, host) => {
    expect(await statusOf(host, '/metrics')).toBe(200);
    expect(await statusOf(host, '/api/v1/scalers')).toBe(200);
  });

  it.each([
    'evil.example',
    'evil.example:8080',
    'promscaler.dev',
    'promscaler.example.com.evil.example',
    'x.promscaler.example.com',
    'apps.example.com',
    'a.b.apps.example.com',
    '.apps.example.com',
    'svc.evil.example',
    'promscaler.monitoring.svc.evil.example',
    'evilsvc.example',
    '10.0.0.1.evil.example',
    '127.1',
    'localhost.evil.example',
    'a.b.k8s.example.net',
  ])('with another name is rejected: %s', async (host) => {
    expect(await statusOf(host, '/metrics')).toBe(421);
    expect(await statusOf(host, '/api/v1/scalers')).toBe(421);
    expect(await statusOf(host, '/api/v1/events')).toBe(421);
    expect(await statusOf(host, '/api/v1/openapi.json')).toBe(421);
  });

  it.each(['/healthz', '/readyz'])('is not checked by %s', async (path) => {
    expect(await statusOf('evil.example', path)).toBe(200);
  });

  it('can be missing in HTTP/1.0, which no browser uses', async () => {
    expect(await statusOf(null, '/metrics')).toBe(200);
  });
});

async function statusOf(host: string | null, path: string): Promise<number> {
  const app = createApp({ ...partsOf(), hosts: HOSTS });
  const server = await startServer({ app, port: 0, host: '127.0.0.1', clock: SYSTEM_CLOCK });
  servers.push(server);
  const socket = connect(server.port, '127.0.0.1');
  const text = await new Promise<string>((resolve) => {
    socket.setEncoding('latin1').on('data', resolve);
    const head = host === null ? 'HTTP/1.0' : `HTTP/1.1\r\nHost: ${host}`;
    socket.write(`GET ${path} ${head}\r\nConnection: close\r\n\r\n`);
  });
  socket.destroy();
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
}
