import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Simulator } from '../../src/simulator/simulator.js';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'dist-e2e/test/e2e/main.js');
/** Where the run within the run keeps what it has transformed. */
const CACHE = 'promscaler-e2e-jest';

/** `npm run test:e2e` on a cluster of its own choice: a run within a run. */
export interface InnerRun {
  readonly child: ChildProcess;
  readonly output: () => string;
}

/** A place for inner runs: all that they have of the cluster is a kubeconfig. */
export interface InnerRuns {
  /** Their folder for temporary files, with nothing in it but the kubeconfig and the cache. */
  readonly folder: string;
  readonly start: (args: readonly string[], variables?: Readonly<Record<string, string>>) => InnerRun;
  readonly close: () => Promise<void>;
}

/** Writes the kubeconfig of a simulator. The cache is that of all runs: else each transforms every file again. */
export async function openInnerRuns(simulator: Simulator, name: string): Promise<InnerRuns> {
  const folder = await mkdtemp(join(tmpdir(), `promscaler-${name}-`));
  await writeFile(join(folder, 'kubeconfig'), simulator.kubeconfig({ isForKubectl: true }));
  await mkdir(join(tmpdir(), CACHE), { recursive: true });
  await symlink(join(tmpdir(), CACHE), join(folder, CACHE));
  return {
    folder,
    start: (args, variables = {}) => {
      const kubeconfig = join(folder, 'kubeconfig');
      const env = { ...process.env, TMPDIR: folder, PROMSCALER_E2E_KUBECONFIG: kubeconfig, ...variables };
      const child = spawn(process.execPath, [MAIN, ...args], { cwd: ROOT, env });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
      return { child, output: () => output };
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
