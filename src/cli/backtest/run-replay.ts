import { replayLine, type Difference, type RecordLine } from '../../recording/record-line.js';
import { cleanText } from '../../units/clean-text.js';
import { countOf } from '../../units/format.js';
import { formatInstant } from '../../units/time.js';
import { EmptyRecordError, readRecord } from '../input/read-record.js';
import { alignColumns, localTimes } from '../output/lines.js';
import type { CommandIo, ExitCode } from '../output/io.js';
import { VERSION } from '../output/version.js';
import type { Format } from './write-report.js';

/** Limits the listed lines, because a file may have millions of them. All lines are counted. */
const MAX_LISTED = 100;

interface LineLocation {
  readonly file: string;
  readonly line: number;
}

interface RecordProblem {
  readonly file: string;
  /** Null: the error concerns the whole file. */
  readonly line: number | null;
  /** The end of a message that starts with the file or line, such as `is empty, must be a decision record`. */
  readonly error: string;
}

interface ListedDifference extends LineLocation, Difference {
  readonly scaler: string;
  readonly at: string;
  /** Version of promscaler that made the recorded decision. */
  readonly version: string;
}

interface Totals {
  readonly scalers: Set<string>;
  readonly versions: Set<string>;
  readonly differences: ListedDifference[];
  readonly problems: RecordProblem[];
  from: string | null;
  to: string | null;
  decisions: number;
  withoutDecision: number;
  different: number;
  wording: number;
  unread: number;
  emptyFiles: number;
}

/**
 * Runs `backtest --replay`: repeats the decision for each recorded snapshot. Returns 1 if a decision differs, if a line
 * cannot be read, or if a file is empty. Throws `CommandError` if a file cannot be read, or if all files are empty.
 */
export async function runReplay(files: readonly string[], format: Format, io: CommandIo): Promise<ExitCode> {
  const totals: Totals = {
    scalers: new Set(),
    versions: new Set(),
    differences: [],
    problems: [],
    from: null,
    to: null,
    decisions: 0,
    withoutDecision: 0,
    different: 0,
    wording: 0,
    unread: 0,
    emptyFiles: 0,
  };
  for (const file of files) await addFile(totals, file, io);
  if (totals.emptyFiles === files.length) throw new EmptyRecordError(files);
  // JSON needs no `cleanText`, because it escapes control characters itself.
  io.stdout.write(
    format === 'json' ? `${JSON.stringify(toJson(totals), null, 2)}\n` : cleanText(textOf(totals, format)),
  );
  for (const { file, line, error } of totals.problems) {
    const [where, subject] = line === null ? [file, 'file'] : [`${file}:${line}`, 'line'];
    io.stderr.write(cleanText(`${where}: error: the ${subject} ${error}\n`));
  }
  return totals.different + totals.unread + totals.emptyFiles > 0 ? 1 : 0;
}

async function addFile(totals: Totals, file: string, io: CommandIo): Promise<void> {
  try {
    for await (const { number, line } of readRecord(file, io)) {
      const location = { file, line: number };
      if ('error' in line) addUnread(totals, location, line.error);
      else addLine(totals, location, line);
    }
  } catch (error) {
    if (!(error instanceof EmptyRecordError)) throw error;
    totals.emptyFiles += 1;
    totals.problems.push({ file, line: null, error: 'is empty, must be a decision record' });
  }
}

function addUnread(totals: Totals, location: LineLocation, error: string): void {
  totals.unread += 1;
  if (totals.problems.length < MAX_LISTED) totals.problems.push({ ...location, error });
}

function addLine(totals: Totals, location: LineLocation, line: RecordLine): void {
  const at = formatInstant(line.at);
  const replayed = replayLine(line, VERSION);
  if (replayed.kind === 'invalid') {
    addUnread(totals, location, `has a snapshot that this version rejects: ${replayed.error}`);
    return;
  }
  totals.scalers.add(line.scaler);
  totals.versions.add(line.version);
  if (totals.from === null || at < totals.from) totals.from = at;
  if (totals.to === null || at > totals.to) totals.to = at;
  if (replayed.kind === 'none') {
    totals.withoutDecision += 1;
    return;
  }
  totals.decisions += 1;
  if (replayed.kind === 'same') {
    totals.wording += Number(replayed.wording.length > 0);
    return;
  }
  totals.different += 1;
  const { scaler, version } = line;
  for (const difference of replayed.differences.slice(0, MAX_LISTED - totals.differences.length))
    totals.differences.push({ ...location, scaler, at, version, ...difference });
}

function toJson({ scalers, versions, differences, problems, ...counts }: Totals): unknown {
  return {
    version: VERSION,
    recordedBy: [...versions].sort(),
    scalers: scalers.size,
    ...counts,
    // A field that exists only in one of the decisions is null in the other, because JSON omits undefined.
    differences: differences.map(({ then = null, now = null, ...location }) => ({ ...location, then, now })),
    problems,
  };
}

function textOf(totals: Totals, format: Format): string {
  const { scalers, decisions, from, to, different, wording, withoutDecision, unread, emptyFiles } = totals;
  const zoned = format === 'markdown' ? String : localTimes;
  const period = from === null || to === null ? '' : zoned(`, from ${from} to ${to}`);
  const lines = [
    `${countOf(decisions, 'decision')} of ${countOf(scalers.size, 'scaler')}${period}`,
    `recorded by ${[...totals.versions].sort().join(', ') || 'no version'}, replayed by ${VERSION}`,
    noDifference(totals) ?? `differences in ${different} of ${countOf(decisions, 'decision')}`,
    ...(wording === 0
      ? []
      : [`${countOf(wording, 'decision')} with differences only in the wording of messages`]),
    ...(withoutDecision === 0
      ? []
      : [`${countOf(withoutDecision, 'line')} without a decision: the target could not be read`]),
    ...(unread === 0 ? [] : [`${countOf(unread, 'line')} not replayed; see the errors`]),
    ...(emptyFiles === 0 ? [] : [`${countOf(emptyFiles, 'file')} without a line; see the errors`]),
  ];
  const table = differenceRows(totals).map((row) => row.map(zoned));
  const cut =
    different > 0 && totals.differences.length === MAX_LISTED
      ? [`only the first ${MAX_LISTED} differences are listed`]
      : [];
  if (table.length === 0) return `${lines.join('\n')}\n`;
  const body = format === 'markdown' ? markdownTable(table) : alignColumns(table);
  return `${[...lines, '', ...body, ...cut].join('\n')}\n`;
}

/** Returns the summary if no decision differs, otherwise null. */
function noDifference({ decisions, different }: Totals): string | null {
  if (decisions === 0) return 'nothing was compared';
  return different === 0 ? 'no difference' : null;
}

function differenceRows({ differences }: Totals): readonly (readonly string[])[] {
  if (differences.length === 0) return [];
  const rows = differences.map(({ scaler, at, field, then, now }) => [
    scaler,
    at,
    field,
    show(then),
    show(now),
  ]);
  return [['SCALER', 'TIME', 'FIELD', 'THEN', 'NOW'], ...rows];
}

function markdownTable([header = [], ...rows]: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)];
}

const LONGEST_VALUE = 60;

function show(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}...` : text;
}
