import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The processes that jest starts (Prometheus, the service, kubectl) have this time to end. */
const GRACE_MS = 10_000;

/** Options of a jest run. */
export interface JestRun {
  /** Patterns and options of the command line. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Ends jest and all its processes. */
  readonly signal: AbortSignal;
}

/**
 * Runs the tests of this directory; returns jest's exit code, null if a signal ended it. jest has its own process
 * group, so that Ctrl-C reaches only the caller and no process is left when this resolves.
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

/** Not in the directory for temporary files, which is removed after each run. */
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
    // The process group is empty.
    return false;
  }
}

function isAlive(pid: number | undefined): boolean {
  return signalGroup(pid, 0);
}
