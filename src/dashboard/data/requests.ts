import type {
  DecisionList,
  HistoryAnswer,
  Overview,
  ScalerDetail,
  ScalerEventList,
  ServiceStatus,
  SnapshotAnswer,
} from './answers.js';

/** A GET request to the API. Requests with the same `path` have the same answer. */
export interface ApiRequest<T> {
  /** Relative to the page, such as `api/v1/overview?since=1`. */
  readonly path: string;
  /** Returns whether an answer has the outline that the pages need. Another program may answer at this address. */
  readonly check: (value: unknown) => value is T;
}

type Parameters = Readonly<Record<string, string | number | undefined>>;

export function overviewRequest(since: string | null): ApiRequest<Overview> {
  return {
    path: pathOf(['overview'], { since: since ?? undefined }),
    check: (value): value is Overview =>
      isRecord(value) && Array.isArray(value['rows']) && Array.isArray(value['removed']),
  };
}

export function serviceRequest(): ApiRequest<ServiceStatus> {
  return {
    path: pathOf(['service']),
    check: (value): value is ServiceStatus =>
      isRecord(value) &&
      ['dataSources', 'problems', 'conflicts', 'replicas', 'lastOutcomes'].every((key) =>
        Array.isArray(value[key]),
      ) &&
      isRecord(value['rounds']) &&
      isRecord(value['kubernetes']),
  };
}

export function scalerRequest(namespace: string, name: string): ApiRequest<ScalerDetail> {
  return {
    path: pathOf(['scalers', namespace, name]),
    check: (value): value is ScalerDetail =>
      isRecord(value) &&
      Array.isArray(value['metrics']) &&
      Array.isArray(value['conditions']) &&
      isRecord(value['document']),
  };
}

export function decisionsRequest(
  namespace: string,
  name: string,
  parameters: Parameters = {},
): ApiRequest<DecisionList> {
  return {
    path: pathOf(['scalers', namespace, name, 'decisions'], parameters),
    check: (value): value is DecisionList => isRecord(value) && Array.isArray(value['items']),
  };
}

export function snapshotRequest(
  namespace: string,
  name: string,
  parameters: Parameters = {},
): ApiRequest<SnapshotAnswer> {
  return {
    path: pathOf(['scalers', namespace, name, 'snapshot'], parameters),
    check: (value): value is SnapshotAnswer =>
      isRecord(value) && isRecord(value['scaler']) && Array.isArray(value['samples']),
  };
}

export function historyRequest(
  namespace: string,
  name: string,
  parameters: Parameters = {},
): ApiRequest<HistoryAnswer> {
  return {
    path: pathOf(['scalers', namespace, name, 'history'], parameters),
    check: (value): value is HistoryAnswer =>
      isRecord(value) && Array.isArray(value['at']) && Array.isArray(value['metrics']),
  };
}

export function scalerEventsRequest(namespace: string, name: string): ApiRequest<ScalerEventList> {
  return {
    path: pathOf(['scalers', namespace, name, 'events']),
    check: (value): value is ScalerEventList => isRecord(value) && Array.isArray(value['items']),
  };
}

function pathOf(parts: readonly string[], parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) query.set(name, String(value));
  const path = `api/v1/${parts.map(encodeURIComponent).join('/')}`;
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
