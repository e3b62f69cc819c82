import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { runKubectl } from '../support/kubectl.js';
import { CLI } from './service-process.js';
import { E2E_TIMEOUT_MS, waitFor } from './waiting.js';
import { itOnSimulator } from './world.js';

jest.setTimeout(E2E_TIMEOUT_MS);

describe('promscaler demo', () => {
  let kill: () => void = () => undefined;

  afterEach(() => kill());

  const reason = 'the demo brings a cluster of its own';
  const name = 'scales within 60 s, can be looked at with kubectl, and leaves nothing behind after Ctrl-C';
  itOnSimulator(reason, name, async () => {
    const child = spawn(process.execPath, [CLI, 'demo', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    kill = () => void child.kill('SIGKILL');
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    }
    const found = (pattern: RegExp): string | undefined => pattern.exec(output)?.[1];

    const server = await waitFor(() => found(/--server (\S+)/), { what: 'the address of the cluster' });
    await waitFor(() => / {2}\d+ -> \d+ /.test(output), { what: 'a first change', seconds: 60 });
    const kubectl = await runKubectl(['--server', server, '-n', 'shop', 'get', 'deployments,statefulsets'], {
      kubeconfig: '/dev/null',
      home: tmpdir(),
    });
    expect(kubectl.stdout).toContain('statefulset.apps/search');
    const [prometheus, folder, api] = [
      /(\S+)\/graph/,
      /(\S+)\/scalers +the documents/,
      /curl (\S+)\/metrics/,
    ].map(found);
    expect((await fetch(`${api ?? ''}/api/v1/scalers/shop/checkout`)).status).toBe(200);

    child.kill('SIGINT');
    await once(child, 'exit');

    expect(child.exitCode).toBe(0);
    expect(output).toContain('The demo has ended');
    expect(existsSync(folder ?? '/')).toBe(false);
    await expect(fetch(prometheus ?? '')).rejects.toThrow();
    await expect(fetch(server)).rejects.toThrow();
  });

  it('names the option that is out of its range, with exit code 2', async () => {
    const child = spawn(process.execPath, [CLI, 'demo', '--speed', '0.5']);
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    await once(child, 'close');

    expect(output).toBe('promscaler: --speed is 0.5, must be a number from 1 to 60\n');
    expect(child.exitCode).toBe(2);
  });
});
