import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What jest starts (Prometheus, the service, kubectl) is given so long to end by itself. */
const GRACE_MS = 10_000;

/** How jest is to be run. */
export interface JestRun {
  /** Patterns and options of the command line. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Ends jest and all that it has started. */
  readonly signal: AbortSignal;
}

/**
 * Runs the tests of this folder: jest's exit code, null where a signal ended it. jest has a process group of its own, so
 * that Ctrl-C reaches the caller alone and nothing is left running when this resolves.
 */
export async function runJest({ args, env, signal }: JestRun): Promise<number | null> {
  if (signal.aborted) return null;
  const options = ['--testMatch=<rootDir>/test/e2e/**/*.test.ts', `--cacheDirectory=${CACHE}`];
  const jest = spawn(
    process.execPath,
    ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', ...args, ...options],
    { stdio: ['ignore', 'inherit', 'inherit'], detached: true, env },
  );
  const stop = (): void => void signalGroup(jest.pid, 'SIGTERM');
  signal.addEventListener('abort', stop);
  try {
    return await new Promise<number | null>((resolve, reject) => {
      jest.once('error', reject);
      jest.once('exit', resolve);
    });
  } finally {
    signal.removeEventListener('abort', stop);
    await endGroup(jest.pid);
  }
}

/** Apart from the folder for temporary files, which is removed after each run. */
const CACHE = join(tmpdir(), 'promscaler-e2e-jest');

async function endGroup(pid: number | undefined): Promise<void> {
  const end = performance.now() + GRACE_MS;
  signalGroup(pid, 'SIGTERM');
  while (isAlive(pid) && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
  signalGroup(pid, 'SIGKILL');
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal);
  } catch {
    // Nobody is left in it.
    return false;
  }
}

function isAlive(pid: number | undefined): boolean {
  return signalGroup(pid, 0);
}
