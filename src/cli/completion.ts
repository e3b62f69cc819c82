import type { Command } from 'commander';
import { CommandError, type CommandIo, type ExitCode } from './io.js';
import { type Completion, describeCommands } from './completion/describe.js';
import { bashScript } from './completion/bash.js';
import { fishScript } from './completion/fish.js';
import { zshScript } from './completion/zsh.js';

const SCRIPTS: ReadonlyMap<string, (completion: Completion) => string> = new Map([
  ['bash', bashScript],
  ['zsh', zshScript],
  ['fish', fishScript],
]);

/** `completion SHELL`: prints a script that completes commands, options and their values. Asks no server. */
export function runCompletion(shell: string, program: Command, io: CommandIo): ExitCode {
  const script = SCRIPTS.get(shell);
  if (script === undefined)
    throw new CommandError(
      `there is no completion for ${shell}: it is one of ${[...SCRIPTS.keys()].join(', ')}`,
      2,
    );
  io.stdout.write(script(describeCommands(program)));
  return 0;
}
