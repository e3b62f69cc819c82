import { z } from 'zod';
import { outcomeSchema, problemSchema, scalerStateSchema } from './answer-schemas.js';
import { count, metricIdentity, time } from './decision-schemas.js';

export const overviewRowSchema = z
  .object({
    namespace: z.string(),
    name: z.string(),
    kind: z.string().nullable().describe('Kind of the target; null: the document is invalid.'),
    target: z.string().nullable().describe('Name of the target; null: the document is invalid.'),
    current: count.nullable(),
    desired: count.nullable(),
    min: count.nullable(),
    max: count.nullable(),
    state: scalerStateSchema,
    metric: z
      .object({
        name: z.string(),
        unit: z.enum(['percent', 'average', 'total']),
        value: z.number().nullable(),
        target: z.number(),
      })
      .nullable()
      .describe('The metric with the largest proposal; null: no metric has a proposal.'),
    group: z
      .string()
      .optional()
      .describe(
        'Value of the label that `groupLabel` names; absent if `groupLabel` is absent or the document does not have this label.',
      ),
    metrics: count.describe('Number of metrics of the document.'),
    changedAt: time.nullable().describe('Time of the last change of the replicas; null: unknown.'),
    replicas: z
      .array(count.nullable())
      .describe(
        'Replicas during the last two hours, one value for every five minutes, oldest first; empty: the document is invalid.',
      ),
    rejections: z
      .array(problemSchema)
      .optional()
      .describe('Why no version of the document is in effect; absent: a version is in effect.'),
  })
  .describe('A row in the table of all scalers.');

export const overviewSchema = z
  .object({
    version: z.string(),
    at: time,
    leader: z.boolean(),
    unreachable: z.array(z.string()).optional(),
    revision: z.string().describe('Value of the parameter `since` for the next request.'),
    isComplete: z.boolean().describe('false: `rows` contains only the rows that changed after `since`.'),
    rows: z.array(overviewRowSchema).describe('The rows, ordered by namespace and name.'),
    removed: z.array(z.string()).describe('NAMESPACE/NAME of the scalers that were removed after `since`.'),
    groupLabel: z
      .string()
      .optional()
      .describe('server.groupLabel of the service config; absent if it is not configured.'),
    problems: count.describe('Number of current problems of documents.'),
  })
  .describe('All scalers in short form.');

export const scalerEventSchema = z
  .object({
    at: time.describe('Time of the last occurrence.'),
    type: z.enum(['Normal', 'Warning']),
    reason: z.string(),
    message: z.string(),
    count: z.int().min(1),
  })
  .describe('A Kubernetes Event that promscaler wrote about the target.');

export const scalerEventListSchema = z.object({
  items: z
    .array(scalerEventSchema)
    .describe('The Events since the start of the process, newest first, at most 50.'),
});

export const serviceStatusSchema = z
  .object({
    version: z.string(),
    at: time,
    startedAt: time,
    identity: z.string().describe('Name of this replica.'),
    leader: z
      .string()
      .nullable()
      .describe('Name of the replica that is the leader; null: the leader is unknown, or there is none.'),
    replicas: z
      .array(z.object({ identity: z.string(), scalers: count.nullable(), isReachable: z.boolean() }))
      .describe('With sharding: the replicas that divide the scalers; without sharding: only this replica.'),
    dataSources: z.array(
      z.object({
        name: z.string(),
        urls: z
          .array(z.string())
          .describe('URLs without credentials; empty: the client does not have access to all namespaces.'),
        isReachable: z
          .boolean()
          .nullable()
          .describe(
            'Whether the data source answers queries: false while `failingSince` is set; null: no query has been sent yet.',
          ),
        failingSince: time
          .nullable()
          .describe(
            'Time since which no query was answered; null: queries are answered, or this is unknown.',
          ),
        lastError: z.object({ at: time, message: z.string() }).nullable(),
        queries: count.describe('Number of queries since the start of the process.'),
        errors: count,
        latencySeconds: z.number().nullable().describe('Mean duration of the queries of the last round.'),
        holdUntil: time.nullable().describe('Time until which scale-downs are held after an outage.'),
        dependents: count
          .optional()
          .describe(
            'Number of scalers that query only this data source and have no fallback. If the data source fails, these scalers keep their replicas.',
          ),
      }),
    ),
    kubernetes: z.object({
      isReachable: z.boolean().nullable(),
      failingSince: time
        .nullable()
        .describe(
          'Time since which no request was answered; null: requests are answered, or this is unknown.',
        ),
      requests: count,
      errors: count,
      lastError: z.object({ at: time, message: z.string() }).nullable(),
    }),
    rounds: z.object({
      periodSeconds: z.number(),
      last: z
        .object({ at: time, seconds: z.number(), latenessSeconds: z.number(), scalers: count.nullable() })
        .nullable(),
      missed: count.describe('Number of rounds that were skipped since the start of the process.'),
    }),
    problems: z.array(
      z.object({
        severity: z.enum(['error', 'warning']),
        code: z.string(),
        message: z.string(),
        file: z.string().nullable(),
        line: z.int().min(1).nullable(),
        excerpt: z
          .string()
          .nullable()
          .describe('Lines of the document around the problem, with a caret at its column.'),
      }),
    ),
    conflicts: z.array(z.object({ namespace: z.string(), name: z.string(), message: z.string() })),
    lastOutcomes: z
      .array(z.object({ namespace: z.string(), name: z.string(), at: time, outcome: outcomeSchema }))
      .describe('The last changes of replicas by all scalers, newest first, at most 20.'),
  })
  .describe('The state of the service.');

const column = z.array(count.nullable());

export const historySchema = z
  .object({
    namespace: z.string(),
    name: z.string(),
    stepSeconds: z
      .number()
      .nullable()
      .describe('Step of the points; null: all retained points are returned.'),
    keptFrom: time
      .nullable()
      .describe(
        'Time of the oldest retained point, even if it was not requested; null: unknown, or no point is retained.',
      ),
    at: z.array(time).describe('Times of the points, oldest first. All columns have the same length.'),
    currentReplicas: column,
    desiredReplicas: column,
    recommendedReplicas: column,
    minReplicas: column,
    maxReplicas: column,
    readyPods: column.describe('Number of ready pods that are not terminating.'),
    metrics: z.array(
      z.object({
        ...metricIdentity,
        value: z.array(z.number().nullable()),
        target: z.array(z.number().nullable()),
      }),
    ),
  })
  .describe('Columns for charts. A value that is null is unknown at its time, never 0.');

const loads = z.array(z.number().nullable());

export const forecastLoadsSchema = z
  .object({
    namespace: z.string(),
    name: z.string(),
    metric: z.string().describe('The metric whose load is forecast.'),
    at: z
      .array(time)
      .describe(
        'Times of the points, oldest first, up to an hour from now. All columns have the same length.',
      ),
    load: loads.describe('The load of all pods, in base units; null: the load is unknown or in the future.'),
    low: loads.describe('The lowest load at this time on earlier days, scaled to the load of today.'),
    expected: loads.describe(
      'The expected load: the quantile of the loads on earlier days. For past times, this is the forecast that was made early enough to start a pod.',
    ),
    high: loads.describe('The highest load at this time on earlier days, scaled to the load of today.'),
  })
  .describe('Columns for a chart of the load and its forecast.');
