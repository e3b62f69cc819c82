import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Simulator } from '../../src/simulator/simulator.js';

const ROOT = join(import.meta.dirname, '../..');
const MAIN = join(ROOT, 'dist-e2e/test/e2e/main.js');
/** Transform cache of the inner run. */
const CACHE = 'promscaler-e2e-jest';

/** `npm run test:e2e` with its own cluster: a run within a run. */
export interface InnerRun {
  readonly child: ChildProcess;
  readonly output: () => string;
}

/** The environment of inner runs, which know the cluster only by a kubeconfig. */
export interface InnerRuns {
  /** Their directory for temporary files, with only the kubeconfig and the cache. */
  readonly folder: string;
  readonly start: (args: readonly string[], variables?: Readonly<Record<string, string>>) => InnerRun;
  readonly close: () => Promise<void>;
}

/** Writes the kubeconfig of a simulator. All runs share the cache: otherwise each transforms every file again. */
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
