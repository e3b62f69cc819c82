import type { Command } from 'commander';

/** What a shell completes. */
export interface Completion {
  readonly name: string;
  readonly commands: readonly CompletedCommand[];
}

export interface CompletedCommand {
  readonly name: string;
  /** Up to the first colon or semicolon, so that it fits a line of suggestions. */
  readonly description: string;
  readonly options: readonly CompletedOption[];
  /** The values of its first argument, where they are fixed; empty: files or names. */
  readonly values: readonly string[];
}

export interface CompletedOption {
  /** `--output`, `-o`. */
  readonly flags: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  /** Where they are fixed; empty: any, files first. */
  readonly values: readonly string[];
}

/** The commands of a program with their options, those of the program itself included. */
export function describeCommands(program: Command): Completion {
  const shared = optionsOf(program).filter(({ flags }) => !flags.includes('--version'));
  const help = { flags: ['--help', '-h'], description: 'show the help', takesValue: false, values: [] };
  const commands = program.commands.map((command) => ({
    name: command.name(),
    description: shorten(command.description()),
    options: [...optionsOf(command), ...shared, help],
    values: command.registeredArguments[0]?.argChoices ?? [],
  }));
  return { name: program.name(), commands };
}

function optionsOf(command: Command): readonly CompletedOption[] {
  return command.options.map((option) => ({
    flags: [option.long, option.short].filter((flag) => typeof flag === 'string'),
    description: shorten(option.description),
    takesValue: option.required || option.optional,
    values: option.argChoices ?? [],
  }));
}

function shorten(description: string): string {
  return /^[^:;(]*[^:;(\s]/.exec(description)?.[0] ?? description;
}
