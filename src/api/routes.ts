import type { AnswerOf } from './answers.js';
import type { SchemaName } from './named-schemas.js';

export interface Route {
  readonly id: string;
  /** The path as in OpenAPI, such as `/api/v1/scalers/{namespace}/{name}`. */
  readonly path: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  /** The answer for each status. Answers with other statuses (405, 413, 414, 421, 500) have the schema `Error`. */
  readonly answers: Readonly<Record<number, RouteAnswer>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface RouteAnswer {
  readonly description: string;
  readonly mediaType: 'application/json' | 'text/plain' | 'text/event-stream';
  /** The schema of the answer. Unset: the answer may be any string or object. */
  readonly schema?: SchemaName;
}

export const LIMITS = {
  scalers: { standard: 500, least: 1, most: 500 },
  decisions: { standard: 20, least: 1, most: 100 },
  points: { standard: 1000, least: 1, most: 1000 },
  step: { standard: null, least: 1, most: 86_400 },
} as const;

const OF_SCALER = [
  { name: 'namespace', in: 'path', description: 'namespace of the scaler', schema: { type: 'string' } },
  { name: 'name', in: 'path', description: 'name of the scaler', schema: { type: 'string' } },
] as const satisfies readonly Parameter[];

const CONTINUE = query('continue', 'value of `continue` in the previous page', { type: 'string' });

const BAD_REQUEST: RouteAnswer = {
  description: 'a parameter is invalid; the message names the parameter',
  mediaType: 'application/json',
  schema: 'Error',
};

const NOT_FOUND: RouteAnswer = {
  description: 'the scaler does not exist, or no data of the scaler is retained',
  mediaType: 'application/json',
  schema: 'Error',
};

const TABLE = [
  {
    id: 'healthz',
    path: '/healthz',
    summary: 'Liveness of the process',
    parameters: [],
    answers: probeAnswers('alive'),
  },
  {
    id: 'readyz',
    path: '/readyz',
    summary: 'Readiness: documents are loaded, pods and targets are listed',
    parameters: [],
    answers: probeAnswers('ready'),
  },
  {
    id: 'metrics',
    path: '/metrics',
    summary: 'Metrics in the Prometheus text format',
    parameters: [],
    answers: { 200: { description: 'metrics', mediaType: 'text/plain' } },
  },
  {
    id: 'listScalers',
    path: '/api/v1/scalers',
    summary: 'All scalers, ordered by namespace and name',
    parameters: [
      query('namespace', 'return only scalers of this namespace', { type: 'string' }),
      query('limit', 'maximum number of rows; a response has at most about 1 MiB', integer(LIMITS.scalers)),
      CONTINUE,
    ],
    answers: { 200: json('a page of scalers', 'ScalerList'), 400: BAD_REQUEST },
  },
  {
    id: 'showScaler',
    path: '/api/v1/scalers/{namespace}/{name}',
    summary: 'One scaler with its document and its last decision',
    parameters: OF_SCALER,
    answers: { 200: json('the scaler', 'ScalerDetail'), 404: NOT_FOUND },
  },
  {
    id: 'listDecisions',
    path: '/api/v1/scalers/{namespace}/{name}/decisions',
    summary: 'The last decisions, newest first. Consecutive cycles with the same result are one row',
    parameters: [
      ...OF_SCALER,
      query('limit', 'maximum number of rows; a response has at most about 1 MiB', integer(LIMITS.decisions)),
      query('changes', 'return only decisions to change the replica count', {
        type: 'boolean',
        default: false,
      }),
      query('at', 'start with the decision in effect at this time', { type: 'string', format: 'date-time' }),
      CONTINUE,
    ],
    answers: { 200: json('a page of decisions', 'DecisionList'), 400: BAD_REQUEST, 404: NOT_FOUND },
  },
  {
    id: 'showSnapshot',
    path: '/api/v1/scalers/{namespace}/{name}/snapshot',
    summary: 'The input of the last decision, for `promscaler decide`',
    parameters: [
      ...OF_SCALER,
      query(
        'at',
        'return the input of the decision in effect at this time. For consecutive cycles with the same result, this is the input of the last cycle',
        {
          type: 'string',
          format: 'date-time',
        },
      ),
    ],
    answers: { 200: json('the snapshot', 'Snapshot'), 400: BAD_REQUEST, 404: NOT_FOUND },
  },
  {
    id: 'showHistory',
    path: '/api/v1/scalers/{namespace}/{name}/history',
    summary: 'Replicas and metrics for charts: the last hours from memory, or the last days from Prometheus',
    parameters: [
      ...OF_SCALER,
      query('source', '`prometheus`: read the metrics that Prometheus has scraped from this service', {
        type: 'string',
        enum: ['memory', 'prometheus'],
        default: 'memory',
      }),
      query(
        'since',
        'return only points from this time on (default with `source=prometheus`: the last day)',
        {
          type: 'string',
          format: 'date-time',
        },
      ),
      query('limit', 'return the newest N points', integer(LIMITS.points)),
      query(
        'step',
        'step in seconds. Each point has the last replica counts and the mean of each metric within its step',
        {
          type: 'integer',
          minimum: LIMITS.step.least,
          maximum: LIMITS.step.most,
        },
      ),
    ],
    answers: {
      200: json('the columns', 'History'),
      400: BAD_REQUEST,
      404: NOT_FOUND,
      503: json('Prometheus failed, or has no series of this scaler', 'Error'),
    },
  },
  {
    id: 'showForecast',
    path: '/api/v1/scalers/{namespace}/{name}/forecast',
    summary:
      'The load of the last hours, the load that the forecast had expected, and the forecast for the next hour',
    parameters: [
      ...OF_SCALER,
      query('since', 'return only points from this time on', { type: 'string', format: 'date-time' }),
    ],
    answers: { 200: json('the columns', 'ForecastLoads'), 400: BAD_REQUEST, 404: NOT_FOUND },
  },
  {
    id: 'listEvents',
    path: '/api/v1/scalers/{namespace}/{name}/events',
    summary: 'Kubernetes Events that this process has written about the target, newest first',
    parameters: OF_SCALER,
    answers: { 200: json('the Events', 'ScalerEventList'), 404: NOT_FOUND },
  },
  {
    id: 'showOverview',
    path: '/api/v1/overview',
    summary: 'All scalers in short form, or only the scalers that changed after an earlier answer',
    parameters: [
      query('namespace', 'return only scalers of this namespace', { type: 'string' }),
      query(
        'since',
        'value of `revision` in an earlier answer: return only the scalers that changed after that answer',
        {
          type: 'string',
        },
      ),
    ],
    answers: { 200: json('the rows', 'Overview'), 400: BAD_REQUEST },
  },
  {
    id: 'showService',
    path: '/api/v1/service',
    summary: 'The state of the service: replicas, data sources, API server, rounds, problems, last changes',
    parameters: [],
    answers: { 200: json('the state', 'ServiceStatus') },
  },
  {
    id: 'streamEvents',
    path: '/api/v1/events',
    summary: 'Server-sent events: changes of replicas, failures, recommendations, reloads',
    parameters: [
      {
        name: 'Last-Event-ID',
        in: 'header',
        description:
          'id of the last event that the client received. The stream starts with the events after this event',
        schema: { type: 'string' },
      },
    ],
    answers: {
      200: {
        description:
          'Events `connected`, `decision`, `failure`, `recommendation`, `reload` and `gap`, with ConnectedEvent, DecisionEvent, FailureEvent, RecommendationEvent, ReloadEvent and GapEvent as data. A comment is sent every 15 s. A client that does not read is disconnected.',
        mediaType: 'text/event-stream',
      },
      503: json('the maximum number of streams is open', 'Error'),
    },
  },
  {
    id: 'openapi',
    path: '/api/v1/openapi.json',
    summary: 'This document',
    parameters: [],
    answers: { 200: { description: 'OpenAPI 3.1', mediaType: 'application/json' } },
  },
] as const satisfies readonly Route[];

export type RouteId = (typeof TABLE)[number]['id'];

export const ROUTES: readonly (Route & { readonly id: RouteId })[] = TABLE;

/** The pages whose answers have a schema. */
export type JsonRouteId = JsonRoute['id'];

export type AnswerOfRoute<Id extends JsonRouteId> = AnswerOf<JsonRouteOf<Id>['answers'][200]['schema']>;

/** The parameters of a page. The parameters of its path are required, the parameters of its query are optional. */
export type ParametersOf<Id extends JsonRouteId> = {
  readonly [Name in NameOf<Id, 'path'>]: string;
} & { readonly [Name in NameOf<Id, 'query'>]?: string | undefined };

type JsonRoute = Extract<
  (typeof TABLE)[number],
  { readonly answers: { readonly 200: { readonly schema: SchemaName } } }
>;
type JsonRouteOf<Id extends JsonRouteId> = Extract<JsonRoute, { readonly id: Id }>;
type NameOf<Id extends JsonRouteId, Place extends Parameter['in']> = Extract<
  JsonRouteOf<Id>['parameters'][number],
  { readonly in: Place }
>['name'];

function probeAnswers(state: string): Route['answers'] {
  return {
    200: { description: `${state}: \`ok\``, mediaType: 'text/plain' },
    503: { description: 'the problems, one per line', mediaType: 'text/plain' },
  };
}

function json<Name extends SchemaName>(
  description: string,
  schema: Name,
): RouteAnswer & { readonly schema: Name } {
  return { description, mediaType: 'application/json', schema };
}

function query<Name extends string>(
  name: Name,
  description: string,
  schema: Parameter['schema'],
): Parameter & { readonly name: Name; readonly in: 'query' } {
  return { name, in: 'query', description, schema };
}

function integer(bounds: {
  readonly standard: number;
  readonly least: number;
  readonly most: number;
}): Parameter['schema'] {
  return { type: 'integer', minimum: bounds.least, maximum: bounds.most, default: bounds.standard };
}
