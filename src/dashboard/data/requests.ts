import type {
  DecisionList,
  HistoryAnswer,
  Overview,
  ScalerDetail,
  ScalerEventList,
  ServiceStatus,
  SnapshotAnswer,
} from '../../api/answers.js';
import type { JsonRouteId, ParametersOf } from '../../api/routes.js';

/** A GET request to the API. Requests with the same `path` have the same answer. */
export interface ApiRequest<T> {
  /** Path relative to the page, such as `api/v1/overview?since=1`. */
  readonly path: string;
  /**
   * Returns whether an answer has the structure that the page needs. The page and the service have the same version,
   * but another server, such as a proxy, may answer.
   */
  readonly check: (value: unknown) => value is T;
}

export function overviewRequest(since: string | null, namespace?: string): ApiRequest<Overview> {
  return requestOf(['overview'], { since: since ?? undefined, namespace }, outline(['rows', 'removed']));
}

export function serviceRequest(): ApiRequest<ServiceStatus> {
  return requestOf(
    ['service'],
    {},
    outline(['dataSources', 'problems', 'conflicts', 'replicas', 'lastOutcomes'], ['rounds', 'kubernetes']),
  );
}

export function scalerRequest(namespace: string, name: string): ApiRequest<ScalerDetail> {
  return requestOf(['scalers', namespace, name], {}, outline(['metrics', 'conditions'], ['document']));
}

export function decisionsRequest(
  namespace: string,
  name: string,
  query: QueryOf<'listDecisions'> = {},
): ApiRequest<DecisionList> {
  return requestOf(['scalers', namespace, name, 'decisions'], query, outline(['items']));
}

export function snapshotRequest(
  namespace: string,
  name: string,
  query: QueryOf<'showSnapshot'> = {},
): ApiRequest<SnapshotAnswer> {
  return requestOf(['scalers', namespace, name, 'snapshot'], query, outline(['samples'], ['scaler']));
}

export function historyRequest(
  namespace: string,
  name: string,
  query: QueryOf<'showHistory'> = {},
): ApiRequest<HistoryAnswer> {
  return requestOf(['scalers', namespace, name, 'history'], query, outline(['at', 'metrics']));
}

export function scalerEventsRequest(namespace: string, name: string): ApiRequest<ScalerEventList> {
  return requestOf(['scalers', namespace, name, 'events'], {}, outline(['items']));
}

type QueryOf<Id extends JsonRouteId> = {
  readonly [Name in Exclude<keyof ParametersOf<Id>, 'namespace' | 'name'>]?: string | number | undefined;
};

function requestOf<T>(
  parts: readonly string[],
  query: Readonly<Record<string, string | number | undefined>>,
  check: ApiRequest<T>['check'],
): ApiRequest<T> {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const path = `api/v1/${parts.map(encodeURIComponent).join('/')}`;
  return { path: search.size === 0 ? path : `${path}?${search.toString()}`, check };
}

/** Returns a check that the members `lists` of an answer are lists, and that the members `objects` are objects. */
function outline<T>(
  lists: readonly KeysTo<T, readonly unknown[]>[],
  objects: readonly KeysTo<T, object>[] = [],
): ApiRequest<T>['check'] {
  return (value): value is T =>
    isRecord(value) &&
    lists.every((name) => Array.isArray(value[name])) &&
    objects.every((name) => isRecord(value[name]));
}

type KeysTo<T, Value> = { [Key in keyof T & string]: T[Key] extends Value ? Key : never }[keyof T & string];

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
