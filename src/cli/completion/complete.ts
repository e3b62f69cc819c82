import type { Command } from 'commander';

/** How the last word of a command line can be completed. */
export interface Completed {
  /** Null: the last word is the name of the command, or the command is unknown. */
  readonly command: string | null;
  readonly argument: Argument;
  readonly suggestions: readonly Suggestion[];
  /** The part of the value that is already typed, for example `js` in `--output=js`. */
  readonly begun: string;
  /** Text before each suggestion: `--output=` or empty. */
  readonly prefix: string;
  /** Maps the long flags of the preceding options to their values, which requests to the service need. */
  readonly options: Readonly<Record<string, string>>;
}

const NOTHING: Argument = { values: [], source: 'nothing' };

/** Completes the last word of `words`, which may be empty. The words follow the program's name. */
export function complete(commands: readonly CompletedCommand[], words: readonly string[]): Completed {
  const { before, begun, prefix } = splitLast(words);
  const command = findCommand(commands, before);
  if (command === null) {
    const isCommand = before.every((word) => word.startsWith('-')) && !begun.startsWith('-');
    return {
      command: null,
      argument: NOTHING,
      suggestions: isCommand ? commands : [],
      begun,
      prefix,
      options: {},
    };
  }
  const { options, count, open } = readWords(command, before.slice(before.indexOf(command.value) + 1));
  const at = { command: command.value, begun, prefix, options };
  if (open !== null) return { ...at, argument: open, suggestions: plain(open.values) };
  if (begun.startsWith('-')) return { ...at, argument: NOTHING, suggestions: flagsOf(command) };
  const argument =
    command.args[command.isVariadic ? Math.min(count, command.args.length - 1) : count] ?? NOTHING;
  return { ...at, argument, suggestions: plain(argument.values) };
}

/**
 * Splits off the last word, with its option and `=`. Bash passes `--output=js` as three words; other shells and kubectl
 * pass it as one word.
 */
function splitLast(words: readonly string[]): { before: readonly string[]; begun: string; prefix: string } {
  const last = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  if (last === '=') return { before, begun: '', prefix: '' };
  const equals = last.indexOf('=');
  if (last.startsWith('-') && equals > 0) {
    const prefix = last.slice(0, equals + 1);
    return { before: [...before, last.slice(0, equals)], begun: last.slice(equals + 1), prefix };
  }
  return { before: before.at(-1) === '=' ? before.slice(0, -1) : before, begun: last, prefix: '' };
}

function findCommand(
  commands: readonly CompletedCommand[],
  before: readonly string[],
): CompletedCommand | null {
  const name = before.find((word) => !word.startsWith('-'));
  return commands.find(({ value }) => value === name) ?? null;
}

interface ReadWords {
  readonly options: Readonly<Record<string, string>>;
  readonly count: number;
  /** What the value of the last option may be; null: the last word is not an option that needs a value. */
  readonly open: Argument | null;
}

function readWords(command: CompletedCommand, words: readonly string[]): ReadWords {
  const options: Record<string, string> = {};
  let open: CompletedOption | null = null;
  let count = 0;
  for (const word of words) {
    if (word === '=') continue;
    if (open !== null) {
      options[open.flags[0] ?? ''] = word;
      open = null;
      continue;
    }
    if (!word.startsWith('-') || word === '-') {
      count += 1;
      continue;
    }
    const [flag = '', value] = word.split(/=(.*)/s);
    const option = command.options.find(({ flags }) => flags.includes(flag));
    if (option === undefined || option.argument === null) continue;
    if (value === undefined) open = option;
    else options[option.flags[0] ?? ''] = value;
  }
  return { options, count, open: open?.argument ?? null };
}

function plain(values: readonly string[]): readonly Suggestion[] {
  return values.map((value) => ({ value, description: '' }));
}

function flagsOf({ options }: CompletedCommand): readonly Suggestion[] {
  return options.flatMap(({ flags, description }) => flags.map((value) => ({ value, description })));
}

/** Where the completions of an argument or option come from, unless `values` lists them. */
export type Source = 'files' | 'scalers' | 'namespaces' | 'autoscalers' | 'contexts' | 'nothing';

export interface Suggestion {
  readonly value: string;
  /** Empty: there is no description. */
  readonly description: string;
}

interface CompletedCommand extends Suggestion {
  readonly options: readonly CompletedOption[];
  /** The positional arguments in order. If `isVariadic`, the last argument may be repeated. */
  readonly args: readonly Argument[];
  readonly isVariadic: boolean;
}

interface CompletedOption {
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

export function describeCommands(program: Command): readonly CompletedCommand[] {
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
  return [...commands, helpCommand];
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
