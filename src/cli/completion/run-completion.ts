import type { Command } from 'commander';
import { CommandError, type CommandIo, type ExitCode } from '../process/io.js';
import { type Completion, describeCommands } from './describe-commands.js';
import { bashScript } from './bash.js';
import { fishScript } from './fish.js';
import { zshScript } from './zsh.js';

const SCRIPTS: ReadonlyMap<string, (completion: Completion) => string> = new Map([
  ['bash', bashScript],
  ['zsh', zshScript],
  ['fish', fishScript],
]);

/**
 * Runs `completion`: prints the script that completes commands, options and their values. The script sends no requests.
 */
export function runCompletion(shell: string, program: Command, io: CommandIo): ExitCode {
  const script = SCRIPTS.get(shell);
  if (script === undefined)
    throw new CommandError(
      `shell ${shell} is not supported, must be one of ${[...SCRIPTS.keys()].join(', ')}`,
      2,
    );
  io.stdout.write(script(describeCommands(program)));
  return 0;
}
