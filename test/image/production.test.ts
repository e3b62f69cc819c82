import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { waitFor } from '../e2e/waiting.js';
import { IMAGE_FLAGS, IMAGE_PROGRAM, IMAGE_USER } from '../support/image-process.js';
import { leftOutOfImage } from './left-out.js';
import { copyInto, productionPackages, succeed } from './production-packages.js';

const ROOT = join(import.meta.dirname, '../..');
const [uid, gid] = IMAGE_USER;

/** Builds the contents of the image as its Dockerfile does: only production packages, nothing writable. */
describe('the program in the image', () => {
  let app: string;
  let simulator: Simulator;

  beforeAll(async () => {
    app = mkdtempSync(join(tmpdir(), 'promscaler-image-'));
    copyInto(app, ['dist', 'package.json', 'config', ...productionPackages()]);
    for (const path of leftOutOfImage()) rmSync(join(app, path), { recursive: true });
    simulator = await startSimulator({
      clock: SYSTEM_CLOCK,
      workloads: [{ namespace: 'shop', name: 'checkout', replicas: 3 }],
    });
    writeFileSync(join(app, 'promscaler.yaml'), serviceConfig(simulator.url));
    setWritable(app, false);
  });

  afterAll(async () => {
    await simulator.close();
    setWritable(app, true);
    rmSync(app, { recursive: true, force: true });
  });

  /** Runs as the user of the image if permitted, who has no home and no entry in the list of users. */
  const command = (...args: readonly string[]): Parameters<typeof spawn> => {
    const user = process.getuid?.() === 0 ? { uid, gid } : {};
    const node = [...IMAGE_FLAGS, join(app, IMAGE_PROGRAM), ...args];
    return [process.execPath, node, { cwd: app, env: { NODE_ENV: 'production' }, ...user }];
  };
  const run = (...args: readonly string[]): { code: number | null; stdout: string; stderr: string } => {
    const [file, words, options] = command(...args);
    const { status, stdout, stderr } = spawnSync(file, words, { ...options, encoding: 'utf8' });
    return { code: status, stdout, stderr };
  };

  it('prints its version, and accepts the examples', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

    expect(run('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    expect(run('validate', 'config')).toMatchObject({ code: 0, stderr: '' });
  });

  it('has no demo, and reports where there is one', () => {
    expect(run('demo', '--duration', '10')).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'promscaler: the container image does not contain the demo. Run the demo in a checkout, with Node.js: npm ci && npm run demo\n',
    });
  });

  it('serves, is ready, queries its data source, and ends within 5 s of SIGTERM with code 0', async () => {
    const [file, words, options] = command('run', '--config', join(app, 'promscaler.yaml'));
    const child = spawn(file, words, options);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    const url = await waitFor(
      () => (child.exitCode === null ? /"url":"(http:[^"]+)"/.exec(output)?.[1] : output),
      { what: 'the service to listen', seconds: 20 },
    );
    const status = async (path: string): Promise<number> => (await fetch(url + path)).status;
    await waitFor(async () => (await status('/readyz')) === 200, { what: 'readiness', seconds: 20 });
    // Nothing listens there: a decision is made all the same, and nothing is patched.
    await waitFor(() => output.includes('data source failed'), { what: 'a first cycle', seconds: 20 });
    const metrics = await (await fetch(`${url}/metrics`)).text();

    const asked = performance.now();
    child.kill('SIGTERM');
    await once(child, 'close');

    expect(metrics).toMatch(/promscaler_current_replicas\{.*scaler="checkout".*\} 3/);
    expect(child.exitCode).toBe(0);
    expect(performance.now() - asked).toBeLessThan(5000);
    expect(output).not.toMatch(/EACCES|EROFS|ENOENT|\bat .*\.js:\d+/);
    expect(readdirSync(app).sort()).toEqual([
      'config',
      'dist',
      'node_modules',
      'package.json',
      'promscaler.yaml',
    ]);
  });
});

function serviceConfig(url: string): string {
  return `prometheus: { default: { urls: ['http://127.0.0.1:9'] } }
kubernetes: { url: '${url}' }
scalers: { paths: [config/scalers/minimal.yaml] }
server: { port: 0 }
defaults: { syncPeriodSeconds: 1 }
`;
}

/** Makes everything readable for all users, as in an image layer. */
function setWritable(folder: string, isWritable: boolean): void {
  succeed('chmod', ['-R', isWritable ? 'u+w' : 'a+rX,a-w', folder]);
}
