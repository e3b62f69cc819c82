import type { Answer } from '../../api/answers.js';
import { overviewRowSchema, overviewSchema } from '../../api/dashboard-schemas.js';
import { readAnswerOrNull } from '../../api/read-answer.js';
import { periodicYield, type Clock } from '../../units/clock.js';
import { SLICE_MS } from '../pacing/paced.js';
import type { Viewer } from '../access/viewer.js';
import { parseJson } from '../../units/json-bounds.js';
import type { OverviewPart } from './overview-rows.js';
import { createHash } from 'node:crypto';

/** How many rows are encoded at once. 100 rows have about 70 KiB. */
const ROWS_AT_ONCE = 100;

/**
 * Encodes a part for another replica: a line with all fields but `rows`, and then a line for each row, so that the
 * other replica can parse it row by row.
 */
export function writePart({ rows, ...head }: OverviewPart, clock: Clock): Promise<Buffer> {
  return encode({ before: `${JSON.stringify(head)}\n`, between: '\n', after: '' }, rows, clock);
}

/** Parses a part of another replica, yielding to other work; null: the part is invalid. */
export async function readPart(body: Buffer, clock: Clock): Promise<OverviewPart | null> {
  const yieldIfDue = periodicYield(clock, SLICE_MS);
  let head: Answer<typeof headSchema> | null = null;
  const rows = new Map<string, string>();
  for (let start = 0; start < body.length;) {
    const found = body.indexOf(LINE_FEED, start);
    const end = found === -1 ? body.length : found;
    const text = body.toString('utf8', start, end);
    const value = parseJson(text);
    if (head === null) {
      head = readAnswerOrNull(headSchema, value);
      if (head === null) return null;
    } else {
      const row = readAnswerOrNull(rowSchema, value);
      if (row === null) return null;
      rows.set(`${row.namespace}/${row.name}`, text);
    }
    start = end + 1;
    await yieldIfDue();
  }
  return head === null ? null : { ...head, rows };
}

/** Returns the part without rows that the viewer may not see, because the other replica may have a defect. */
export function visiblePart(part: OverviewPart, viewer: Viewer): OverviewPart {
  if (viewer.seesAll) return part;
  const isVisible = (key: string): boolean => viewer.sees(key.split('/')[0] ?? '');
  const rows = new Map([...part.rows].filter(([key]) => isVisible(key)));
  return { ...part, rows, removed: part.removed.filter(isVisible) };
}

const LINE_FEED = 0x0a;

const headSchema = overviewSchema.pick({ revision: true, isComplete: true, removed: true });
const rowSchema = overviewRowSchema.pick({ namespace: true, name: true });

/** Encodes the answer for a client. `fields` come before the rows. */
export function writeOverview(
  rows: ReadonlyMap<string, string>,
  fields: Readonly<Record<string, unknown>>,
  clock: Clock,
): Promise<Buffer> {
  const head = JSON.stringify(fields).slice(0, -1);
  return encode({ before: `${head},"rows":[`, between: ',', after: ']}' }, rows, clock);
}

/** Encodes rows, yielding to other work, because encoding a string of 7 MB at once would block the event loop. */
async function encode(
  { before, between, after }: Readonly<Record<'before' | 'between' | 'after', string>>,
  rows: ReadonlyMap<string, string>,
  clock: Clock,
): Promise<Buffer> {
  const yieldIfDue = periodicYield(clock, SLICE_MS);
  const texts = [...rows.values()];
  const pieces = [Buffer.from(before)];
  for (let start = 0; start < texts.length; start += ROWS_AT_ONCE) {
    const text = texts.slice(start, start + ROWS_AT_ONCE).join(between);
    pieces.push(Buffer.from(start === 0 ? text : `${between}${text}`));
    await yieldIfDue();
  }
  return Buffer.concat([...pieces, Buffer.from(after)]);
}

/**
 * Merges the parts of all replicas by name; the first part is from this replica. Null: the parts cannot be merged, and
 * all rows must be read. Parts cannot be merged if only some of them are complete, or if a replica has removed a
 * scaler, which may have moved to another replica.
 */
export function mergeParts(parts: ReadonlyMap<string, OverviewPart>): Omit<OverviewPart, 'revision'> | null {
  const all = [...parts.values()];
  const isComplete = all.every((part) => part.isComplete);
  if (!isComplete && all.some((part) => part.isComplete || (part.removed.length > 0 && all.length > 1)))
    return null;
  const rows = new Map<string, string>();
  for (const part of all) for (const [key, json] of part.rows) if (!rows.has(key)) rows.set(key, json);
  const sorted = all.length === 1 ? rows : new Map([...rows].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { isComplete, rows: sorted, removed: all.flatMap((part) => part.removed) };
}

/** Maps hashes of replica identities to revisions. A client gets the whole map as one token and sends it as `since`. */
export type FleetRevisions = ReadonlyMap<string, string>;

/**
 * Maximum length of the token, because a URL has at most 2,048 characters. If the token would be longer, the client
 * gets none, and gets all rows each time.
 */
const LONGEST_TOKEN = 1800;

export function replicaHash(identity: string): string {
  return createHash('sha256').update(identity).digest('base64url').slice(0, 6);
}

export function writeRevisions(revisions: FleetRevisions): string {
  const token = Buffer.from(JSON.stringify([...revisions].sort())).toString('base64url');
  return token.length <= LONGEST_TOKEN ? token : '';
}

/** Parses a token; null: it is empty, or was not issued by this API. */
export function readRevisions(token: string | null): FleetRevisions | null {
  if (token === null || token === '') return null;
  const entries = parseJson(Buffer.from(token, 'base64url').toString('utf8'));
  return Array.isArray(entries) && entries.every(isEntry) ? new Map(entries) : null;
}

function isEntry(entry: unknown): entry is readonly [string, string] {
  return Array.isArray(entry) && entry.length === 2 && entry.every((part) => typeof part === 'string');
}
