import { asObject, objectIn, textIn, type JsonObject } from '../api/json.js';
import { statusObjectError } from '../requests/request-error.js';
import { JsonBoundsError, parseJsonWithin, type JsonBounds } from '../../units/json-bounds.js';
import { KubernetesError } from '../api/types.js';

/** Larger than any object in etcd. */
const LINE_BOUNDS: JsonBounds = { depth: 256, items: 500_000 };

/** `resourceVersion` is empty if the object has none. */
export interface WatchEvent {
  readonly type: 'put' | 'delete' | 'bookmark' | 'unknown';
  readonly object: JsonObject;
  readonly resourceVersion: string;
}

/** An ERROR event: the server ended a running watch. */
export class WatchEventError extends KubernetesError {}

/**
 * Parses a line of a watch. Throws `WatchEventError` for an ERROR event and `KubernetesError` (`bad_answer`) for an
 * invalid line. A new watch from the last version then misses nothing. Source: reliability.md, K8, K9, K19.
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
