import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from '@jest/globals';
import type { CommandIo } from '../../src/cli/output/io.js';
import { cli } from '../../src/cli/program.js';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import type { Clock } from '../../src/units/clock.js';

/** The result of a command line. */
export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Surroundings {
  readonly cwd?: string;
  readonly stdin?: string;
  readonly env?: CommandIo['env'];
  readonly clock?: Clock;
  /** Default: `promscaler`. */
  readonly command?: string;
  readonly signal?: AbortSignal;
  readonly isTerminal?: boolean;
  /** Lines of the terminal. */
  readonly rows?: number;
  /** Characters of a line of the terminal. */
  readonly columns?: number;
  /** Filled while the command runs. */
  readonly written?: { stdout: string; stderr: string };
}

/** Runs one command line in `cwd` as `main.ts` would, without a process. */
export async function runCli(argv: readonly string[], surroundings: Surroundings = {}): Promise<Ran> {
  const { cwd = process.cwd(), stdin = '', isTerminal = false, env = {} } = surroundings;
  const { written = { stdout: '', stderr: '' } } = surroundings;
  const io: CommandIo = {
    stdout: {
      isTerminal,
      rows: () => surroundings.rows,
      columns: () => surroundings.columns,
      write: (text) => void (written.stdout += text),
    },
    stderr: { isTerminal, write: (text) => void (written.stderr += text) },
    readStdin: () => Promise.resolve(stdin),
    env,
    cwd,
    clock: surroundings.clock ?? SYSTEM_CLOCK,
    command: surroundings.command ?? 'promscaler',
    signal: surroundings.signal ?? new AbortController().signal,
  };
  const exitCode = await cli(argv, io);
  return { exitCode, ...written };
}

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Creates a directory with these files, until the tests of the file have ended. */
export function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'promscaler-cli-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
