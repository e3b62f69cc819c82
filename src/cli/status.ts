import { countIn, textIn } from '../kubernetes/json.js';
import { printable } from '../scaler/problems/format-problem.js';
import { sleep } from '../units/clock.js';
import { formatInstant } from '../units/time.js';
import type { Instant } from '../units/time.js';
import type { ReachOptions } from './reach/find-service.js';
import type { CommandIo, ExitCode } from './io.js';
import { CommandError } from './io.js';
import { readOutputFormat, writeStructured } from './output-format.js';
import { paintOf } from './paint.js';
import { createServiceClient } from './reach/service-client.js';
import type { ScalerList, ScalerRow, ServiceClient } from './reach/service-client.js';
import { drawScreen, type ScreenSize } from './status/screen.js';
import { type StatusRow, statusRow } from './status/status-row.js';
import {
  columnWidths,
  narrowColumns,
  type TableStyle,
  WIDE_COLUMNS,
  writeRow,
  writeTable,
  writeTitles,
} from './status/status-table.js';
import { VERSION } from './version.js';

export interface StatusOptions extends ReachOptions {
  /** Only this namespace's scalers. */
  readonly namespace?: string;
  /** Go on: on a terminal the whole table anew, else the rows that change. */
  readonly watch?: boolean;
  /** All namespaces, which is the default; wins over `namespace`, as with kubectl. */
  readonly allNamespaces?: boolean;
  /** `text`, `wide`, `json`, `yaml` or `name`. */
  readonly output: string;
}

const WATCH_PERIOD_MS = 3000;

/** `status`: a row a scaler, sorted by namespace and name. With `watch` again and again, until the signal. */
export async function runStatus(options: StatusOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, ['text', 'wide', 'json', 'yaml', 'name']);
  const { watch = false } = options;
  const namespace = options.allNamespaces === true ? null : (options.namespace ?? null);
  const client = await createServiceClient(options, io);
  try {
    const list = await listSorted(client, namespace);
    if (!watch && (format === 'json' || format === 'yaml')) {
      const { leader, version, problems, rows } = list;
      io.stdout.write(
        writeStructured(format, { version, leader, problems, items: rows.map(({ view }) => view) }),
      );
      return 0;
    }
    const isTable = format === 'text' || format === 'wide';
    const style = tableStyle({ isWide: format === 'wide', namespace }, io);
    // A dumb terminal cannot go back to its first line.
    const isScreen = watch && isTable && io.stdout.isTerminal && io.env['TERM'] !== 'dumb';
    if (!isScreen) for (const remark of listRemarks(client.where, list)) tellRemark(io, remark);
    if (!watch && list.rows.length === 0) {
      const place = namespace === null ? '' : ` in namespace ${namespace}`;
      tellRemark(io, `${client.where} has no scaler${place}, or none of their cycles has ended yet`);
      return 0;
    }
    if (isScreen) await followOnScreen(list, { client, namespace, isWide: format === 'wide' }, io);
    else {
      const print = isTable ? tablePrinter(style, io) : recordPrinter(format, io);
      print(list.rows);
      if (watch) await follow({ client, namespace, print }, io);
    }
    return 0;
  } finally {
    client.close();
  }
}

async function listSorted(client: ServiceClient, namespace: string | null): Promise<ScalerList> {
  const { rows, ...rest } = await client.listScalers(namespace);
  const sorted = [...rows].sort((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name));
  return { ...rest, rows: sorted };
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** What one should know of who answered. */
function listRemarks(where: string, { rows, leader, version, problems }: ScalerList): readonly string[] {
  const leading =
    rows.length === 0
      ? 'this replica does not lead and knows of no scaler: another one decides'
      : 'this replica does not lead: another one decides, and these rows are what this one last knew';
  const age =
    version === null
      ? `${where} is older than this command (${VERSION}): what it does not tell is unknown`
      : `${where} is of version ${version}, this command of ${VERSION}`;
  return [
    ...(leader === false ? [leading] : []),
    ...(version === VERSION ? [] : [age]),
    ...refusals(problems),
  ];
}

const MOST_REFUSALS = 5;

/** The documents that are refused: no row tells of them, or only of their last good version. */
function refusals(problems: ScalerList['problems']): readonly string[] {
  const errors = problems.filter((problem) => textIn(problem, 'severity') === 'error');
  const lines = errors.slice(0, MOST_REFUSALS).map((problem) => {
    const line = countIn(problem, 'line');
    const where = `${textIn(problem, 'file') ?? 'a document'}${line === null ? '' : `:${line}`}`;
    return printable(`a document is refused: ${where}: ${textIn(problem, 'message') ?? ''}`);
  });
  const more = errors.length - lines.length;
  return more > 0 ? [...lines, `and ${more} more problems of documents: status -o json`] : lines;
}

function tellRemark({ stderr }: CommandIo, remark: string): void {
  stderr.write(`promscaler: ${remark}\n`);
}

interface Watched {
  readonly client: ServiceClient;
  readonly namespace: string | null;
}

/** Prints of the rows it is given those that are new or not as they were. */
type Printer = (rows: readonly ScalerRow[]) => void;

interface OnScreen extends Watched {
  readonly isWide: boolean;
}

interface Following extends Watched {
  readonly print: Printer;
}

/** A service that is away for a while is told once and waited for: whoever watches wants to see it come back. */
async function follow({ client, namespace, print }: Following, io: CommandIo): Promise<void> {
  let lastFailure: string | null = null;
  for (;;) {
    await sleep(io.clock, WATCH_PERIOD_MS, io.signal);
    if (io.signal.aborted) return;
    const next = await listAgain({ client, namespace }, io);
    if (next === null) return;
    if ('rows' in next) print(next.rows);
    const failure = 'failure' in next ? next.failure : null;
    if (failure !== null && failure !== lastFailure) tellRemark(io, failure);
    lastFailure = failure;
  }
}

/** The whole table anew in the place of the last one; while the service is away, the last table and why. */
async function followOnScreen(first: ScalerList, watched: OnScreen, io: CommandIo): Promise<void> {
  let list = first;
  let remarks = listRemarks(watched.client.where, list);
  for (;;) {
    const now = io.clock.now();
    const table = writeTable(
      list.rows.map(({ view }) => statusRow(view, now)),
      // Read again each time: a terminal changes its size.
      tableStyle(watched, io),
    );
    const head = `${watched.client.where}, ${formatInstant(now)}, every ${WATCH_PERIOD_MS / 1000} s; Ctrl-C ends it`;
    io.stdout.write(drawScreen([head, ...remarks, '', ...table], sizeOf(io)));
    await sleep(io.clock, WATCH_PERIOD_MS, io.signal);
    if (io.signal.aborted) return;
    const next = await listAgain(watched, io);
    if (next === null) return;
    if ('rows' in next) list = next;
    remarks = 'failure' in next ? [next.failure] : listRemarks(watched.client.where, next);
  }
}

/** The list, or why it could not be read; null where nobody waits for it any more. */
async function listAgain(
  { client, namespace }: Watched,
  io: CommandIo,
): Promise<ScalerList | { readonly failure: string } | null> {
  try {
    return await listSorted(client, namespace);
  } catch (error) {
    if (io.signal.aborted) return null;
    if (error instanceof CommandError) return { failure: error.message };
    throw error;
  }
}

const USUAL_COLUMNS = 80;

/** A wide table is never cut; any other fits the terminal, or 80 characters where that is not one or does not say. */
function tableStyle(
  { isWide, namespace }: { readonly isWide: boolean; readonly namespace: string | null },
  io: CommandIo,
): TableStyle {
  const columns = isWide ? WIDE_COLUMNS : narrowColumns(namespace !== null);
  return { columns, limit: isWide ? null : (sizeOf(io).columns ?? USUAL_COLUMNS), paint: paintOf(io) };
}

/** What the terminal says of itself; some say 0 for what they do not know. */
function sizeOf({ stdout }: CommandIo): ScreenSize {
  const [rows = 0, columns = 0] = [stdout.rows?.(), stdout.columns?.()];
  return { rows: rows > 0 ? rows : null, columns: columns > 0 ? columns : null };
}

/** What is printed of one scaler that changed. */
const RECORDS: Readonly<Record<'json' | 'yaml' | 'name', (row: ScalerRow) => string>> = {
  json: ({ view }) => `${JSON.stringify(view)}\n`,
  yaml: ({ view }) => `---\n${writeStructured('yaml', view)}`,
  name: ({ namespace, name }) => `${namespace}/${name}\n`,
};

/** A compact line, a YAML document or the name of each scaler that changed; `at` alone is no change. */
function recordPrinter(format: 'json' | 'yaml' | 'name', { stdout }: CommandIo): Printer {
  const isNew = changeFilter();
  return (rows) => {
    for (const row of rows) {
      if (isNew(row, JSON.stringify({ ...row.view, at: null }))) stdout.write(RECORDS[format](row));
    }
  };
}

/** The widths are those of the first table, so that later rows stand below it. */
function tablePrinter(style: TableStyle, io: CommandIo): Printer {
  const isNew = changeFilter();
  let widths: readonly number[] | null = null;
  return (rows) => {
    const now: Instant = io.clock.now();
    const shown = rows.map((row) => ({ row, cells: statusRow(row.view, now) }));
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

/** What runs with the clock is left out: a row is not new because a second has passed. */
function keyOf(cells: StatusRow): string {
  return JSON.stringify({ ...cells, held: null, lastChange: null });
}

function changeFilter(): (row: ScalerRow, content: string) => boolean {
  const known = new Map<string, string>();
  return ({ namespace, name }, content) => {
    const key = `${namespace}/${name}`;
    const isNew = known.get(key) !== content;
    known.set(key, content);
    return isNew;
  };
}
