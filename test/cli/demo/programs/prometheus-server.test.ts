import { once } from 'node:events';
import { connect } from 'node:net';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { findPrometheus } from '../../../../src/cli/demo/programs/prometheus-release.js';
import {
  freePort,
  reservePort,
  startPrometheus,
} from '../../../../src/cli/demo/programs/prometheus-server.js';
import type {
  PrometheusOptions,
  RunningPrometheus,
} from '../../../../src/cli/demo/programs/prometheus-server.js';
import { SYSTEM_CLOCK } from '../../../../src/cli/system-clock.js';

// The first run on a machine downloads 20 MB into the cache.
jest.setTimeout(300_000);

let binary = '';
const running: RunningPrometheus[] = [];

beforeAll(async () => {
  binary = await findPrometheus({ env: process.env, clock: SYSTEM_CLOCK });
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((prometheus) => prometheus.stop()));
});

describe('startPrometheus', () => {
  it('answers a query, and leaves no directory when it is stopped', async () => {
    const prometheus = await start();

    const answer = await query(prometheus, 'vector(42)');
    await prometheus.stop();

    expect(answer).toBe('42');
    await expect(stat(prometheus.directory)).rejects.toThrow('ENOENT');
    expect(await prometheus.ended).toMatch(/^Prometheus ended /);
  });

  it('uses a different port for each of two', async () => {
    const [one, two] = await Promise.all([start(), start()]);

    expect(one.port).not.toBe(two.port);
    expect(await query(two, 'vector(2)')).toBe('2');
  });

  it('restarts at the same port with the kept data', async () => {
    const first = await start();
    await first.stop({ keepData: true });

    const second = await start({ port: first.port, directory: first.directory });

    expect(second.url).toBe(first.url);
    expect((await stat(join(second.directory, 'data'))).isDirectory()).toBe(true);
  });

  it('throws with its last lines if the config is invalid, and removes its temporary directory', async () => {
    await expect(start({ config: 'nonsense: true\n' })).rejects.toThrow(
      /^Prometheus ended with code \d: .*field nonsense not found/,
    );
  });

  it('does not mistake another Prometheus at the given port for its own, and keeps the given directory', async () => {
    const first = await start();
    const directory = await mkdtemp(join(tmpdir(), 'promscaler-test-'));

    await expect(start({ port: first.port, directory })).rejects.toThrow('address already in use');

    expect((await stat(directory)).isDirectory()).toBe(true);
    await rm(directory, { recursive: true });
  });

  it('throws if the program does not exist', async () => {
    await expect(start({ binary: '/nowhere/prometheus' })).rejects.toThrow(
      'Prometheus cannot be started: spawn /nowhere/prometheus ENOENT',
    );
  });

  it('reports that the program ended unexpectedly', async () => {
    const prometheus = await start();

    prometheus.signal('SIGKILL');

    expect(await prometheus.ended).toMatch(/^Prometheus ended by SIGKILL/);
  });
});

describe('reservePort', () => {
  it('holds a port until it is released, closes its connections, and can be released twice', async () => {
    const { port, release } = await reservePort();

    await once(connect(port, '127.0.0.1').resume(), 'close');
    expect(await freePort(port)).not.toBe(port);

    await release();
    await release();
    expect(await freePort(port)).toBe(port);
  });
});

async function start(overrides: Partial<PrometheusOptions> = {}): Promise<RunningPrometheus> {
  const config = 'global: { scrape_interval: 15s }\n';
  const prometheus = await startPrometheus({
    binary,
    config,
    env: process.env,
    clock: SYSTEM_CLOCK,
    ...overrides,
  });
  running.push(prometheus);
  return prometheus;
}

async function query(prometheus: RunningPrometheus, expression: string): Promise<string | undefined> {
  const response = await fetch(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(expression)}`);
  const body = (await response.json()) as { data: { result: { value: [number, string] }[] } };
  return body.data.result[0]?.value[1];
}
