import { z } from 'zod';
import { outcomeSchema, scalerStateSchema } from './answer-schemas.js';
import { count, time } from './decision-schemas.js';

export const overviewRowSchema = z
  .object({
    namespace: z.string(),
    name: z.string(),
    kind: z.string().describe('Kind of the target.'),
    target: z.string().describe('Name of the target.'),
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
      .describe('The metric with the largest proposal; null: none has one.'),
    group: z
      .string()
      .optional()
      .describe(
        'Value of the label `groupLabel` of the document; unset: it has none, or there is no such label.',
      ),
    metrics: count.describe('Number of metrics of the document.'),
    changedAt: time.nullable().describe('Last change of the replicas.'),
    replicas: z
      .array(count.nullable())
      .describe('Replicas during the last two hours, one value for every five minutes, oldest first.'),
  })
  .describe('What a table of many scalers shows of one.');

export const overviewSchema = z
  .object({
    version: z.string(),
    at: time,
    leader: z.boolean(),
    unreachable: z.array(z.string()).optional(),
    revision: z.string().describe('Parameter `since` of the next request.'),
    isComplete: z.boolean().describe('false: `rows` has only the rows that changed since `since`.'),
    rows: z.array(overviewRowSchema).describe('Ordered by namespace and name.'),
    removed: z.array(z.string()).describe('NAMESPACE/NAME of the scalers removed since `since`.'),
    groupLabel: z.string().optional().describe('server.groupLabel of the service config; unset: none.'),
    problems: count.describe('Number of current problems of documents.'),
  })
  .describe('All scalers in short form.');

export const scalerEventSchema = z
  .object({
    at: time.describe('The last time.'),
    type: z.enum(['Normal', 'Warning']),
    reason: z.string(),
    message: z.string(),
    count: z.int().min(1),
  })
  .describe('A Kubernetes Event that promscaler wrote about the target.');

export const scalerEventListSchema = z.object({
  items: z.array(scalerEventSchema).describe('Newest first, at most 50; they start empty with the process.'),
});

export const serviceStatusSchema = z
  .object({
    version: z.string(),
    at: time,
    startedAt: time,
    identity: z.string().describe('Name of this replica.'),
    leader: z.string().nullable().describe('Name of the replica that decides; null: unknown or none.'),
    replicas: z
      .array(z.object({ identity: z.string(), scalers: count.nullable(), isReachable: z.boolean() }))
      .describe('With sharding, the replicas that divide the scalers; otherwise only this one.'),
    dataSources: z.array(
      z.object({
        name: z.string(),
        urls: z.array(z.string()).describe('Without credentials; empty without access to all namespaces.'),
        isReachable: z.boolean().nullable().describe('null: not asked yet.'),
        failingSince: time
          .nullable()
          .describe('Since then, no query was answered; null: it answers, or is unknown.'),
        lastError: z.object({ at: time, message: z.string() }).nullable(),
        queries: count.describe('Since the start of the process.'),
        errors: count,
        latencySeconds: z.number().nullable().describe('Mean of the last round.'),
        holdUntil: time.nullable().describe('Scale-downs are held until then after an outage.'),
        dependents: count
          .optional()
          .describe(
            'Scalers that query only this source and have no fallback: without it, they keep their replicas.',
          ),
      }),
    ),
    kubernetes: z.object({
      isReachable: z.boolean().nullable(),
      failingSince: time.nullable().describe('As of a data source, for requests.'),
      requests: count,
      errors: count,
      lastError: z.object({ at: time, message: z.string() }).nullable(),
    }),
    rounds: z.object({
      periodSeconds: z.number(),
      last: z
        .object({ at: time, seconds: z.number(), latenessSeconds: z.number(), scalers: count.nullable() })
        .nullable(),
      missed: count.describe('Rounds skipped since the start of the process.'),
    }),
    problems: z.array(
      z.object({
        severity: z.enum(['error', 'warning']),
        code: z.string(),
        message: z.string(),
        file: z.string().nullable(),
        line: z.int().min(1).nullable(),
        excerpt: z.string().nullable().describe('The lines of the document, with a caret; several lines.'),
      }),
    ),
    conflicts: z.array(z.object({ namespace: z.string(), name: z.string(), message: z.string() })),
    lastOutcomes: z
      .array(z.object({ namespace: z.string(), name: z.string(), at: time, outcome: outcomeSchema }))
      .describe('The last changes of replicas of all scalers, newest first, at most 20.'),
  })
  .describe('The state of the service.');
