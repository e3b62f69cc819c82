import { execFile } from 'node:child_process';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { findKubectl } from '../programs/find-programs.js';

let found: Promise<string> | null = null;

/** Returns the kubectl of the PATH, or downloads one, which takes a while on a fresh machine. */
export function kubectlFile(): Promise<string> {
  found ??= findKubectl({ env: process.env, clock: SYSTEM_CLOCK });
  return found;
}

/** The result of a run of kubectl. */
export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs kubectl with a kubeconfig file and its own home directory; kills it after `timeoutMs`. */
export async function runKubectl(
  args: readonly string[],
  options: {
    readonly kubeconfig: string;
    readonly home: string;
    readonly input?: string;
    readonly timeoutMs?: number;
  },
): Promise<KubectlResult> {
  const file = await kubectlFile();
  // It ends within a second: garbage collection is not worth its time.
  const places = { PATH: process.env['PATH'], HOME: options.home, KUBECONFIG: options.kubeconfig };
  const env = { ...places, GOGC: 'off' };
  return new Promise((resolve) => {
    const child = execFile(
      file,
      args,
      { env, timeout: options.timeoutMs ?? 20_000 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        resolve({ code, stdout, stderr });
      },
    );
    child.stdin?.end(options.input ?? '');
  });
}
