import * as z from 'zod';
import type { Answer } from './answers.js';
import { NAMED_SCHEMAS } from './named-schemas.js';
import { ROUTES, type AnswerOfRoute, type JsonRouteId, type ParametersOf } from './routes.js';

/**
 * Thrown for an answer that does not match its schema. Another program, or another version of promscaler, has sent it.
 */
export class AnswerError extends Error {
  override name = 'AnswerError';
  /** The path of the page, such as `/api/v1/scalers`. */
  readonly page: string;
  /** The member `version` of the answer; null: the answer has none. */
  readonly version: string | null;

  constructor(page: string, message: string, version: string | null) {
    super(message);
    this.page = page;
    this.version = version;
  }
}

/**
 * Checks and returns the JSON of a page, which may be from another version of promscaler. Keeps unknown members and
 * unknown strings of an enum. Sets a missing member to null if it may be null, and to an empty list if it is a list.
 * Throws `AnswerError` if a member that all versions have is missing, or if a member has another type.
 */
export function readAnswer<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  page: string,
): Answer<Schema> {
  try {
    return complete(schema, value, '') as Answer<Schema>;
  } catch (error) {
    if (!(error instanceof Unexpected)) throw error;
    const version = isObject(value) ? value['version'] : undefined;
    throw new AnswerError(page, error.message, typeof version === 'string' ? version : null);
  }
}

/** Like `readAnswer`, but returns null instead of throwing `AnswerError`. */
export function readAnswerOrNull<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): Answer<Schema> | null {
  try {
    return readAnswer(schema, value, '');
  } catch (error) {
    if (error instanceof AnswerError) return null;
    throw error;
  }
}

class Unexpected extends Error {}

/**
 * Checks a value and adds its missing members, as `readAnswer` describes. `path` is its position in the answer, such as
 * `items[0].target`; empty: the whole answer.
 */
function complete(schema: z.core.$ZodType, value: unknown, path: string): unknown {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'optional':
      return value === undefined ? undefined : complete(def.innerType, value, path);
    case 'nullable':
      return value === undefined || value === null ? null : complete(def.innerType, value, path);
    case 'array':
      if (value === undefined) return [];
      if (!Array.isArray(value)) throw unexpected('array', value, path);
      return value.map((item, index) => complete(def.element, item, `${path}[${index}]`));
    case 'object':
      if (!isObject(value)) throw unexpected('object', value, path);
      return completeMembers(def.shape, value, path);
    case 'record':
      if (!isObject(value)) throw unexpected('object', value, path);
      return Object.fromEntries(
        Object.entries(value).map(([name, member]) => [
          name,
          complete(def.valueType, member, `${path}.${name}`),
        ]),
      );
    case 'enum':
      if (typeof value !== 'string') throw unexpected('string', value, path);
      return value;
    case 'union':
      // Unions are not checked: only the samples of a snapshot are unions, and `parseSnapshot` checks those.
      return value;
    default: {
      const { error } = z.safeParse(schema, value);
      if (error === undefined) return value;
      throw new Unexpected(
        `${path}: ${error.issues[0]?.message.replace('Invalid input: ', '') ?? 'invalid'}`,
      );
    }
  }
}

function completeMembers(shape: z.core.$ZodShape, value: JsonObject, path: string): JsonObject {
  const members = { ...value };
  for (const [name, schema] of Object.entries(shape)) {
    const found = Object.hasOwn(value, name) ? value[name] : undefined;
    const member = complete(schema, found, path === '' ? name : `${path}.${name}`);
    if (member !== undefined) members[name] = member;
  }
  return members;
}

function unexpected(wanted: string, value: unknown, path: string): Unexpected {
  const found = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return new Unexpected(`${path === '' ? 'the answer' : path}: expected ${wanted}, received ${found}`);
}

type JsonObject = Record<string, unknown>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sends a GET request to the service and returns the JSON of a 200 response. Throws for any other status. */
export type Get = (path: string, query: Readonly<Record<string, string>>) => Promise<unknown>;

/**
 * Reads a page of the API. Throws what `Get` throws, and `AnswerError` if the answer does not match its schema.
 * `readAnswer` describes what is accepted from other versions.
 */
export type ApiClient = <Id extends JsonRouteId>(
  id: Id,
  parameters: ParametersOf<Id>,
) => Promise<AnswerOfRoute<Id>>;

export function createApiClient(get: Get): ApiClient {
  return async <Id extends JsonRouteId>(id: Id, parameters: ParametersOf<Id>) => {
    const { path, schema } = routeOf(id);
    const rest = new Map(Object.entries<string | undefined>(parameters));
    const page = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = rest.get(name) ?? '';
      rest.delete(name);
      return encodeURIComponent(value);
    });
    const query = Object.fromEntries(
      [...rest].flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    return readAnswer(NAMED_SCHEMAS[schema], await get(page, query), page) as AnswerOfRoute<Id>;
  };
}

function routeOf(id: JsonRouteId): { readonly path: string; readonly schema: keyof typeof NAMED_SCHEMAS } {
  const route = ROUTES.find((one) => one.id === id);
  const schema = route?.answers[200]?.schema;
  if (route === undefined || schema === undefined) throw new RangeError(`page ${id} has no schema`);
  return { path: route.path, schema };
}
