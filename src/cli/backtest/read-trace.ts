import { resolve } from 'node:path';
import { type Load, DEFAULT_START, createLoad } from '../../backtest/simulation/load.js';
import { CommandError, type CommandIo } from '../output/io.js';
import { readNamedFile } from '../input/read-files.js';
import { periodicYield } from '../../units/clock.js';
import { type Instant, formatInstant, instantFromMs } from '../../units/time.js';
import { countOf } from '../../units/format.js';
import { quote } from '../../backtest/simulation/settings.js';

/** Limits a load trace. A trace with a value for each second of 30 days takes 40 MB. */
const MAX_TRACE_BYTES = 128 * 1024 * 1024;

/** Reads a load trace and prints its problems. `start`: as for `parseTraceInParts`. Throws `CommandError`. */
export async function openTrace(file: string, start: Instant | null, io: CommandIo): Promise<Load> {
  const yieldIfDue = periodicYield(io.clock);
  const parts = parseTraceInParts(await readText(file, io), start);
  let part = parts.next();
  for (; part.done !== true; part = parts.next()) {
    await yieldIfDue();
    if (io.signal.aborted) throw new CommandError(`--trace: reading ${file}: interrupted`);
  }
  const { load, problems } = part.value;
  for (const { severity, line, message } of problems)
    io.stderr.write(`${file}${line === null ? '' : `:${line}`}: ${severity}: ${message}\n`);
  if (load === null) throw new CommandError(`--trace: ${file} is invalid`);
  return load;
}

async function readText(file: string, io: CommandIo): Promise<string> {
  if (file === '-') return io.readStdin();
  const bounds = { mostBytes: MAX_TRACE_BYTES, pipe: { signal: io.signal } };
  return readNamedFile(`--trace: reading ${file}`, resolve(io.cwd, file), bounds);
}

/** A problem of a trace. An error rejects the trace. `line`: null for a problem of the whole file. */
export interface TraceProblem {
  readonly severity: 'error' | 'warning';
  readonly line: number | null;
  readonly message: string;
}

export interface Trace {
  readonly load: Load | null;
  readonly problems: readonly TraceProblem[];
}

/** Maximum number of lines: 347 days with a step of 6 s. */
const MAX_ROWS = 5_000_000;
const MAX_DAYS = 400;
/** Minimum length of a trace: one step of the demand. */
const LEAST_SECONDS = 15;
/** Limits a value. It is larger than any load, even in bytes per second. */
const MAX_VALUE = 1e15;
const LINES_OF_A_PART = 10_000;
const MAX_PROBLEMS = 10;
/** A step that is longer than the usual step times this number is a gap. */
const MAX_STEPS = 2;
const HEADER = 't_seconds,value';
const NUMBER = /^[+-]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE][+-]?\d{1,3})?$/;

/**
 * Parses a load trace: the header `t_seconds,value`, then a line for each step, with ascending times. An empty value or
 * `NaN` is a gap. The usual step is the median of all steps. A step longer than twice the usual step has a gap after
 * its usual length. The first line is at `givenStart`. If `givenStart` is null, the first line is at `DEFAULT_START`,
 * with a warning if the times look like Unix times. Yields at least once a second, because parsing a long trace takes
 * several seconds. `maxRows`: the maximum number of lines with a time; a longer trace is rejected.
 */
export function* parseTraceInParts(
  text: string,
  givenStart: Instant | null,
  maxRows = MAX_ROWS,
): Generator<undefined, Trace> {
  const start = givenStart ?? DEFAULT_START;
  const rows = yield* readRows(text, maxRows);
  const [first] = rows.seconds;
  if (rows.problems.length > 0) return { load: null, problems: rows.problems };
  if (first === undefined) return failed(null, `the trace has no line after the header ${HEADER}`);
  if (rows.seconds.length < 2) return failed(2, 'a trace needs at least 2 lines with values');
  if (rows.values.every(Number.isNaN)) return failed(null, 'no line of the trace has a value');
  yield;
  const stepMs = medianStep(rows.seconds) * 1000;
  yield;
  const days = ((rows.seconds.at(-1) ?? first) - first + stepMs / 1000) / 86_400;
  const lastLine = rows.lines.at(-1) ?? null;
  if (days > MAX_DAYS)
    return failed(lastLine, `the trace has ${Math.ceil(days)} days, must have at most ${MAX_DAYS}`);
  if (days * 86_400 < LEAST_SECONDS)
    return failed(lastLine, `the trace has ${days * 86_400} s, must have at least ${LEAST_SECONDS} s`);
  const split = splitGaps(rows, { startMs: start - first * 1000, stepMs });
  const [last = start] = split.times.slice(-1);
  const end = instantFromMs(Math.round(last + stepMs));
  yield;
  const load = createLoad(Float64Array.from(split.times), Float64Array.from(split.values), end);
  const moved =
    givenStart === null && first >= LEAST_UNIX_SECONDS ? [movedTimes(first, rows.lines[0] ?? 1)] : [];
  yield;
  return { load, problems: [...moved, ...describeSteps(rows, stepMs / 1000)] };
}

/** The year 2001. A smaller number is probably not a Unix time, but a number of seconds since the start. */
const LEAST_UNIX_SECONDS = 1_000_000_000;

function movedTimes(first: number, line: number): TraceProblem {
  const meant = formatInstant(instantFromMs(first * 1000));
  const message = `t_seconds begins with ${first}, which looks like the Unix time ${meant}: the trace was moved to ${formatInstant(DEFAULT_START)}; set --start ${meant} to keep the times of the trace`;
  return { severity: 'warning', line, message };
}

interface Rows {
  readonly seconds: number[];
  readonly values: number[];
  /** The line number of each row; the first line of the file is 1. */
  readonly lines: number[];
  readonly problems: TraceProblem[];
}

function* readRows(text: string, maxRows: number): Generator<undefined, Rows> {
  const rows: Rows = { seconds: [], values: [], lines: [], problems: [] };
  let number = 0;
  let isHeaderRead = false;
  for (const raw of linesOf(text)) {
    number += 1;
    if (number % LINES_OF_A_PART === 0) yield;
    const line = (number === 1 ? raw.replace(/^\uFEFF/, '') : raw).trim();
    if (line === '' || line.startsWith('#')) continue;
    if (!isHeaderRead) {
      isHeaderRead = true;
      if (line.replaceAll(' ', '') === HEADER) continue;
      return fail(rows, number, `the first line is ${quote(line)}, must be ${HEADER}`);
    }
    if (rows.seconds.length >= maxRows) return fail(rows, number, `the trace has more than ${maxRows} lines`);
    const message = addRow(rows, line, number);
    if (message !== null) fail(rows, number, message);
    if (rows.problems.length >= MAX_PROBLEMS) break;
  }
  return isHeaderRead ? rows : fail(rows, null, `the trace is empty, must start with the line ${HEADER}`);
}

/** Yields line by line, because a list of all lines would take several times the memory of the text. */
function* linesOf(text: string): Iterable<string> {
  for (let from = 0; from < text.length;) {
    const next = text.indexOf('\n', from);
    const to = next < 0 ? text.length : next;
    yield text.slice(from, to);
    from = to + 1;
  }
}

/** Adds a line to the rows. Returns why the line is invalid, or null. */
function addRow(rows: Rows, line: string, number: number): string | null {
  const [time = '', value, ...more] = line.split(',', 3).map((cell) => cell.trim());
  if (value === undefined || more.length > 0) return `${quote(line)} must be two numbers, as in 60,12.5`;
  if (!NUMBER.test(time)) return `t_seconds is ${quote(time)}, must be a number of seconds`;
  const isGap = value === '' || /^[+-]?nan$/i.test(value);
  if (!isGap && !NUMBER.test(value)) return `value is ${quote(value)}, must be a number, or empty for a gap`;
  const seconds = Number(time);
  const amount = isGap ? NaN : Number(value);
  if (amount < 0) return `value is ${value}, must not be negative`;
  if (amount > MAX_VALUE) return `value is ${value}, must be at most ${MAX_VALUE}`;
  if (!Number.isFinite(seconds) || Math.abs(seconds) > MAX_SECONDS)
    return `t_seconds is ${time}, must be ${seconds < 0 ? `at least -${MAX_SECONDS}` : `at most ${MAX_SECONDS}`}`;
  const before = rows.seconds.at(-1);
  if (before !== undefined && seconds <= before)
    return `t_seconds is ${time}, must be greater than ${before} of line ${rows.lines.at(-1) ?? 0}`;
  rows.seconds.push(seconds);
  rows.values.push(amount);
  rows.lines.push(number);
  return null;
}

const MAX_SECONDS = 3_155_760_000;

function medianStep(seconds: readonly number[]): number {
  const steps = Float64Array.from(seconds.slice(1), (time, index) => time - (seconds[index] ?? time));
  return steps.sort()[Math.floor(steps.length / 2)] ?? 1;
}

function splitGaps(
  { seconds, values }: Rows,
  { startMs, stepMs }: { readonly startMs: number; readonly stepMs: number },
): { readonly times: number[]; readonly values: number[] } {
  const split = { times: [] as number[], values: [] as number[] };
  seconds.forEach((time, index) => {
    const from = startMs + time * 1000;
    split.times.push(from);
    split.values.push(values[index] ?? NaN);
    const next = seconds[index + 1];
    if (next === undefined || (next - time) * 1000 <= MAX_STEPS * stepMs) return;
    split.times.push(from + stepMs);
    split.values.push(NaN);
  });
  return split;
}

function describeSteps({ seconds, lines, values }: Rows, step: number): readonly TraceProblem[] {
  const problems: TraceProblem[] = [];
  const warn = (row: number, message: string): void =>
    void problems.push({ severity: 'warning', line: lines[row] ?? null, message });
  const uneven = indexesOf(seconds, (length) => length !== step && length <= MAX_STEPS * step);
  const gaps = indexesOf(seconds, (length) => length > MAX_STEPS * step);
  const [unevenAt] = uneven;
  const [gapAt] = gaps;
  if (unevenAt !== undefined) {
    const many = uneven.length === 1 ? '' : `, and ${countOf(uneven.length - 1, 'other step')} differ`;
    warn(
      unevenAt,
      `the step is ${length(seconds, unevenAt)} s instead of ${step} s${many}; each value applies until the next value`,
    );
  }
  if (gapAt !== undefined) {
    const many = gaps.length === 1 ? '' : `, and ${countOf(gaps.length - 1, 'other gap')}`;
    warn(gapAt, `a gap of ${length(seconds, gapAt)} s${many}; gaps are not filled and not scored`);
  }
  const empty = values.findIndex((value) => Number.isNaN(value));
  if (empty >= 0) {
    const count = values.filter((value) => Number.isNaN(value)).length;
    const many = count === 1 ? '' : ` here and in ${countOf(count - 1, 'other line')}`;
    warn(empty, `no value${many}; gaps are not filled and not scored`);
  }
  return problems;
}

function indexesOf(seconds: readonly number[], matches: (length: number) => boolean): readonly number[] {
  const found: number[] = [];
  for (let index = 1; index < seconds.length; index += 1)
    if (matches(length(seconds, index))) found.push(index);
  return found;
}

/** Returns the length of the step that ends at this row. */
function length(seconds: readonly number[], index: number): number {
  const seconds0 = seconds[index - 1] ?? 0;
  // The length is rounded, because differences of decimals such as 0.3 - 0.1 are inexact.
  return Number(((seconds[index] ?? 0) - seconds0).toPrecision(12));
}

function fail(rows: Rows, line: number | null, message: string): Rows {
  rows.problems.push({ severity: 'error', line, message });
  return rows;
}

function failed(line: number | null, message: string): Trace {
  return { load: null, problems: [{ severity: 'error', line, message }] };
}
