import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { waitFor } from './waiting.js';

/** The bundle of the command line, as in the image. It starts in half the CPU time of `dist/cli/main.js`. */
export const CLI = join(import.meta.dirname, '../../dist/bundle/main.js');

/** `promscaler run` as a process. */
export interface ServiceProcess {
  readonly url: string;
  /** Its complete output. */
  readonly output: () => string;
  /** Returns the lines of `/metrics` that contain all strings. */
  readonly metrics: (...texts: readonly string[]) => Promise<readonly string[]>;
  /** Sends the signal and returns the exit code. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>;
}

/** Flags of Node itself, as in the image: `--disable-proto=delete`. */
const NODE_FLAGS = (process.env['PROMSCALER_E2E_NODE_FLAGS'] ?? '').split(' ').filter((flag) => flag !== '');

/** Starts the command line with these arguments and waits until it listens; throws with its output if it ends. */
export async function startService(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const env = { ...process.env, ...variables };
  const child = spawn(process.execPath, [...NODE_FLAGS, CLI, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  }
  const url = await waitFor(() => /"url":"(http:[^"]+)"/.exec(output)?.[1] ?? ended(child, output), {
    what: 'the service to listen',
  });
  return {
    url,
    output: () => output,
    metrics: async (...texts) => {
      const page = await (await fetch(`${url}/metrics`)).text();
      return page.split('\n').filter((line) => texts.every((text) => line.includes(text)));
    },
    stop: async (signal = 'SIGTERM') => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      child.kill(signal);
      await once(child, 'exit');
      return child.exitCode;
    },
  };
}

function ended(child: ChildProcess, output: string): undefined {
  if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}:\n${output}`);
  return undefined;
}
