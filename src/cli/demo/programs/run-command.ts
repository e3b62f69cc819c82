import { execFile } from 'node:child_process';
import { DeadlineError, withDeadline } from '../../../units/clock.js';
import type { ProgramContext } from './context.js';

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly timeoutMs: number;
}

const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const QUOTED_LINES = 3;

/** Returns the standard output of a program. Throws an `Error` that quotes its last lines if the exit code is not 0. */
export async function runCommand(context: ProgramContext, command: Command): Promise<string> {
  const { file, args, folder, timeoutMs } = command;
  return withDeadline(context.clock, { ms: timeoutMs }, (signal) => {
    return new Promise<string>((resolve, reject) => {
      const options = {
        cwd: folder,
        env: { ...context.env, LC_ALL: 'C' },
        maxBuffer: MAX_OUTPUT_BYTES,
        signal,
      };
      execFile(file, [...args], options, (error, stdout, stderr) => {
        if (error === null) {
          resolve(stdout);
          return;
        }
        const why: unknown = signal.reason;
        const text = why instanceof DeadlineError ? why.message : lastLines(stderr) || error.message;
        reject(new Error(`${file} ${args[0] ?? ''}: ${text}`, { cause: error }));
      });
    });
  });
}

/** Returns the last non-empty lines, joined by `; `. */
export function lastLines(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-QUOTED_LINES).join('; ');
}
