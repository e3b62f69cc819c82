import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Clock, DeadlineError, withDeadline } from '../../../units/clock.js';

/** Environment variables. Child processes inherit all. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly timeoutMs: number;
}

const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const QUOTED_LINES = 3;

/** Returns the standard output of a program. Throws an `Error` that quotes its last lines if the exit code is not 0. */
export async function runCommand(
  { env, clock }: { readonly env: Environment; readonly clock: Clock },
  { file, args, folder, timeoutMs }: Command,
): Promise<string> {
  return withDeadline(clock, { ms: timeoutMs }, async (signal) => {
    const options = { cwd: folder, env: { ...env, LC_ALL: 'C' }, maxBuffer: MAX_OUTPUT_BYTES, signal };
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
export function lastLines(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-QUOTED_LINES).join('; ');
}
