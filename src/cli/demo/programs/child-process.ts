import { spawn, execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { sleep, type Clock, DeadlineError, withDeadline } from '../../../units/clock.js';

interface ChildOptions {
  /** Name in messages. */
  readonly title: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Environment;
  readonly clock: Clock;
}

export interface Child {
  /** 0 if the process could not be started. */
  readonly pid: number;
  /**
   * Resolves when the process has exited, with a sentence about the exit that quotes the last lines of its standard
   * error. After exit code 0, or a signal from outside, the sentence quotes no lines, because they do not explain the
   * exit. Never rejects.
   */
  readonly ended: Promise<string>;
  readonly endedSignal: AbortSignal;
  /** Sends SIGTERM, and SIGKILL after 5 s. Resolves when the process has exited. */
  readonly stop: () => Promise<void>;
  /** Sends a signal. For Prometheus, SIGHUP reloads the config; SIGSTOP suspends and SIGCONT resumes any process. */
  readonly signal: (name: NodeJS.Signals) => void;
}

const TERM_GRACE_MS = 5000;
const KEPT_OUTPUT = 8192;
const FROM_OUTSIDE: ReadonlySet<string> = new Set(['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGHUP']);

/** Starts a program. Its standard output is discarded. The last lines of its standard error are kept for messages. */
export function startChild(options: ChildOptions): Child {
  const { title, file, args, env, clock } = options;
  const running = spawn(file, [...args], { env: { ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  running.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-KEPT_OUTPUT);
  });
  const over = new AbortController();
  const ended = new Promise<string>((resolve) => {
    const end = (how: string, lines = ''): void => {
      resolve(`${title} ${how}${lines === '' ? '' : `: ${lastLines(lines)}`}`);
      over.abort();
    };
    running.once('error', (error) => end(`cannot be started: ${error.message}`));
    // Unlike 'exit', 'close' comes after all output has been read.
    running.once('close', (code, signal) => {
      if (signal === null) end(`ended with code ${code ?? 0}`, code === 0 ? '' : output);
      else end(`ended by ${signal}`, FROM_OUTSIDE.has(signal) ? '' : output);
    });
  });
  return {
    pid: running.pid ?? 0,
    ended,
    endedSignal: over.signal,
    signal: (name) => void running.kill(name),
    stop: async () => {
      if (over.signal.aborted) return;
      running.kill('SIGTERM');
      await sleep(clock, TERM_GRACE_MS, over.signal);
      running.kill('SIGKILL');
      await ended;
    },
  };
}

/** Environment variables. A child process gets all of them. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly timeoutMs: number;
}

const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const QUOTED_LINES = 3;

/** Runs a program and returns its standard output. Throws an `Error` with its last lines unless the exit code is 0. */
export async function runCommand(
  { env, clock }: { readonly env: Environment; readonly clock: Clock },
  { file, args, directory, timeoutMs }: Command,
): Promise<string> {
  return withDeadline(clock, { ms: timeoutMs }, async (signal) => {
    const options = { cwd: directory, env: { ...env, LC_ALL: 'C' }, maxBuffer: MAX_OUTPUT_BYTES, signal };
    try {
      return (await promisify(execFile)(file, [...args], options)).stdout;
    } catch (error) {
      const { message, stderr = '' } = error as { readonly message: string; readonly stderr?: string };
      const why: unknown = signal.reason;
      const text = why instanceof DeadlineError ? why.message : lastLines(stderr) || message;
      throw new Error(`${file} ${args[0] ?? ''}: ${text}`, { cause: error });
    }
  });
}

/** Returns the last non-empty lines, joined by `; `. */
function lastLines(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-QUOTED_LINES).join('; ');
}
