import type { Command } from 'commander';

/** Where the completions of an argument or option come from, unless `values` lists them. */
export type Source = 'files' | 'scalers' | 'namespaces' | 'autoscalers' | 'contexts' | 'nothing';

export interface Completion {
  readonly commands: readonly CompletedCommand[];
}

export interface Suggestion {
  readonly value: string;
  /** Empty: there is no description. */
  readonly description: string;
}

export interface CompletedCommand extends Suggestion {
  readonly options: readonly CompletedOption[];
  /** The positional arguments in order. If `isVariadic`, the last one may be repeated. */
  readonly args: readonly Argument[];
  readonly isVariadic: boolean;
}

export interface CompletedOption {
  readonly flags: readonly string[];
  readonly description: string;
  /** Null: the option takes no value. */
  readonly argument: Argument | null;
}

export interface Argument {
  /** The allowed values; empty: the completions come from `source`. */
  readonly values: readonly string[];
  readonly source: Source;
}

export function describeCommands(program: Command): Completion {
  const shared = optionsOf(program).filter(({ flags }) => !flags.includes('--version'));
  const help: CompletedOption = { flags: ['--help', '-h'], description: 'Print help', argument: null };
  const commands = program.commands.map((command) => ({
    value: command.name(),
    description: shorten(command.description()),
    options: [...optionsOf(command), ...shared, help],
    args: command.registeredArguments.map((one) => argumentOf(one.name(), one.argChoices)),
    isVariadic: command.registeredArguments.at(-1)?.variadic === true,
  }));
  const names = commands.map(({ value }) => value);
  const helpCommand: CompletedCommand = {
    value: 'help',
    description: 'Print help for a command',
    options: [],
    args: [{ values: names, source: 'nothing' }],
    isVariadic: false,
  };
  return { commands: [...commands, helpCommand] };
}

function optionsOf(command: Command): readonly CompletedOption[] {
  return command.options.map((option) => ({
    flags: [option.long, option.short].filter((flag) => typeof flag === 'string'),
    description: shorten(option.description),
    argument:
      option.required || option.optional
        ? argumentOf(/[<[]([\w-]+)/.exec(option.flags)?.[1] ?? '', option.argChoices)
        : null,
  }));
}

/** Maps the name of an argument in the help to the source of its completions. */
const SOURCES: Readonly<Record<string, Source>> = {
  file: 'files',
  path: 'files',
  snapshot: 'files',
  scaler: 'scalers',
  namespace: 'namespaces',
  autoscaler: 'autoscalers',
  context: 'contexts',
};

function argumentOf(name: string, values: readonly string[] = []): Argument {
  return { values, source: SOURCES[name] ?? 'nothing' };
}

function shorten(description: string): string {
  return /^[^:;(]*[^:;(\s]/.exec(description)?.[0] ?? description;
}
