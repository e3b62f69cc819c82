import { z } from 'zod';
import { ROUTES, type Parameter, type Route, type RouteAnswer } from '../api/routes.js';
import { NAMED_SCHEMAS } from '../api/named-schemas.js';

type Json = Readonly<Record<string, unknown>>;

const documents = new Map<string, Json>();

export function openApiDocument(version: string): Json {
  const made = documents.get(version) ?? createDocument(version);
  documents.set(version, made);
  return made;
}

function createDocument(version: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'promscaler',
      version,
      description:
        'Decisions of a running service and their reasons. The API is read-only: only GET and HEAD are allowed. Times are in the format of RFC 3339, in UTC. A number that is null is unknown, never 0.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [],
    paths: Object.fromEntries(ROUTES.map((route) => [route.path, { get: operation(route) }])),
    components: { schemas: componentSchemas() },
  };
}

const REFUSED: RouteAnswer = {
  description: 'rejected (405, 413, 414, 421, 503) or failed (500)',
  mediaType: 'application/json',
  schema: 'Error',
};

function operation({ id, summary, parameters, answers }: Route): Json {
  return {
    operationId: id,
    summary,
    ...(parameters.length === 0 ? {} : { parameters: parameters.map(parameter) }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, one]) => [status, response(one)])),
      default: response(REFUSED),
    },
  };
}

function parameter(one: Parameter): Json {
  return { ...one, required: one.in === 'path' };
}

function response({ description, mediaType, schema }: RouteAnswer): Json {
  const any = { type: mediaType === 'application/json' ? 'object' : 'string' };
  const content = schema === undefined ? any : { $ref: reference(schema) };
  return { description, content: { [mediaType]: { schema: content } } };
}

function reference(name: string): string {
  return `#/components/schemas/${name}`;
}

function componentSchemas(): Json {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(NAMED_SCHEMAS)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { uri: reference });
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, withoutNoise(schema)]));
}

/** Removes what Zod adds to schemas: `$id` and `$schema`, and the maximum safe integer as the maximum of integers. */
function withoutNoise(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNoise);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      name === '$id' || name === '$schema' || member === Number.MAX_SAFE_INTEGER
        ? []
        : [[name, withoutNoise(member)]],
    ),
  );
}
