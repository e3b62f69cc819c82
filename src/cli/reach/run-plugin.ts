import { execFile } from 'node:child_process';
import type { RunPlugin } from '../../kubernetes/access/exec-plugin.js';
import { DeadlineError, withDeadline } from '../../units/clock.js';
import type { CommandIo } from '../output/io.js';

const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_LINE_LENGTH = 200;

/**
 * Runs the credential plugin of a kubeconfig. It gets the environment of this process, its own variables from the
 * kubeconfig, and an empty standard input. If it fails, the message includes the last line of its standard error, with
 * at most 200 characters.
 */
export function pluginRunner({ env, clock }: Pick<CommandIo, 'env' | 'clock'>): RunPlugin {
  return (run) =>
    withDeadline(clock, { ms: run.timeoutMs }, (signal) => {
      return new Promise((resolve) => {
        const options = { env: { ...env, ...run.env }, maxBuffer: MAX_OUTPUT_BYTES, signal };
        const child = execFile(run.command, [...run.args], options, (error, stdout, stderr) => {
          if (error === null) {
            resolve({ kind: 'done', stdout });
            return;
          }
          // Not error.message, which would contain the arguments and all of standard error.
          const reason: unknown = signal.reason;
          const isMissing = error.code === 'ENOENT';
          const why =
            reason instanceof DeadlineError
              ? `did not end within ${run.timeoutMs / 1000} s`
              : isMissing
                ? 'does not exist'
                : `ended with ${String(error.code ?? error.signal ?? 'an error')}${lastLine(stderr)}`;
          resolve({ kind: 'failed', why, isMissing });
        });
        // Ignored: the pipe breaks if the plugin exits without reading its standard input.
        child.stdin?.on('error', () => undefined);
        child.stdin?.end();
      });
    });
}

function lastLine(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.replace(/\p{Cc}+/gu, ' ').trim());
  const last = lines.findLast((line) => line !== '');
  if (last === undefined) return '';
  return `: ${last.length > MAX_LINE_LENGTH ? `${last.slice(0, MAX_LINE_LENGTH)}...` : last}`;
}
