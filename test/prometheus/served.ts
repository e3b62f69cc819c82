import { afterEach } from '@jest/globals';
import { createPrometheusClient, type PrometheusClient } from '../../src/prometheus/client/client.js';
import type { SourceConfig } from '../../src/prometheus/data-source/source-config.js';
import { aSource } from '../support/builders.js';
import { type FakeServer, realClock, startServer } from './fakes.js';

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(cleanups.splice(0).map((cleanup) => cleanup()));
});

export function afterThisTest(cleanup: () => Promise<unknown>): void {
  cleanups.push(cleanup);
}

/** Starts a server that is closed after the test. */
export async function serve(...parameters: Parameters<typeof startServer>): Promise<FakeServer> {
  const server = await startServer(...parameters);
  afterThisTest(server.close);
  return server;
}

export function serveText(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<FakeServer> {
  return serve((response) => response.writeHead(status, headers).end(body));
}

export function clientOf(overrides: Partial<SourceConfig>): PrometheusClient {
  return createPrometheusClient(aSource(overrides), realClock);
}
