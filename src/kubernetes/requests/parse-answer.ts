import { JsonBoundsError, parseJsonWithin } from '../../units/json-bounds.js';
import type { JsonBounds } from '../../units/json-bounds.js';
import { asObject, type JsonObject } from '../json.js';
import { KubernetesError } from '../types.js';
import type { Lane } from './lanes.js';

/** A pod has 300 items; what would be more than this is never parsed, for it takes 20 times its bytes of memory. */
const JSON_BOUNDS: JsonBounds = { depth: 256, items: 200_000 };
const LIST_BOUNDS: JsonBounds = { depth: 256, items: 2_000_000 };

/** The request that was answered. */
export interface AnsweredRequest {
  readonly doing: string;
  readonly method: string;
  readonly lane: Lane;
}

/** Parses the body of a 2xx answer; throws a `bad_answer` for a part of an answer, and for anything but one bounded object. */
export function parseAnswer(request: AnsweredRequest, status: number, body: Buffer): JsonObject {
  const fail = (why: string): KubernetesError =>
    new KubernetesError('bad_answer', `${request.doing}: ${status}, but ${why}`);
  if (!isWholeAnswer(request, status)) throw fail('that is no whole answer');
  let parsed: unknown;
  try {
    parsed = parseJsonWithin(body, request.lane === 'list' ? LIST_BOUNDS : JSON_BOUNDS);
  } catch (error) {
    throw fail(error instanceof JsonBoundsError ? `it has ${error.message}` : 'the answer is no JSON');
  }
  const object = asObject(parsed);
  if (object === null) throw fail('the answer is no object');
  return object;
}

/** 200, or 203 of a proxy that changed it; what was written may also be 201 or 202. 206 is a part of an answer. */
function isWholeAnswer({ method }: AnsweredRequest, status: number): boolean {
  return status === 200 || status === 203 || (method !== 'GET' && (status === 201 || status === 202));
}
