import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubectlFile } from '../support/kubectl.js';
import { waitFor } from './waiting.js';

/** The built command line. The bundle does not contain the demo. */
export const CLI = join(import.meta.dirname, '../../dist/cli/main.js');

/** A demo with its own directory for temporary files. */
export interface DemoProcess {
  readonly child: ChildProcess;
  /** Its output so far. */
  readonly output: () => string;
  /** Resolves when the introduction is printed. */
  readonly opened: () => Promise<void>;
  /** The commands that it prints, without the one that opens an editor. */
  readonly commands: () => readonly string[];
  /** Files left in its directory, and processes that were started with a path in it. */
  readonly leftovers: () => readonly string[];
  /** Kills it and removes the directory. */
  readonly dispose: () => void;
}

/** Starts `demo --port 0`, or a line of bash in which $DEMO is replaced by it. */
export function startDemo(line: string | null = null): DemoProcess {
  const folder = mkdtempSync(join(tmpdir(), 'promscaler-demo-test-'));
  const kept = mkdtempSync(join(tmpdir(), 'promscaler-demo-kept-'));
  const demo = `${process.execPath} ${CLI} demo --port 0 --keep ${kept}`;
  const env = { ...process.env, TMPDIR: folder, DEMO: demo };
  const child =
    line === null
      ? spawn(process.execPath, demo.split(' ').slice(1), { stdio: ['ignore', 'pipe', 'pipe'], env })
      : spawn('bash', ['-c', line], { stdio: ['ignore', 'pipe', 'pipe'], env });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  return {
    child,
    output: () => output,
    opened: async () => {
      await waitFor(() => output.includes('Prometheus UI:'), { what: 'the demo' });
    },
    commands: () =>
      output
        .split('\n')
        .filter(
          (text) => /^ {2}(kubectl|curl|promscaler|\/\S+ |node )/.test(text) && !text.includes(' edit '),
        )
        .map((text) => text.trim()),
    leftovers: () => [...readdirSync(folder), ...processesWith(folder)],
    dispose: () => {
      child.kill('SIGKILL');
      for (const one of [folder, kept]) rmSync(one, { recursive: true, force: true });
    },
  };
}

function processesWith(folder: string): readonly string[] {
  // A container may have no ps, and a Mac has no /proc.
  const lines = existsSync('/proc/self')
    ? readdirSync('/proc').map(commandLineOf)
    : execFileSync('ps', ['-A', '-ww', '-o', 'command='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(folder));
}

function commandLineOf(pid: string): string {
  try {
    return /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') : '';
  } catch {
    // It has ended meanwhile, or belongs to another user.
    return '';
  }
}

/** Waits for its end, and returns its exit code. */
export async function endOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

/** Returns the result of a command line; `seconds`: kills it after that, for one that does not end. */
export async function runLine(
  line: string,
  seconds = 30,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const kubectl = await kubectlFile();
  const command = line.replace(/^kubectl /, `${kubectl} `);
  return new Promise((resolve) => {
    execFile('sh', ['-c', `exec ${command}`], { timeout: seconds * 1000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      resolve({ code, output: `${stdout}${stderr}` });
    });
  });
}
