import { sleep } from '../../units/clock.js';
import { formatInstant, type Instant } from '../../units/time.js';
import { CommandError, type CommandIo, type ExitCode, usageError } from '../output/io.js';
import { lineLimit, localTimes, nameProgram, shortTimes, textToPrint } from '../output/lines.js';
import { readOutputFormat, writeStructured } from '../output/output-format.js';
import { paintOf } from '../output/paint.js';
import type { ReachOptions } from '../reach/find-service.js';
import { type ServiceClient, withService } from '../reach/service-client.js';
import {
  explainMissing,
  failingSources,
  findMissing,
  type ListedScaler,
  listNotes,
  listSorted,
  readSelection,
  type Selection,
  type SelectionOptions,
  type StatusList,
  tableRows,
} from './status-list.js';
import { type StatusRow, statusRow } from './status-row.js';
import {
  columnsFor,
  columnWidths,
  type TableStyle,
  WIDE_COLUMNS,
  writeRow,
  writeTable,
  writeTitles,
} from './status-table.js';
import type { ScalerView } from '../../api/answers.js';
import { patchCommand } from '../../decision/snippet.js';
import { evidenceLines } from '../../scaler/field-changes.js';
import { RECOMMEND_CONDITION } from '../../telemetry/recommendation.js';
import { cleanText } from '../../units/clean-text.js';
import type { ScalerName } from '../reach/service-pages.js';

export interface StatusOptions extends ReachOptions, SelectionOptions {
  /** Whether to repeat: a terminal shows the current table, other output gets each changed row. */
  readonly watch?: boolean;
  /** Whether to print recommendations instead of the table. */
  readonly recommendations?: boolean;
  readonly output: string;
}

const WATCH_PERIOD_MS = 3000;

/**
 * Runs `status`: prints a row for each scaler, sorted by namespace and name. With `watch`, repeats this until the
 * command is interrupted. Throws `CommandError` if a named scaler does not exist.
 */
export async function runStatus(options: StatusOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, ['text', 'wide', 'json', 'yaml', 'name']);
  const { watch = false, recommendations = false } = options;
  if (recommendations && (watch || format === 'wide' || format === 'name'))
    throw usageError(`--recommendations excludes ${watch ? '--watch' : `-o ${format}`}: remove one of them`);
  const selection = await readSelection(options, io);
  return withService(options, io, async (client): Promise<ExitCode> => {
    const list = await listSorted(client, selection);
    const { command } = io;
    const isTable = format === 'text' || format === 'wide';
    const shown = tableRows(list, selection);
    const missing = findMissing(shown, selection);
    if (!watch && missing === undefined && (format === 'json' || format === 'yaml')) {
      const { leader, version, problems, dataSources, rows } = list;
      if (recommendations) {
        const items = recommendationItems(rows, command);
        io.stdout.write(writeStructured(format, { version, leader, items }));
        return 0;
      }
      io.stdout.write(writeStructured(format, { version, leader, problems, dataSources, items: shown }));
      return 0;
    }
    const watched = { client, selection, isWide: format === 'wide' };
    // A terminal with TERM=dumb cannot move its cursor, so changed rows are printed one below the other.
    const isScreen = watch && isTable && io.stdout.isTerminal && io.env['TERM'] !== 'dumb';
    // The error about a missing scaler already says why its document is rejected, so no note repeats it.
    const key = missing === undefined ? null : `${missing.namespace ?? ''}/${missing.name}`;
    const noted = {
      ...list,
      problems: list.problems.filter(({ scaler }) => scaler === null || scaler !== key),
    };
    if (!isScreen) for (const note of listNotes(client.where, noted, selection)) printNote(io, note);
    if (missing !== undefined) throw await explainMissing(missing, client);
    if (!watch && shown.length === 0) {
      const { namespace } = selection;
      const place = namespace === null ? '' : ` in namespace ${namespace}`;
      printNote(io, `${client.where} has no scalers${place}, or their first cycle has not finished`);
      return 0;
    }
    if (recommendations)
      io.stdout.write(
        recommendationLines(list.rows, command)
          .map((line) => `${localTimes(line)}\n`)
          .join(''),
      );
    else if (isScreen) await followOnScreen(list, watched, io);
    else {
      const print = isTable ? tablePrinter(tableStyle(watched, io), io) : recordPrinter(format, io);
      print(shown);
      if (watch) await follow(list, { ...watched, print }, io);
    }
    return 0;
  });
}

function printNote(io: CommandIo, note: string): void {
  io.stderr.write(`promscaler: ${textToPrint(note, io)}\n`);
}

interface Watched {
  readonly client: ServiceClient;
  readonly selection: Selection;
  readonly isWide: boolean;
}

type Printer = (rows: readonly ListedScaler[]) => void;

/** Prints changed rows until an interrupt. `first`: the list that was printed before, with its notes. */
async function follow(
  first: StatusList,
  watched: Watched & { readonly print: Printer },
  io: CommandIo,
): Promise<void> {
  let lastFailure: string | null = null;
  let lastNotes = failingSources(first.dataSources);
  for (;;) {
    await sleep(io.clock, WATCH_PERIOD_MS, io.signal);
    if (io.signal.aborted) return;
    const next = await listAgain(watched, io);
    if (next === null) return;
    if ('rows' in next) {
      watched.print(tableRows(next, watched.selection));
      const current = failingSources(next.dataSources);
      for (const note of current) if (!lastNotes.includes(note)) printNote(io, note);
      lastNotes = current;
    }
    const failure = 'rows' in next ? null : next.message;
    if (failure !== null && failure !== lastFailure) printNote(io, failure);
    lastFailure = failure;
  }
}

/** Shows the table until an interrupt. If the service does not answer, shows the last table and the error. */
async function followOnScreen(first: StatusList, watched: Watched, io: CommandIo): Promise<void> {
  let list: StatusList = first;
  let notes = listNotes(watched.client.where, list, watched.selection);
  for (;;) {
    const now = io.clock.now();
    const table = writeTable(
      tableRows(list, watched.selection).map((row) => cellsOf(row, now, io)),
      // The style is computed for each table, because the size of the terminal may change.
      tableStyle(watched, io),
    );
    const head = `${watched.client.where}, ${shortTimes(formatInstant(now), now)}, every ${WATCH_PERIOD_MS / 1000} s (Ctrl-C to exit)`;
    io.stdout.write(
      drawScreen([head, ...notes.map((note) => textToPrint(note, io)), '', ...table], sizeOf(io)),
    );
    await sleep(io.clock, WATCH_PERIOD_MS, io.signal);
    if (io.signal.aborted) return;
    const next = await listAgain(watched, io);
    if (next === null) return;
    if ('rows' in next) list = next;
    notes = 'rows' in next ? listNotes(watched.client.where, next, watched.selection) : [next.message];
  }
}

/** Lists the scalers again; null: the command was interrupted. */
async function listAgain(
  { client, selection }: Watched,
  io: CommandIo,
): Promise<StatusList | CommandError | null> {
  try {
    return await listSorted(client, selection);
  } catch (error) {
    if (io.signal.aborted) return null;
    if (error instanceof CommandError) return error;
    throw error;
  }
}

/** Returns columns and width of the table. The width of a wide table is not limited. */
function tableStyle({ isWide, selection: { namespace } }: Watched, io: CommandIo): TableStyle {
  const limit = isWide ? null : lineLimit(io);
  const columns = isWide
    ? { columns: WIDE_COLUMNS, isCauseBelow: false }
    : columnsFor(namespace !== null, limit);
  return { ...columns, limit, paint: paintOf(io) };
}

/** Returns the size of the terminal. Some terminals report 0 if they do not know their size. */
function sizeOf({ stdout }: CommandIo): ScreenSize {
  const [rows = 0, columns = 0] = [stdout.rows?.(), stdout.columns?.()];
  return { rows: rows > 0 ? rows : null, columns: columns > 0 ? columns : null };
}

const RECORDS: Readonly<Record<'json' | 'yaml' | 'name', (row: ListedScaler) => string>> = {
  json: (row) => `${JSON.stringify(row)}\n`,
  yaml: (row) => `---\n${writeStructured('yaml', row)}`,
  name: ({ namespace, name }) => `${namespace}/${name}\n`,
};

/** Prints each scaler that has changed since it was last printed. A change of `at` alone is ignored. */
function recordPrinter(format: 'json' | 'yaml' | 'name', { stdout }: CommandIo): Printer {
  const isNew = changeFilter();
  return (rows) => {
    for (const row of rows) {
      if (isNew(row, JSON.stringify({ ...row, at: null }))) stdout.write(RECORDS[format](row));
    }
  };
}

/** Prints each row that has changed since it was last printed. The columns keep the widths of the first table. */
function tablePrinter(style: TableStyle, io: CommandIo): Printer {
  const isNew = changeFilter();
  let widths: readonly number[] | null = null;
  return (rows) => {
    const now: Instant = io.clock.now();
    const shown = rows.map((row) => ({ row, cells: cellsOf(row, now, io) }));
    const changed = shown.filter(({ row, cells }) => isNew(row, keyOf(cells))).map(({ cells }) => cells);
    const isFirst = widths === null;
    widths ??= columnWidths(
      shown.map(({ cells }) => cells),
      style,
    );
    const lines = changed.map((cells) => writeRow(cells, widths ?? [], style));
    const all = isFirst ? [writeTitles(widths, style), ...lines] : lines;
    io.stdout.write(all.map((line) => `${line}\n`).join(''));
  };
}

/** Applies `nameProgram` to the cause, so that its commands can be pasted. */
function cellsOf(row: ListedScaler, now: Instant, io: CommandIo): StatusRow {
  const cells = statusRow(row, now);
  return { ...cells, cause: { ...cells.cause, head: nameProgram(cells.cause.head, io) } };
}

/** Returns a string that changes with a row. Omits the cells that change with the current time. */
function keyOf(cells: StatusRow): string {
  return JSON.stringify({ ...cells, since: null, cause: null, lastChange: null });
}

function changeFilter(): (row: ListedScaler, content: string) => boolean {
  const known = new Map<string, string>();
  return ({ namespace, name }, content) => {
    const key = `${namespace}/${name}`;
    const isNew = known.get(key) !== content;
    known.set(key, content);
    return isNew;
  };
}

const HOME = '\u001b[H';
const CLEAR_TO_LINE_END = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
// eslint-disable-next-line no-control-regex -- color sequences do not count for the width
const COLOR = /\u001b\[\d*m/g;

/** The size of a terminal in lines and characters; null: unknown. */
export interface ScreenSize {
  readonly rows: number | null;
  readonly columns: number | null;
}

/**
 * Returns output that replaces the contents of a terminal without flicker. If not all lines fit, the last line says how
 * many are hidden. A string may contain several lines, and a line that is longer than the terminal is wide takes
 * several rows.
 */
export function drawScreen(lines: readonly string[], { rows, columns }: ScreenSize): string {
  const shown = rows === null ? lines : cut(lines, { rows: Math.max(3, rows), columns });
  const printed = shown.flatMap((text) => text.split('\n'));
  return `${HOME}${printed.map((line) => `${line}${CLEAR_TO_LINE_END}\n`).join('')}${CLEAR_BELOW}`;
}

/** Cuts the lines. The last row of the screen stays empty, because a newline follows the row above it. */
function cut(
  lines: readonly string[],
  { rows, columns }: { readonly rows: number; readonly columns: number | null },
): readonly string[] {
  const heights = lines.map((line) => heightOf(line, columns));
  const whole = heights.reduce((sum, height) => sum + height, 0);
  if (whole < rows) return lines;
  let room = rows - 2;
  const kept = heights.findIndex((height) => (room -= height) < 0);
  return [...lines.slice(0, kept), `... and ${lines.length - kept} more; use --namespace to list fewer`];
}

function heightOf(text: string, columns: number | null): number {
  const lines = text.replace(COLOR, '').split('\n');
  if (columns === null) return lines.length;
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns)), 0);
}

type Recommendation = NonNullable<ScalerView['recommendation']>;

interface RecommendationItem extends Recommendation {
  readonly namespace: string;
  readonly name: string;
  /** The command that applies the change; null: there is no change, or the document is a file. */
  readonly applyWith: string | null;
  readonly reproduceWith: string;
}

/** Returns the recommendations of the scalers that were back-tested. */
function recommendationItems(rows: readonly ScalerView[], command: string): readonly RecommendationItem[] {
  return rows.flatMap(({ namespace, name, recommendation }) =>
    recommendation === undefined
      ? []
      : [
          {
            namespace,
            name,
            ...recommendation,
            applyWith: applyCommand({ namespace, name }, recommendation),
            reproduceWith: reproduceCommand({ namespace, name }, recommendation, command),
          },
        ],
  );
}

/** Returns the recommendations of these scalers as text: the largest saving first, scalers without a change last. */
function recommendationLines(rows: readonly ScalerView[], command: string): readonly string[] {
  const items = recommendationItems(rows, command);
  if (items.length === 0)
    return [
      'no document has been back-tested yet: back-tests run nightly if recommendations.enabled is true in the service config',
    ];
  const sorted = items.toSorted(
    (a, b) => (b.saving?.percent ?? -Infinity) - (a.saving?.percent ?? -Infinity),
  );
  const untested = rows.length - items.length;
  return [
    ...sorted.flatMap(itemLines),
    ...(untested === 0 ? [] : [`${untested} of ${rows.length} scalers have not been back-tested yet`]),
  ].map(cleanText);
}

function itemLines(item: RecommendationItem): readonly string[] {
  const { namespace, name, changes, reason, applyWith, reproduceWith } = item;
  const key = `${namespace}/${name}`;
  if (changes.length === 0) return [`${key}: no change: ${reason}`];
  return [
    `${key}: ${reason}`,
    ...evidenceLines(item).map((line) => `  ${line}`),
    `  apply: ${applyWith ?? `set these fields in the file of ${key}`}`,
    `  reproduce: ${reproduceWith}`,
  ];
}

function applyCommand(named: ScalerName, { patch, isObject }: Recommendation): string | null {
  return patch === null || !isObject ? null : patchCommand(named, patch);
}

function reproduceCommand(
  { namespace, name }: ScalerName,
  { from, to, stepSeconds, isObject }: Recommendation,
  command: string,
): string {
  const options = `--config promscaler.yaml --from ${from} --to ${to} --step ${stepSeconds}s --recommend '${RECOMMEND_CONDITION}'`;
  return isObject
    ? `kubectl get scalers.promscaler.dev ${name} -n ${namespace} -o yaml | ${command} backtest --scaler - ${options}`
    : `${command} backtest --scaler 'FILE#${namespace}/${name}' ${options}`;
}
