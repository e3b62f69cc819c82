#!/usr/bin/env node
import { basename, delimiter, dirname } from 'node:path';
import { inspect } from 'node:util';
import type { FaultListener } from './io.js';
import { lossyOutput } from './lossy-output.js';
import { cli } from './program.js';
import { readStdin } from './read-stdin.js';
import { SYSTEM_CLOCK } from './system-clock.js';

/** The only user of `process`: everything else is a function of what is handed in here. */
const stop = new AbortController();
let signals = 0;

function end(): void {
  signals += 1;
  // Who asks twice wants no more waiting.
  if (signals > 1) process.exit(1);
  stop.abort();
}

process.on('SIGINT', end).on('SIGTERM', end);

const cleanings = new Set<() => void>();
process.on('exit', () => {
  for (const clean of cleanings) clean();
});

/** A hangup ends what has children, too; without any it does what the shell (or nohup) has settled. */
function guard(clean: () => void): () => void {
  cleanings.add(clean);
  process.on('SIGHUP', end);
  return () => {
    cleanings.delete(clean);
    if (cleanings.size === 0) process.off('SIGHUP', end);
  };
}

/** Milliseconds that a command has to end in, once nobody reads what it writes. */
const UNREAD_MS = 15_000;
const unread = new AbortController();

// A reader that went away (`| head`) ends the command quietly, as it does any other tool of the shell. A full disk must
// not pass for done.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // What is written after that fails as well.
  if (unread.signal.aborted) return;
  if (error.code === 'EPIPE') {
    unread.abort();
    if (cleanings.size === 0) process.exit(0);
    stop.abort();
    SYSTEM_CLOCK.after(UNREAD_MS, () => process.exit(0));
    return;
  }
  writeError(`promscaler: writing to standard output: ${error.message}\n`);
  process.exit(1);
});
const writeError = lossyOutput(process.stderr);

// Node's own way is plain text on standard error, amid the JSON lines of the log.
let tellFault: FaultListener = ({ kind, error }) =>
  writeError(
    `promscaler: ${kind === 'fatal' ? (error.stack ?? error.message) : `${error.name}: ${error.message}`}\n`,
  );
process.removeAllListeners('warning');
process.on('warning', (error) => tellFault({ kind: 'warning', error }));
// A rejection that nobody handles arrives here, too.
process.on('uncaughtException', (thrown: unknown) => {
  tellFault({ kind: 'fatal', error: thrown instanceof Error ? thrown : new Error(inspect(thrown)) });
  process.exit(1);
});

/** What the user typed: by its name where it is on the PATH, else by its whole path. */
function commandName(): string {
  const [node = 'node', script = 'promscaler'] = process.argv;
  const isNamed = ['promscaler', 'kubectl-promscaler'].includes(basename(script));
  const path = (process.env['PATH'] ?? '').split(delimiter);
  if (isNamed && path.includes(dirname(script))) return basename(script).replace('kubectl-', 'kubectl ');
  const isNodeNamed = path.includes(dirname(node));
  return isNamed ? script : `${isNodeNamed ? 'node' : node} ${script}`;
}

const exitCode = await cli(process.argv.slice(2), {
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
  onFault: (listener) => (tellFault = listener),
  command: commandName(),
  guard,
});
process.exitCode = exitCode;
// The timer above would hold the process.
if (unread.signal.aborted) process.exit(0);
