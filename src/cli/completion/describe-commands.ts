import type { Command } from 'commander';

export interface Completion {
  readonly name: string;
  readonly commands: readonly CompletedCommand[];
}

interface CompletedCommand {
  readonly name: string;
  /** The summary up to the first colon or semicolon, to fit on one line. */
  readonly description: string;
  readonly options: readonly CompletedOption[];
  /** Allowed values of the first argument; empty: any value. */
  readonly values: readonly string[];
}

export interface CompletedOption {
  readonly flags: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  /** Allowed values; empty: any value. */
  readonly values: readonly string[];
}

export function describeCommands(program: Command): Completion {
  const shared = optionsOf(program).filter(({ flags }) => !flags.includes('--version'));
  const help = {
    flags: ['--help', '-h'],
    description: 'Print help',
    takesValue: false,
    values: [],
  };
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
