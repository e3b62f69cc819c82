import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { folderOf } from './fake-io.js';

const CLI = join(import.meta.dirname, '../../dist/bundle/main.js');
/** Writes a line once the program handles SIGINT: an earlier signal would end Node itself. */
const REPORTS_HANDLER = `process.on('newListener', (name) => name === 'SIGINT' && setImmediate(() => process.stderr.write('ready\\n')))`;

it.each([
  ['a pipe', 'pipe', ['validate', 'pipe']],
  ['a pipe', 'pipe', ['decide', 'pipe']],
  ['a pipe', 'pipe', ['run', '--config', 'pipe']],
  ['standard input', 'standard input', ['validate', '-']],
  ['standard input', 'standard input', ['decide', '-']],
])(
  'one Ctrl-C ends a command that waits for %s: %3$s',
  async (_what, named, words) => {
    const cwd = folderOf({});
    execFileSync('mkfifo', [join(cwd, 'pipe')]);
    // Holds the pipe open without writing; read and write, since opening a pipe to write waits for a reader.
    const writer = openSync(join(cwd, 'pipe'), 'r+');
    const node = ['--import', `data:text/javascript,${encodeURIComponent(REPORTS_HANDLER)}`, CLI, ...words];
    const child = spawn(process.execPath, node, { cwd, stdio: [writer, 'pipe', 'pipe'] });
    let text = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      if (chunk.includes('ready')) child.kill('SIGINT');
      text += chunk;
    });

    const [exitCode] = (await once(child, 'close')) as [number];
    closeSync(writer);

    expect(exitCode).toBe(1);
    expect(text).toMatch(new RegExp(`reading .*${named}: interrupted\n$`));
  },
  60_000,
);
