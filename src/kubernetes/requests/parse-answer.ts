import { JsonBoundsError, parseJsonWithin } from '../../units/json-bounds.js';
import type { JsonBounds } from '../../units/json-bounds.js';
import { asObject, type JsonObject } from '../api/json.js';
import { KubernetesError } from '../api/types.js';
import type { Lane } from './lanes.js';

/** A pod has 300 items. Larger responses are rejected before parsing, which takes 20 times their size in memory. */
const JSON_BOUNDS: JsonBounds = { depth: 256, items: 200_000 };
const LIST_BOUNDS: JsonBounds = { depth: 256, items: 2_000_000 };

interface AnsweredRequest {
  readonly doing: string;
  readonly method: string;
  readonly lane: Lane;
}

/**
 * Parses the body of a 2xx response. Throws `bad_answer` for partial content, and unless the body is a single object
 * within the bounds.
 */
export function parseAnswer(request: AnsweredRequest, status: number, body: Buffer): JsonObject {
  const fail = (why: string): KubernetesError =>
    new KubernetesError('bad_answer', `${request.doing}: ${status}, but ${why}`);
  if (!isComplete(request, status)) throw fail('the response is not complete');
  let parsed: unknown;
  try {
    parsed = parseJsonWithin(body, request.lane === 'list' ? LIST_BOUNDS : JSON_BOUNDS);
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

/** 203 was changed by a proxy, 201 and 202 answer writes, 206 is partial content. */
function isComplete({ method }: AnsweredRequest, status: number): boolean {
  return status === 200 || status === 203 || (method !== 'GET' && (status === 201 || status === 202));
}
