#!/usr/bin/env node
import { basename, delimiter, dirname } from 'node:path';
import { inspect } from 'node:util';
import { type FaultListener, lossyOutput, readStdin } from './output/io.js';
import { cli } from './program.js';
import { countBuffersWithHeap, keepSemiSpaces } from './commands/heap-growth.js';
import { SYSTEM_CLOCK } from './system-clock.js';

// Only this file uses `process`. The other files of `cli` get what they need as arguments.
const stop = new AbortController();
let signals = 0;

function end(): void {
  signals += 1;
  // The second signal exits at once, for a user who does not want to wait.
  if (signals > 1) process.exit(1);
  stop.abort();
}

process.on('SIGINT', end).on('SIGTERM', end);

const cleanups = new Set<() => void>();
process.on('exit', () => {
  for (const cleanup of cleanups) cleanup();
});

/**
 * Registers a cleanup. SIGHUP is handled only while a cleanup is registered. Otherwise, it ends the process, unless
 * nohup has disabled it.
 */
function guard(cleanup: () => void): () => void {
  cleanups.add(cleanup);
  process.on('SIGHUP', end);
  return () => {
    cleanups.delete(cleanup);
    if (cleanups.size === 0) process.off('SIGHUP', end);
  };
}

/** Time until the process exits by force after standard output was closed or after an uncaught exception. */
const STOP_MS = 15_000;
const outputClosed = new AbortController();

// If the pipe is closed (`| head`), the command ends silently with exit code 0, as other tools do. A full disk is an
// error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The error is reported only once, because all later writes fail as well.
  if (outputClosed.signal.aborted) return;
  if (error.code === 'EPIPE') {
    outputClosed.abort();
    if (cleanups.size === 0) process.exit(0);
    stop.abort();
    SYSTEM_CLOCK.after(STOP_MS, () => process.exit(0));
    return;
  }
  writeError(`promscaler: writing to standard output: ${error.message}\n`);
  process.exit(1);
});
const writeError = lossyOutput(process.stderr);

// Replaces the plain text that Node.js would print between the JSON lines of the log.
let reportFault: FaultListener = ({ kind, error }) =>
  writeError(
    `promscaler: ${kind === 'fatal' ? (error.stack ?? error.message) : `${error.name}: ${error.message}`}\n`,
  );
process.removeAllListeners('warning');
process.on('warning', (error) => reportFault({ kind: 'warning', error }));
let isService = false;
const failed = new AbortController();

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(inspect(thrown));
}

/**
 * Ends the process after an exception that has interrupted a callback. A service first releases its Lease, so that
 * another replica takes over in seconds.
 */
function fail(thrown: unknown): void {
  reportFault({ kind: 'fatal', error: asError(thrown) });
  if (!isService || failed.signal.aborted) process.exit(1);
  failed.abort();
  stop.abort();
  SYSTEM_CLOCK.after(STOP_MS, () => process.exit(1));
}

process.on('uncaughtException', fail);
// A service continues: nothing awaits the promise, so nothing depends on the work that has failed.
process.on('unhandledRejection', (reason) => {
  if (isService) reportFault({ kind: 'rejection', error: asError(reason) });
  else fail(reason);
});

/** Returns how the user can start this program: by its name if it is on the PATH, otherwise by its path. */
function commandName(): string {
  const [node = 'node', script = 'promscaler'] = process.argv;
  const isNamed = ['promscaler', 'kubectl-promscaler'].includes(basename(script));
  const path = (process.env['PATH'] ?? '').split(delimiter);
  if (isNamed && path.includes(dirname(script))) return basename(script).replace('kubectl-', 'kubectl ');
  const isNodeNamed = path.includes(dirname(node));
  return isNamed ? script : `${isNodeNamed ? 'node' : node} ${script}`;
}

/** For completion, kubectl starts the program as `kubectl_complete-promscaler`. */
function commandLine(): readonly string[] {
  const [, script = '', ...words] = process.argv;
  return basename(script, '.cmd') === 'kubectl_complete-promscaler' ? ['__complete', ...words] : words;
}

keepSemiSpaces(process.execArgv);
countBuffersWithHeap(process.versions.v8);
const exitCode = await cli(commandLine(), {
  stdout: {
    isTerminal: process.stdout.isTTY,
    rows: () => process.stdout.rows,
    columns: () => process.stdout.columns,
    write: (chunk) => void process.stdout.write(chunk),
  },
  stderr: { isTerminal: process.stderr.isTTY, write: writeError },
  readStdin: () => readStdin(process.stdin, stop.signal),
  env: process.env,
  cwd: process.cwd(),
  clock: SYSTEM_CLOCK,
  signal: stop.signal,
  onFault: (listener) => {
    reportFault = listener;
    isService = true;
  },
  command: commandName(),
  guard,
});
process.exitCode = failed.signal.aborted ? 1 : exitCode;
// Exits explicitly, because the timers above would keep the process running.
if (outputClosed.signal.aborted) process.exit(0);
if (failed.signal.aborted) process.exit(1);
