import pc from 'picocolors';
import { countIn, textIn } from '../kubernetes/json.js';
import { printable } from '../scaler/problems/format-problem.js';
import { sleep } from '../units/clock.js';
import { formatInstant } from '../units/time.js';
import type { Instant } from '../units/time.js';
import type { ReachOptions } from './reach/find-service.js';
import type { CommandIo, ExitCode } from './io.js';
import { CommandError } from './io.js';
import { readOutputFormat } from './output-format.js';
import { createServiceClient } from './reach/service-client.js';
import type { ScalerList, ScalerRow, ServiceClient } from './reach/service-client.js';
import { drawScreen } from './status/screen.js';
import { type StatusRow, statusRow } from './status/status-row.js';
import { columnWidths, writeRow, writeTable, writeTitles } from './status/status-table.js';
import { VERSION } from './version.js';

export interface StatusOptions extends ReachOptions {
  /** Only this namespace's scalers. */
  readonly namespace?: string;
  /** Go on: on a terminal the whole table anew, else the rows that change. */
  readonly watch?: boolean;
  /** `text` or `json`. */
  readonly output: string;
}

const WATCH_PERIOD_MS = 3000;

/** `status`: a row a scaler, sorted by namespace and name. With `watch` again and again, until the signal. */
export async function runStatus(options: StatusOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, ['text', 'json']);
  const { namespace = null, watch = false } = options;
  const client = await createServiceClient(options, io);
  try {
    const list = await listSorted(client, namespace);
    if (!watch && format === 'json') {
      const { leader, version, problems, rows } = list;
      io.stdout.write(
        `${JSON.stringify({ version, leader, problems, items: rows.map(({ view }) => view) }, null, 2)}\n`,
      );
      return 0;
    }
    const isScreen = watch && format === 'text' && io.stdout.isTerminal;
    if (!isScreen) for (const remark of listRemarks(client.where, list)) tellRemark(io, remark);
    if (!watch && list.rows.length === 0) {
      const place = namespace === null ? '' : ` in namespace ${namespace}`;
      io.stderr.write(`${client.where} has no scaler${place}, or none of their cycles has ended yet\n`);
      return 0;
    }
    if (isScreen) await followOnScreen(list, { client, namespace }, io);
    else {
      const print = format === 'json' ? jsonPrinter(io) : tablePrinter(io);
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
async function followOnScreen(first: ScalerList, watched: Watched, io: CommandIo): Promise<void> {
  const paint = pc.createColors(hasColors(io));
  let list = first;
  let remarks = listRemarks(watched.client.where, list);
  for (;;) {
    const now = io.clock.now();
    const table = writeTable(
      list.rows.map(({ view }) => statusRow(view, now)),
      paint,
    );
    const head = `${watched.client.where}, ${formatInstant(now)}, every ${WATCH_PERIOD_MS / 1000} s; Ctrl-C ends it`;
    io.stdout.write(drawScreen([head, ...remarks, '', ...table], io.stdout.rows?.() ?? null));
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

function hasColors({ stdout, env }: CommandIo): boolean {
  return stdout.isTerminal && env['NO_COLOR'] === undefined;
}

/** One compact line a scaler that changed; `at` alone is no change. */
function jsonPrinter({ stdout }: CommandIo): Printer {
  const isNew = changeFilter();
  return (rows) => {
    for (const row of rows) {
      if (isNew(row, JSON.stringify({ ...row.view, at: null })))
        stdout.write(`${JSON.stringify(row.view)}\n`);
    }
  };
}

/** The widths are those of the first table, so that later rows stand below it. */
function tablePrinter(io: CommandIo): Printer {
  const isNew = changeFilter();
  const paint = pc.createColors(hasColors(io));
  let widths: readonly number[] | null = null;
  return (rows) => {
    const now: Instant = io.clock.now();
    const shown = rows.map((row) => ({ row, cells: statusRow(row.view, now) }));
    const changed = shown.filter(({ row, cells }) => isNew(row, keyOf(cells))).map(({ cells }) => cells);
    const isFirst = widths === null;
    widths ??= columnWidths(shown.map(({ cells }) => cells));
    const lines = changed.map((cells) => writeRow(cells, widths ?? [], paint));
    const all = isFirst ? [writeTitles(widths), ...lines] : lines;
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
