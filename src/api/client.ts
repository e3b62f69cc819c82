import { NAMED_SCHEMAS } from './named-schemas.js';
import { readAnswer } from './read-answer.js';
import { ROUTES } from './routes.js';
import type { AnswerOfRoute, JsonRouteId, ParametersOf } from './routes.js';

/** Sends a GET request to the service and returns the JSON of a 200 answer. Throws for any other status. */
export type Get = (path: string, query: Readonly<Record<string, string>>) => Promise<unknown>;

/**
 * Reads a page of the API. Throws the errors of `Get`, and `AnswerError` if the answer is not what the API defines;
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
