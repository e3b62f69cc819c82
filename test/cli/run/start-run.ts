// Loaded here, because the command line loads it on demand, which would count toward the first test.
import '../../../src/cli/commands/run-service.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import type { Clock } from '../../../src/units/clock.js';
import { folderOf, type Ran, runCli } from '../fake-io.js';

/** `promscaler run` in this process. */
export interface StartedRun {
  readonly cwd: string;
  readonly written: { readonly stdout: string; readonly stderr: string };
  readonly ended: Promise<Ran>;
  readonly stop: () => Promise<Ran>;
  /** The URL that it has logged; before, one on which nothing listens. */
  readonly url: () => string;
}

/** Starts `run` in a directory with these files. */
export function startRun(
  files: Readonly<Record<string, string>> & { readonly 'promscaler.yaml': string },
  env: Readonly<Record<string, string>> = {},
  clock: Clock = SYSTEM_CLOCK,
): StartedRun {
  const cwd = folderOf(files);
  const written = { stdout: '', stderr: '' };
  const stop = new AbortController();
  const { signal } = stop;
  const ended = runCli(['run', '--config', 'promscaler.yaml'], { cwd, env, clock, signal, written });
  return {
    cwd,
    written,
    ended,
    stop: () => {
      stop.abort();
      return ended;
    },
    url: () => /"url":"(http:[^"]+)"/.exec(written.stderr)?.[1] ?? 'http://127.0.0.1:9',
  };
}
