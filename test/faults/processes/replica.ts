import { spawn } from 'node:child_process';
import type { StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { waitFor } from '../../e2e/waiting.js';

/** The bundle of the command line: tests and scripts run in the package directory. */
const CLI = resolve('dist/bundle/main.js');

/** The built service as a process that can be killed, stopped and continued. */
export interface Replica {
  readonly pid: number;
  /** Its complete log; empty if its log goes elsewhere. */
  readonly output: () => string;
  /** Stops reading its log, or closes the reading end. */
  readonly log: { readonly pause: () => void; readonly destroy: () => void };
  readonly hasEnded: () => boolean;
  /** Sends a signal, without waiting. */
  readonly signal: (name: NodeJS.Signals) => void;
  /** Sends the signal and resolves with the exit code when the process has ended. */
  readonly end: (name?: NodeJS.Signals) => Promise<number | null>;
  /** Returns the lines of `/metrics` of the service at this port that contain all strings. */
  readonly metrics: (...texts: readonly string[]) => Promise<readonly string[]>;
  /** Returns the answer of a module that was loaded by `nodeFlags` to the message `sample`. */
  readonly sample: () => Promise<unknown>;
  /** Resolves when it listens; throws if it ends before. */
  readonly listening: () => Promise<void>;
}

/** Starts `promscaler run` with this config, and its log in a pipe or in the file descriptor `logTo`. */
export function startReplica(options: {
  readonly configFile: string;
  readonly port: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeFlags?: readonly string[];
  readonly logTo?: number;
}): Replica {
  const { configFile, port, env = {}, nodeFlags = [], logTo } = options;
  const isAsked = nodeFlags.some((flag) => flag.startsWith('--import'));
  const stdio: StdioOptions = [
    'ignore',
    logTo ?? 'pipe',
    logTo ?? 'pipe',
    ...(isAsked ? ['ipc' as const] : []),
  ];
  const args = [...nodeFlags, CLI, 'run', '--config', configFile];
  const child = spawn(process.execPath, args, { stdio, env: { ...process.env, ...env } });
  const { pid } = child;
  if (pid === undefined) throw new Error('the service cannot be started');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const url = `http://127.0.0.1:${port}`;
  return {
    pid,
    output: () => output,
    log: {
      pause: () => child.stderr?.pause(),
      destroy: () => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      },
    },
    hasEnded,
    signal: (name) => void child.kill(name),
    end: async (name = 'SIGTERM') => {
      if (!hasEnded()) {
        child.kill(name);
        await once(child, 'exit');
      }
      return child.exitCode;
    },
    metrics: async (...texts) => {
      const page = await (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(5000) })).text();
      return page.split('\n').filter((line) => texts.every((text) => line.includes(text)));
    },
    sample: async () => {
      const answer = once(child, 'message', { signal: AbortSignal.timeout(30_000) });
      child.send('sample');
      const [message] = (await answer) as readonly unknown[];
      return message;
    },
    listening: () =>
      waitFor(
        async () => {
          if (hasEnded()) throw new Error(`the service ended with ${child.exitCode}:\n${output}`);
          return fetch(`${url}/healthz`).then(
            (response) => response.ok || undefined,
            () => undefined,
          );
        },
        { what: 'the service to listen' },
      ).then(() => undefined),
  };
}
