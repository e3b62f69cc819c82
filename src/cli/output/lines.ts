import { formatProblem, type Problem } from '../../scaler/problems/problem.js';
import { replaceTimes } from '../../units/split-times.js';
import { formatLocal } from '../../units/short-time.js';
import { formatWithOffset } from '../../units/time.js';
import type { CommandIo } from './io.js';

/**
 * Matches a promscaler command in a string, except after `--`: in `kubectl exec POD -- promscaler`, it is the program
 * of the container. A test compares the names with the help.
 */
const COMMAND =
  /(?<!-- |[\w./-])promscaler (?=(?:adopt|backtest|completion|dashboard|decide|demo|doctor|explain|import|new|pause|resume|run|schema|show|status|test|validate|version)\b)/g;

/**
 * Returns the text with each promscaler command as the user started the program, so that the user can paste it:
 * `promscaler resume shop/web` becomes `node dist/cli/main.js resume shop/web`.
 */
export function nameProgram(text: string, { command }: Pick<CommandIo, 'command'>): string {
  return text.replace(COMMAND, () => `${command} `);
}

/**
 * Returns a string for a person, with its times in the time zone of the process: `2026-01-01T11:42:30+01:00`, which
 * options for times accept, too. If the time zone is UTC, the text is unchanged. Output for programs stays in UTC.
 */
export function localTimes(text: string): string {
  return replaceTimes(text, formatWithOffset);
}

/**
 * Returns a string for a person, with its times short and in the time zone of the process, as in the dashboard. The
 * first mention of `exactMs` has the form of `localTimes`.
 */
export function shortTimes(text: string, nowMs: number, exactMs: number | null = null): string {
  let isMentioned = false;
  return replaceTimes(text, (ms) => {
    if (ms !== exactMs || isMentioned) return formatLocal(ms, nowMs);
    isMentioned = true;
    return formatWithOffset(ms);
  });
}

/** Applies `nameProgram` and `shortTimes` to a string for a person. */
export function textToPrint(
  text: string,
  io: Pick<CommandIo, 'command' | 'clock'>,
  exactMs: number | null = null,
): string {
  return shortTimes(nameProgram(text, io), io.clock.now(), exactMs);
}

/** Prints problems on standard error. */
export function writeProblems(problems: readonly Problem[], io: CommandIo): void {
  for (const problem of problems) io.stderr.write(`${formatProblem(nameProgramIn(problem, io))}\n`);
}

/** Applies `nameProgram` to the message of a problem. */
export function nameProgramIn(problem: Problem, io: Pick<CommandIo, 'command'>): Problem {
  return { ...problem, message: nameProgram(problem.message, io) };
}

/** Pads each column to its widest cell. Columns are separated by two spaces; lines have no trailing spaces. */
export function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows)
    row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** The assumed width of a terminal that does not report its width. */
const USUAL_CHARACTERS = 80;

/**
 * Returns the maximum number of characters in a line: the environment variable COLUMNS, otherwise the width of the
 * terminal. Null: no limit, because the output is a pipe or a file.
 */
export function lineLimit({ stdout, env }: Pick<CommandIo, 'stdout' | 'env'>): number | null {
  const wanted = env['COLUMNS'] ?? '';
  if (/^[1-9]\d{0,4}$/.test(wanted)) return Number(wanted);
  if (!stdout.isTerminal) return null;
  const columns = stdout.columns?.() ?? 0;
  return columns > 0 ? columns : USUAL_CHARACTERS;
}

/** Returns the options that are set as words of a command line, such as `--context test`. */
export function writeOptions(options: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(options).flatMap(([option, value]) =>
    value === undefined ? [] : [`--${option} ${value}`],
  );
}
