import { asObject } from '../../scaler/plain-json.js';
import { objectIn, textIn, type JsonObject, errorFacts } from '../api/json.js';
import { statusObjectError } from '../requests/request-error.js';
import { JsonBoundsError, parseJsonWithin, type JsonBounds } from '../../units/json-bounds.js';
import { KubernetesError } from '../api/types.js';

/** Limits a line of a watch before it is parsed. No object in etcd is larger. */
const LINE_BOUNDS: JsonBounds = { depth: 256, items: 500_000 };

/** An event of a watch. `resourceVersion` is empty if the object has none. */
export interface WatchEvent {
  readonly type: 'put' | 'delete' | 'bookmark' | 'unknown';
  readonly object: JsonObject;
  readonly resourceVersion: string;
}

/** An ERROR event, by which the server ends a running watch. */
export class WatchEventError extends KubernetesError {}

/**
 * Parses a line of a watch. Throws `WatchEventError` for an ERROR event, and `KubernetesError` (`bad_answer`) for an
 * invalid line. In both cases, a new watch from the last version misses nothing. Source: reliability.md, K8, K9, K19.
 */
export function readWatchEvent(line: string, doing: string): WatchEvent {
  let parsed: unknown;
  try {
    parsed = parseJsonWithin(line, LINE_BOUNDS);
  } catch (error) {
    const why = error instanceof JsonBoundsError ? `has ${error.message}` : 'is not valid JSON';
    throw new KubernetesError('bad_answer', `${doing}: an event ${why}`);
  }
  const event = asObject(parsed);
  const object = objectIn(event, 'object');
  const type = textIn(event, 'type');
  if (type === 'ERROR') {
    const { kind, message, status } = statusObjectError(doing, object);
    throw new WatchEventError(kind, message, status === null ? {} : { status });
  }
  if (object === null || type === null)
    throw new KubernetesError('bad_answer', `${doing}: an event lacks its type or object`);
  const resourceVersion = textIn(objectIn(object, 'metadata'), 'resourceVersion') ?? '';
  return { type: typeOf(type), object, resourceVersion };
}

function typeOf(type: string): WatchEvent['type'] {
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return 'put';
    case 'DELETED':
      return 'delete';
    case 'BOOKMARK':
      return 'bookmark';
    default:
      return 'unknown';
  }
}

/** Limits a line of a watch. An object in etcd has at most 1.5 MiB. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;

const NEWLINE = 0x0a;

export class LineTooLongError extends Error {
  override name = 'LineTooLongError';

  constructor() {
    super(`an event is longer than ${MAX_LINE_BYTES} bytes`);
  }
}

/**
 * Yields the lines of a byte stream, without blank lines and without an incomplete last line. Only complete lines are
 * decoded, because a chunk may end within a character. node:readline is not used: an abort after its loop emits an
 * error event that cannot be caught. Throws `LineTooLongError`.
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      pieces.push(chunk.subarray(start, end));
      if (length + end - start > MAX_LINE_BYTES) throw new LineTooLongError();
      const line = Buffer.concat(pieces).toString('utf8').trim();
      pieces = [];
      length = 0;
      start = end + 1;
      if (line !== '') yield line;
    }
    pieces.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > MAX_LINE_BYTES) throw new LineTooLongError();
  }
}

export function streamError(doing: string, cause: unknown): KubernetesError {
  const kind = cause instanceof LineTooLongError ? 'bad_answer' : 'connection';
  return new KubernetesError(kind, `${doing}: ${errorFacts(cause).message}`, { cause });
}
