import type {
  CompletedCommand,
  CompletedOption,
  Completion,
  Argument,
  Suggestion,
} from './describe-commands.js';

/** The possible completions of the last word. */
export interface Completed {
  /** Null: the command itself is completed, or unknown. */
  readonly command: string | null;
  readonly argument: Argument;
  readonly suggestions: readonly Suggestion[];
  /** The start of the value, for example `js` for `--output=js`. */
  readonly begun: string;
  /** Text before each suggestion: `--output=` or empty. */
  readonly prefix: string;
  /** The preceding options by long flag, for requests to the service. */
  readonly options: Readonly<Record<string, string>>;
}

const NOTHING: Argument = { values: [], source: 'nothing' };

/** Completes the last of `words`, which follow the name of the program. It may be empty. */
export function complete({ commands }: Completion, words: readonly string[]): Completed {
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

/** Bash splits `--output=js` into three words; the other shells and kubectl do not. */
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
  /** The value that the last option expects. */
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
