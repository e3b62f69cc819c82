import type { Command } from 'commander';
import type { CommandIo, ExitCode } from '../output/io.js';
import { complete } from './complete.js';
import { describeCommands } from './describe-commands.js';
import { readSuggestions } from './read-suggestions.js';

/** Directives of cobra, which kubectl reads: file names may be completed, or not. */
const WITH_FILES = ':0';
const WITHOUT_FILES = ':4';

/**
 * Completes a command line for shell scripts and for kubectl, in the format of `__complete` of cobra: one suggestion
 * per line, with a tab before its description, and a directive. Prints no error.
 */
export async function runComplete(
  words: readonly string[],
  program: Command,
  io: CommandIo,
): Promise<ExitCode> {
  const completed = complete(describeCommands(program), words);
  const { argument, begun, prefix } = completed;
  const suggestions = [...completed.suggestions, ...(await readSuggestions(completed, io))];
  const lines = suggestions
    .filter(({ value }) => value.startsWith(begun))
    .map(({ value, description }) => `${prefix}${value}${description === '' ? '' : `\t${description}`}`);
  io.stdout.write([...lines, argument.source === 'files' ? WITH_FILES : WITHOUT_FILES, ''].join('\n'));
  return 0;
}
