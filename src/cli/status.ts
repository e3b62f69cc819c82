import pc from 'picocolors';
import { sleep } from '../units/clock.js';
import type { Instant } from '../units/time.js';
import type { ReachOptions } from './find-service.js';
import type { CommandIo, ExitCode } from './io.js';
import { CommandError } from './io.js';
import { readOutputFormat } from './output-format.js';
import { createServiceClient } from './service-client.js';
import type { ScalerRow, ServiceClient } from './service-client.js';
import { COLUMNS, type StatusRow, statusRow } from './status/status-row.js';

export interface StatusOptions extends ReachOptions {
  /** Only this namespace's scalers. */
  readonly namespace?: string;
  /** Go on, and print the rows that change. */
  readonly watch?: boolean;
  /** `text` or `json`. */
  readonly output: string;
}

const WATCH_PERIOD_MS = 3000;

/** `status`: a row a scaler, sorted by namespace and name. With `watch` also each row that changes, until the signal. */
export async function runStatus(options: StatusOptions, io: CommandIo): Promise<ExitCode> {
  const format = readOutputFormat(options.output, ['text', 'json']);
  const { namespace = null, watch = false } = options;
  const client = await createServiceClient(options, io);
  try {
    const rows = await listSorted(client, namespace);
    if (!watch && format === 'json') {
      io.stdout.write(`${JSON.stringify({ items: rows.map(({ view }) => view) }, null, 2)}\n`);
      return 0;
    }
    if (!watch && rows.length === 0) {
      const place = namespace === null ? '' : ` in namespace ${namespace}`;
      io.stderr.write(`${client.where} has no scaler${place}, or none of their cycles has ended yet\n`);
      return 0;
    }
    const print = format === 'json' ? jsonPrinter(io) : tablePrinter(io);
    print(rows);
    if (watch) await follow({ client, namespace, print }, io);
    return 0;
  } finally {
    client.close();
  }
}

async function listSorted(client: ServiceClient, namespace: string | null): Promise<readonly ScalerRow[]> {
  const rows = await client.listScalers(namespace);
  return [...rows].sort((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Prints of the rows it is given those that are new or not as they were. */
type Printer = (rows: readonly ScalerRow[]) => void;

interface Following {
  readonly client: ServiceClient;
  readonly namespace: string | null;
  readonly print: Printer;
}

/** A service that is away for a while is told once and waited for: whoever watches wants to see it come back. */
async function follow({ client, namespace, print }: Following, io: CommandIo): Promise<void> {
  let lastFailure: string | null = null;
  for (;;) {
    await sleep(io.clock, WATCH_PERIOD_MS, io.signal);
    if (io.signal.aborted) return;
    const failure = await printAgain({ client, namespace, print }, io);
    if (failure !== null && failure !== lastFailure) io.stderr.write(`promscaler: ${failure}\n`);
    lastFailure = failure;
  }
}

/** Why the list could not be read; null where it could, or where nobody waits for it any more. */
async function printAgain({ client, namespace, print }: Following, io: CommandIo): Promise<string | null> {
  try {
    print(await listSorted(client, namespace));
    return null;
  } catch (error) {
    if (io.signal.aborted) return null;
    if (error instanceof CommandError) return error.message;
    throw error;
  }
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
function tablePrinter({ stdout, clock, env }: CommandIo): Printer {
  const isNew = changeFilter();
  const paint = pc.createColors(stdout.isTerminal && env['NO_COLOR'] === undefined);
  let widths: readonly number[] | null = null;
  return (rows) => {
    const now: Instant = clock.now();
    const shown = rows.map((row) => ({ row, cells: statusRow(row.view, now) }));
    const changed = shown.filter(({ row, cells }) => isNew(row, keyOf(cells)));
    if (widths === null) {
      widths = COLUMNS.map(({ title, cell }) =>
        Math.max(title.length, ...shown.map(({ cells }) => cells[cell].length)),
      );
      stdout.write(
        `${writeCells(
          COLUMNS.map(({ title }) => title),
          widths,
        )}\n`,
      );
    }
    for (const { cells } of changed) {
      const texts = COLUMNS.map(({ cell }) => cells[cell]);
      const line = writeCells(texts, widths);
      stdout.write(`${cells.isFailing ? paint.red(line) : cells.isChanging ? paint.yellow(line) : line}\n`);
    }
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

function writeCells(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => cell.padEnd(widths[column] ?? 0))
    .join('   ')
    .trimEnd();
}
