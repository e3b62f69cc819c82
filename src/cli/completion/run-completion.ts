import { CommandError, type CommandIo, type ExitCode } from '../process/io.js';
import { BASH_SCRIPT } from './bash.js';
import { FISH_SCRIPT } from './fish.js';
import { ZSH_SCRIPT } from './zsh.js';

const SCRIPTS: ReadonlyMap<string, string> = new Map([
  ['bash', BASH_SCRIPT],
  ['zsh', ZSH_SCRIPT],
  ['fish', FISH_SCRIPT],
]);

/** Runs `completion`. The scripts run `promscaler __complete`, see `runComplete`. */
export function runCompletion(shell: string, io: CommandIo): ExitCode {
  const script = SCRIPTS.get(shell);
  if (script === undefined)
    throw new CommandError(
      `shell ${shell} is not supported, must be one of ${[...SCRIPTS.keys()].join(', ')}`,
      2,
    );
  io.stdout.write(script);
  return 0;
}
