import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The kubectl of the PATH; null where there is none. */
export function findKubectl(): string | null {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const file = join(folder, 'kubectl');
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      continue;
    }
  }
  return null;
}

/** What a run of kubectl left behind. */
export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs kubectl against a kubeconfig file, with a home of its own; ends it after `timeoutMs`. */
export function runKubectl(
  args: readonly string[],
  options: {
    readonly kubeconfig: string;
    readonly home: string;
    readonly input?: string;
    readonly timeoutMs?: number;
  },
): Promise<KubectlResult> {
  const file = findKubectl();
  if (file === null) throw new Error('running kubectl: there is none on the PATH');
  const env = { PATH: process.env['PATH'], HOME: options.home, KUBECONFIG: options.kubeconfig };
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
