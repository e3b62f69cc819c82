import { spawn } from 'node:child_process';
import { sleep } from '../../../units/clock.js';
import type { Clock } from '../../../units/clock.js';
import { type Environment, lastLines } from './run-command.js';

export interface ChildOptions {
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
   * Resolves when the process has exited, with a sentence that quotes its last lines. After exit code 0 or a signal
   * that ends a process from outside, it quotes no lines, because they do not explain the exit. Never rejects.
   */
  readonly ended: Promise<string>;
  readonly endedSignal: AbortSignal;
  /** Sends SIGTERM, and SIGKILL after 5 s. Resolves when the process has exited. */
  readonly stop: () => Promise<void>;
  /** Sends a signal: SIGHUP reloads, SIGSTOP suspends, SIGCONT resumes. */
  readonly signal: (name: NodeJS.Signals) => void;
}

const TERM_GRACE_MS = 5000;
const KEPT_OUTPUT = 8192;
const FROM_OUTSIDE: ReadonlySet<string> = new Set(['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGHUP']);

/** Starts a program. Discards its standard output, and keeps the last lines of its standard error for messages. */
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
    // At 'close', unlike at 'exit', all output has been read.
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
