import { JsonBoundsError, parseJsonWithin } from '../../units/json-bounds.js';
import type { JsonBounds } from '../../units/json-bounds.js';
import { asObject, type JsonObject } from '../api/json.js';
import { KubernetesError } from '../api/types.js';
import type { Lane } from './lanes.js';
import { pruneJson, type JsonFields } from './prune-json.js';

/** A pod has 300 items. Larger responses are rejected before parsing, which takes 20 times their size in memory. */
const JSON_BOUNDS: JsonBounds = { depth: 256, items: 200_000 };
const LIST_BOUNDS: JsonBounds = { depth: 256, items: 2_000_000 };

interface AnsweredRequest {
  readonly doing: string;
  readonly method: string;
  readonly lane: Lane;
  readonly fields?: JsonFields;
  readonly onBody?: ((body: Buffer) => void) | undefined;
}

/**
 * Parses the body of a 2xx response. Throws `bad_answer` for partial content, and unless the body is a single object
 * within the bounds. With `fields`, only these are returned.
 */
export function parseAnswer(request: AnsweredRequest, status: number, body: Buffer): JsonObject {
  const fail = (why: string): KubernetesError =>
    new KubernetesError('bad_answer', `${request.doing}: ${status}, but ${why}`);
  if (!isComplete(request, status)) throw fail('the response is not complete');
  request.onBody?.(body);
  let parsed: unknown;
  try {
    const bounds = request.lane === 'list' ? LIST_BOUNDS : JSON_BOUNDS;
    const { fields } = request;
    parsed = fields === undefined ? parseJsonWithin(body, bounds) : parseFields(body, fields, bounds);
  } catch (error) {
    throw fail(
      error instanceof JsonBoundsError
        ? `the response has ${error.message}`
        : 'the response is not valid JSON',
    );
  }
  const object = asObject(parsed);
  if (object === null) throw fail('the response is not an object');
  return object;
}

/** Throws as `parseJsonWithin`. */
function parseFields(body: Buffer, fields: JsonFields, bounds: JsonBounds): unknown {
  const pruned = pruneJson(body, fields, bounds);
  if (pruned === null) throw new SyntaxError('the JSON ends early');
  if ('excess' in pruned) throw new JsonBoundsError(pruned.excess);
  return JSON.parse(pruned.text);
}

/** 203 was changed by a proxy, 201 and 202 answer writes, 206 is partial content. */
function isComplete({ method }: AnsweredRequest, status: number): boolean {
  return status === 200 || status === 203 || (method !== 'GET' && (status === 201 || status === 202));
}
