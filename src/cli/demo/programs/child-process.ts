import { spawn } from 'node:child_process';
import { sleep } from '../../../units/clock.js';
import type { Clock } from '../../../units/clock.js';
import type { Environment } from './context.js';
import { lastLines } from './run-command.js';

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
  /** Resolves when the process has exited, with a sentence that quotes its last lines. Never rejects. */
  readonly ended: Promise<string>;
  readonly endedSignal: AbortSignal;
  /** Sends SIGTERM, and SIGKILL after 5 s. Resolves when the process has exited. */
  readonly stop: () => Promise<void>;
  /** Sends a signal: SIGHUP reloads, SIGSTOP suspends, SIGCONT resumes. */
  readonly signal: (name: NodeJS.Signals) => void;
}

const TERM_GRACE_MS = 5000;
const KEPT_OUTPUT = 8192;

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
    const end = (how: string): void => {
      resolve(`${title} ${how}${output === '' ? '' : `: ${lastLines(output)}`}`);
      over.abort();
    };
    running.once('error', (error) => end(`cannot be started: ${error.message}`));
    // At 'close', unlike at 'exit', all output has been read.
    running.once('close', (code, signal) =>
      end(signal === null ? `ended with code ${code ?? 0}` : `ended by ${signal}`),
    );
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
