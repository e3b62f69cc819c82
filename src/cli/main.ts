#!/usr/bin/env node
import { text } from 'node:stream/consumers';
import { lossyOutput } from './lossy-output.js';
import { cli } from './program.js';
import { SYSTEM_CLOCK } from './system-clock.js';

/** The only user of `process`: everything else is a function of what is handed in here. */
const stop = new AbortController();
let signals = 0;

for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    signals += 1;
    // Who asks twice wants no more waiting.
    if (signals > 1) process.exit(1);
    stop.abort();
  });
}

// A reader that went away (`| head`) ends the command quietly, as it does any other tool of the shell. A full disk must
// not pass for done.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  writeError(`writing to standard output: ${error.message}\n`);
  process.exit(1);
});
const writeError = lossyOutput(process.stderr);

process.exitCode = await cli(process.argv.slice(2), {
  stdout: {
    isTerminal: process.stdout.isTTY,
    rows: () => process.stdout.rows,
    write: (chunk) => void process.stdout.write(chunk),
  },
  stderr: { isTerminal: process.stderr.isTTY, write: writeError },
  readStdin: () => text(process.stdin),
  env: process.env,
  cwd: process.cwd(),
  clock: SYSTEM_CLOCK,
  signal: stop.signal,
});
