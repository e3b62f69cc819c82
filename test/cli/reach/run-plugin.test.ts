import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { pluginRunner } from '../../../src/cli/reach/cluster-options.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { folderOf, runCli } from '../fake-io.js';

const run = (script: string, timeoutMs = 10_000, command = process.execPath) =>
  pluginRunner({ env: { ...process.env, OURS: 'o' }, clock: SYSTEM_CLOCK })({
    command,
    args: ['-e', script],
    env: { ITS: 'i' },
    timeoutMs,
  });

describe('pluginRunner', () => {
  it('returns standard output, with both environments and an empty standard input', async () => {
    const script = `process.stdin.on('data', () => {}).on('end', () => console.log(process.env.OURS + process.env.ITS))`;

    expect(await run(script)).toEqual({ kind: 'done', stdout: 'oi\n' });
  });

  it('reports the last line of standard error, truncated, and none of the arguments', async () => {
    const script = `console.error('first canary'); console.error('x'.repeat(300)); console.log('canary'); process.exit(3)`;

    const outcome = await run(script);

    expect(outcome).toEqual({
      kind: 'failed',
      why: `ended with 3: ${'x'.repeat(200)}...`,
      isMissing: false,
    });
  });

  it('ends a plugin that does not end', async () => {
    expect(await run('setInterval(() => {}, 1000)', 300)).toEqual({
      kind: 'failed',
      why: 'did not end within 0.3 s',
      isMissing: false,
    });
  });

  it('reports a missing program', async () => {
    expect(await run('', 1000, '/nonexistent/login')).toEqual({
      kind: 'failed',
      why: 'does not exist',
      isMissing: true,
    });
  });
});

describe('a kubeconfig that names a plugin', () => {
  /** Creates a directory with a kubeconfig whose plugin creates a file `asked`. */
  const signedOut = (): { folder: string; wasAsked: () => boolean; env: Record<string, string> } => {
    const apiVersion = 'client.authentication.k8s.io/v1';
    const credential = JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token: 't' } });
    const folder = folderOf({});
    const asked = join(folder, 'asked');
    const script = `fs.writeFileSync(${JSON.stringify(asked)}, ''); console.log(${JSON.stringify(credential)})`;
    const exec = { apiVersion, command: process.execPath, args: ['-e', script], interactiveMode: 'Never' };
    const kubeconfig = {
      'current-context': 'dev',
      contexts: [{ name: 'dev', context: { cluster: 'dev', user: 'dev', namespace: 'shop' } }],
      clusters: [
        {
          name: 'dev', // Over plain http no plugin is started; nothing listens at port 1.
          cluster: { server: 'https://127.0.0.1:1' },
        },
      ],
      users: [{ name: 'dev', user: { exec } }],
    };
    const path = join(folderOf({ kubeconfig: JSON.stringify(kubeconfig) }), 'kubeconfig');
    return { folder, wasAsked: () => existsSync(asked), env: { KUBECONFIG: path } };
  };

  it('is run by new, which uses its credentials for the cluster', async () => {
    const { env, wasAsked } = signedOut();

    const { exitCode, stdout, stderr } = await runCli(['new', 'web', '--max', '5'], { env });

    expect([exitCode, wasAsked()]).toEqual([0, true]);
    expect(stderr).toContain('ECONNREFUSED');
    expect(stdout).toContain('  namespace: shop #');
  });

  it('is not run by new --offline', async () => {
    const { env, wasAsked } = signedOut();

    const { exitCode } = await runCli(['new', 'web', '--max', '5', '--offline'], { env });

    expect([exitCode, wasAsked()]).toEqual([0, false]);
  });

  it('is run by doctor', async () => {
    const { env, folder, wasAsked } = signedOut();

    const { stdout } = await runCli(['doctor', '-o', 'json'], { env, cwd: folder });

    expect(wasAsked()).toBe(true);
    const { results } = JSON.parse(stdout) as { results: { check: string; message: string }[] };
    expect(results.find(({ check }) => check === 'cluster')?.message).toContain('ECONNREFUSED');
  });
});
