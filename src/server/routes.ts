import type { SchemaName } from './schema-names.js';

/** What the pages take and give: the app serves these, the OpenAPI document describes them. */
export type RouteId =
  | 'healthz'
  | 'readyz'
  | 'metrics'
  | 'listScalers'
  | 'showScaler'
  | 'listDecisions'
  | 'showSnapshot'
  | 'showHistory'
  | 'streamEvents'
  | 'openapi';

export interface Route {
  readonly id: RouteId;
  /** As OpenAPI writes it: `/api/v1/scalers/{namespace}/{name}`. */
  readonly path: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  /** By status. Whatever else is answered (405, 413, 414, 421, 500) is an Error. */
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
  /** Left out: any text, or any object. */
  readonly schema?: SchemaName;
}

/** What `limit` and `step` may be, and what holds where they are left out. */
export const LIMITS = {
  scalers: { standard: 500, least: 1, most: 500 },
  decisions: { standard: 20, least: 1, most: 100 },
  points: { standard: 1000, least: 1, most: 1000 },
  step: { standard: null, least: 1, most: 86_400 },
} as const;

const OF_SCALER: readonly Parameter[] = [
  { name: 'namespace', in: 'path', description: 'of the scaler', schema: { type: 'string' } },
  { name: 'name', in: 'path', description: 'of the scaler', schema: { type: 'string' } },
];

const CONTINUE: Parameter = {
  name: 'continue',
  in: 'query',
  description: 'what the page before gave as `continue`',
  schema: { type: 'string' },
};

const BAD_REQUEST: RouteAnswer = {
  description: 'a parameter is wrong; the sentence says which',
  mediaType: 'application/json',
  schema: 'Error',
};

const NOT_FOUND: RouteAnswer = {
  description: 'there is no such scaler, or nothing is kept of it',
  mediaType: 'application/json',
  schema: 'Error',
};

export const ROUTES: readonly Route[] = [
  {
    id: 'healthz',
    path: '/healthz',
    summary: 'Whether the process does its work',
    parameters: [],
    answers: probeAnswers('alive'),
  },
  {
    id: 'readyz',
    path: '/readyz',
    summary: 'Whether what it needs has been read once',
    parameters: [],
    answers: probeAnswers('ready'),
  },
  {
    id: 'metrics',
    path: '/metrics',
    summary: 'Metrics in the text format of Prometheus',
    parameters: [],
    answers: { 200: { description: 'the exposition', mediaType: 'text/plain' } },
  },
  {
    id: 'listScalers',
    path: '/api/v1/scalers',
    summary: 'All scalers, by namespace and name',
    parameters: [
      query('namespace', 'only the scalers of this one', { type: 'string' }),
      query('limit', 'rows; an answer above 1 MiB ends sooner', integer(LIMITS.scalers)),
      CONTINUE,
    ],
    answers: { 200: json('a page of them', 'ScalerList'), 400: BAD_REQUEST },
  },
  {
    id: 'showScaler',
    path: '/api/v1/scalers/{namespace}/{name}',
    summary: 'One scaler, with its document and its last decision',
    parameters: OF_SCALER,
    answers: { 200: json('the scaler', 'ScalerDetail'), 404: NOT_FOUND },
  },
  {
    id: 'listDecisions',
    path: '/api/v1/scalers/{namespace}/{name}/decisions',
    summary: 'The last decisions, the newest first; cycles in a row that came to the same are one row',
    parameters: [
      ...OF_SCALER,
      query('limit', 'rows; an answer above 1 MiB ends sooner', integer(LIMITS.decisions)),
      query('changes', 'only decisions that wanted another count', { type: 'boolean', default: false }),
      query('at', 'begin with the one in force at this time', { type: 'string', format: 'date-time' }),
      CONTINUE,
    ],
    answers: { 200: json('a page of them', 'DecisionList'), 400: BAD_REQUEST, 404: NOT_FOUND },
  },
  {
    id: 'showSnapshot',
    path: '/api/v1/scalers/{namespace}/{name}/snapshot',
    summary: 'What the last decision was taken on, for `promscaler decide`',
    parameters: [
      ...OF_SCALER,
      query('at', 'of the decision in force at this time; of cycles that came to the same, the last', {
        type: 'string',
        format: 'date-time',
      }),
    ],
    answers: { 200: json('the snapshot', 'Snapshot'), 400: BAD_REQUEST, 404: NOT_FOUND },
  },
  {
    id: 'showHistory',
    path: '/api/v1/scalers/{namespace}/{name}/history',
    summary: 'Replicas and metrics over the last hours, for charts',
    parameters: [
      ...OF_SCALER,
      query('since', 'points at or behind this time', { type: 'string', format: 'date-time' }),
      query('limit', 'the newest so many points', integer(LIMITS.points)),
      query('step', 'seconds: one point for each step, counts as they were last, the mean of values', {
        type: 'integer',
        minimum: LIMITS.step.least,
        maximum: LIMITS.step.most,
      }),
    ],
    answers: { 200: json('the columns', 'History'), 400: BAD_REQUEST, 404: NOT_FOUND },
  },
  {
    id: 'streamEvents',
    path: '/api/v1/events',
    summary: 'Server-sent events: a decision that changed something, a failure, a reload',
    parameters: [
      {
        name: 'Last-Event-ID',
        in: 'header',
        description: 'the id of the last event seen: what came since is sent first',
        schema: { type: 'string' },
      },
    ],
    answers: {
      200: {
        description:
          'Events `decision`, `failure`, `reload`, `gap`, whose data are DecisionEvent, FailureEvent, ReloadEvent, GapEvent; a comment every 15 s. A client that does not read is dropped.',
        mediaType: 'text/event-stream',
      },
      503: json('there are as many streams as there may be', 'Error'),
    },
  },
  {
    id: 'openapi',
    path: '/api/v1/openapi.json',
    summary: 'This document',
    parameters: [],
    answers: { 200: { description: 'OpenAPI 3.1', mediaType: 'application/json' } },
  },
];

function probeAnswers(state: string): Route['answers'] {
  return {
    200: { description: `${state}: \`ok\``, mediaType: 'text/plain' },
    503: { description: 'what is wrong, a line each', mediaType: 'text/plain' },
  };
}

function json(description: string, schema: SchemaName): RouteAnswer {
  return { description, mediaType: 'application/json', schema };
}

function query(name: string, description: string, schema: Parameter['schema']): Parameter {
  return { name, in: 'query', description, schema };
}

function integer(bounds: {
  readonly standard: number;
  readonly least: number;
  readonly most: number;
}): Parameter['schema'] {
  return { type: 'integer', minimum: bounds.least, maximum: bounds.most, default: bounds.standard };
}
