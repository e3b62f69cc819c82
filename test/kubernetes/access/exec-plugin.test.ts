import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { findConnection } from '../../../src/kubernetes/access/connection.js';
import {
  createPluginCredentials,
  type PluginRun,
  type RunPlugin,
} from '../../../src/kubernetes/access/exec-plugin.js';
import { SILENT_LOG } from '../../../src/units/log.js';
import { ManualClock } from '../../support/manual-clock.js';
import { CA, CLIENT_CERTIFICATE, CLIENT_KEY } from './test-certificates.js';

const V1 = 'client.authentication.k8s.io/v1';
const CANARY = 'canary-51ce';
const EXEC = {
  apiVersion: V1,
  command: 'login',
  args: ['--cluster', 'dev'],
  env: { PROFILE: 'x' },
  provideClusterInfo: false,
  installHint: null,
} as const;

const credential = (status: object, apiVersion: string = V1): string =>
  JSON.stringify({ kind: 'ExecCredential', apiVersion, status });
const done = (stdout: string) => ({ kind: 'done', stdout }) as const;

/** A plugin with the outcomes of a test, repeating the last one; by default each run returns a new token. */
function setUp(outcomes: readonly Awaited<ReturnType<RunPlugin>>[] = [], exec = {}) {
  const clock = new ManualClock();
  const runs: PluginRun[] = [];
  const read = createPluginCredentials({
    exec: { ...EXEC, ...exec },
    clusterInfo: () => Promise.resolve({ server: 'https://api' }),
    clock,
    runPlugin: (run) => {
      runs.push(run);
      const token = `${CANARY}-${runs.length}`;
      const next = outcomes[Math.min(runs.length, outcomes.length) - 1];
      return Promise.resolve(next ?? done(credential({ token })));
    },
  });
  const tokens = async (...freshness: readonly boolean[]): Promise<readonly (string | null)[]> => {
    const found: (string | null)[] = [];
    for (const fresh of freshness) found.push((await read(fresh)).token);
    return found;
  };
  return { clock, runs, read, tokens };
}

describe('a credential plugin', () => {
  it('is run with its arguments, its environment and the cluster info that it requests', async () => {
    const { runs, read } = setUp();
    const informed = setUp([], { provideClusterInfo: true });

    await read();
    await informed.read();

    const info = { kind: 'ExecCredential', apiVersion: V1, spec: { interactive: false } };
    const run = { command: 'login', args: ['--cluster', 'dev'], timeoutMs: 30_000 };
    expect(runs).toEqual([{ ...run, env: { PROFILE: 'x', KUBERNETES_EXEC_INFO: JSON.stringify(info) } }]);
    expect(JSON.parse(informed.runs[0]?.env['KUBERNETES_EXEC_INFO'] ?? '')).toMatchObject({
      spec: { cluster: { server: 'https://api' } },
    });
  });

  it('is run once for concurrent requests, and again after a 401, but not within 5 s', async () => {
    const { clock, tokens, read, runs } = setUp();
    await Promise.all([read(), read(), read(true)]);

    clock.advance(4999);
    expect(await tokens(false, true)).toEqual([`${CANARY}-1`, `${CANARY}-1`]);
    clock.advance(1);
    expect(await tokens(false, true, false)).toEqual([`${CANARY}-1`, `${CANARY}-2`, `${CANARY}-2`]);
    expect(runs).toHaveLength(2);
  });

  it('is run again when its credentials expire, not before', async () => {
    const until = (second: string) =>
      done(credential({ token: second, expirationTimestamp: `2026-01-01T00:${second}Z` }));
    const { clock, tokens } = setUp([until('10:00'), until('20:00')]);

    expect(await tokens(false)).toEqual(['10:00']);
    clock.advance(599_999);
    expect(await tokens(false)).toEqual(['10:00']);
    clock.advance(1);
    expect(await tokens(false)).toEqual(['20:00']);
  });

  it('is retried 5 s after a failure, and its earlier credentials are used meanwhile', async () => {
    const failed = { kind: 'failed', why: 'ended with 1: no session', isMissing: false } as const;
    const { clock, tokens, read, runs } = setUp([failed, done(credential({ token: 'a' })), failed]);

    await expect(read()).rejects.toThrow('the credential plugin "login" ended with 1: no session');
    clock.advance(4999);
    await expect(read()).rejects.toThrow('no session');
    expect(runs).toHaveLength(1);
    clock.advance(1);
    expect(await tokens(false)).toEqual(['a']);
    clock.advance(5000);
    await expect(read(true)).rejects.toThrow('no session');
    expect(await tokens(false, true)).toEqual(['a', 'a']);
  });

  it('that does not exist is reported with the hint of the kubeconfig', async () => {
    const { read } = setUp([{ kind: 'failed', why: 'does not exist', isMissing: true }], {
      installHint: 'Install login.\n',
    });

    await expect(read()).rejects.toThrow('the credential plugin "login" does not exist. Install login.');
  });

  it.each([
    ['did not print an ExecCredential', CANARY],
    ['did not print an ExecCredential', JSON.stringify({ token: CANARY })],
    [`did not print apiVersion ${V1}`, credential({ token: CANARY }, 'client.authentication.k8s.io/v1beta1')],
    ['returned neither a token nor a certificate', credential({ user: CANARY })],
    ['must return both clientCertificateData and clientKeyData', credential({ clientKeyData: CANARY })],
    ['returned an invalid expirationTimestamp', credential({ token: CANARY, expirationTimestamp: CANARY })],
  ])('%s: the error contains no secret', async (words, stdout) => {
    const { read } = setUp([done(stdout)]);

    const error: unknown = await read().catch((caught: unknown) => caught);

    expect(String(error)).toContain(words);
    expect(String(error)).not.toContain(CANARY);
  });
});

describe('a kubeconfig with a plugin', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'promscaler-plugin-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const connect = async (runPlugin: RunPlugin, exec: object = {}) => {
    const kubeconfig = {
      'current-context': 'dev',
      contexts: [{ name: 'dev', context: { cluster: 'dev', user: 'dev' } }],
      clusters: [
        {
          name: 'dev',
          cluster: {
            server: 'https://api:6443',
            'certificate-authority-data': Buffer.from(CA).toString('base64'),
            extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'a' } }],
          },
        },
      ],
      users: [{ name: 'dev', user: { exec: { apiVersion: V1, command: './bin/login', ...exec } } }],
    };
    const path = join(directory, 'config');
    await writeFile(path, JSON.stringify(kubeconfig));
    const settings = { kubeconfig: path };
    return findConnection({
      settings,
      env: {},
      home: null,
      clock: new ManualClock(),
      log: SILENT_LOG,
      runPlugin,
    });
  };

  it('sends its token and presents its certificate, the same one until it changes', async () => {
    const status = { token: CANARY, clientCertificateData: CLIENT_CERTIFICATE, clientKeyData: CLIENT_KEY };
    const runs: PluginRun[] = [];

    const connection = await connect(
      (run) => {
        runs.push(run);
        return Promise.resolve(done(credential(status)));
      },
      { provideClusterInfo: true },
    );

    expect(await connection.authorization()).toBe(`Bearer ${CANARY}`);
    const tls = await connection.tls();
    expect(tls).toMatchObject({ ca: CA, certificate: CLIENT_CERTIFICATE, key: CLIENT_KEY, verify: true });
    expect(await connection.tls()).toBe(tls);
    expect(runs.map(({ command }) => command)).toEqual([join(directory, 'bin/login')]);
    expect(JSON.parse(runs[0]?.env['KUBERNETES_EXEC_INFO'] ?? '')).toMatchObject({
      spec: {
        cluster: {
          server: 'https://api:6443',
          'certificate-authority-data': Buffer.from(CA).toString('base64'),
          config: { audience: 'a' },
        },
      },
    });
  });

  it('that returns only a token presents no certificate', async () => {
    const connection = await connect(() => Promise.resolve(done(credential({ token: 't' }))));

    expect(await connection.tls()).toMatchObject({ ca: CA, certificate: null, key: null });
  });

  it('that fails is reported at startup', async () => {
    const failing = connect(() => Promise.resolve({ kind: 'failed', why: 'ended with 1', isMissing: false }));

    await expect(failing).rejects.toThrow(/login" ended with 1$/);
  });
});
