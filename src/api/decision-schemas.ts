import { z } from 'zod';
import { CONDITION_TYPES } from '../decision/result/condition.js';
import { LIMIT_NAMES } from '../decision/result/limit-names.js';
import type { SampleErrorKind } from '../decision/snapshot/snapshot.js';
import { METRIC_FAILURE_REASONS, SAMPLE_FAILURE_REASONS } from '../units/failure.js';

export const time = z.string().meta({ format: 'date-time' });

export const count = z.int().min(0);

const names = z.array(z.string());

const ERROR_KINDS = ['missing', 'nan', 'invalid', 'failed'] as const satisfies readonly SampleErrorKind[];

export const limitName = z.enum(LIMIT_NAMES);

const conditionFields = {
  type: z.enum(CONDITION_TYPES),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string(),
  message: z.string(),
};

export const conditionSchema = z
  .object(conditionFields)
  .describe('A condition, in the form of the conditions of a HorizontalPodAutoscaler.');

export const timedConditionSchema = z
  .object({ ...conditionFields, lastTransitionTime: time.describe('Time of the last change of the status.') })
  .describe('A condition with the time of the last change of its status.');

export const targetFailureSchema = z
  .object({
    absence: z
      .enum(['missing', 'deleted'])
      .nullable()
      .describe(
        '`missing`: the target does not exist. `deleted`: the target no longer exists, but the scaler has read it before. null: the target may exist.',
      ),
    suggestion: z
      .object({ kind: z.string().nullable(), name: z.string() })
      .nullable()
      .describe(
        'A workload that the document may mean; null: there is none. If `kind` is null, the workload has the kind of the target.',
      ),
    unusableKind: z
      .object({ group: z.string().nullable(), isGroupServed: z.boolean() })
      .nullable()
      .describe(
        'Set if the kind of the target cannot be scaled. `group` null: the kind has no replicas; otherwise, the API group has no such kind. null: the target cannot be read for another reason.',
      ),
  })
  .describe('Why the target cannot be read; absent: it was read.');

const measuredCapacity = z
  .object({
    value: z.number().describe('Load that a pod carries, above 0.'),
    low: z.number().describe('Lowest of the daily values.'),
    high: z.number().describe('Highest of the daily values.'),
    days: z
      .int()
      .min(0)
      .describe('Number of days with a value, at most 3; 0: only the last hour has a value.'),
    at: time.describe('When the capacity was read.'),
    drift: z
      .object({
        since: time,
        before: z.number().describe('Load that a pod carried before the change.'),
        oldestPod: time.nullable().describe('When the oldest ready pod started.'),
      })
      .optional()
      .describe(
        'Change of the capacity. Set while a pod carries less than 90 % or more than 110 % of the load that it carried before.',
      ),
  })
  .describe('Capacity of a pod, as measured by capacity.auto.');

const readAsZero = z
  .string()
  .describe('Why the metric has no value, if the document reads this as 0 (onMissing, onNaN).');

export const metricIdentity = {
  type: z.enum(['Resource', 'ContainerResource', 'Pods', 'Object', 'External']),
  metric: z.string().describe('Name of the metric. For a ContainerResource metric: CONTAINER/NAME.'),
  unit: z
    .enum(['percent', 'average', 'total'])
    .describe(
      'Unit of value and target. percent: percent of the requests; average: base units per pod; total: base units for all pods.',
    ),
};

export const metricSchema = z.object({
  ...metricIdentity,
  value: z.number().nullable(),
  target: z.number(),
  proposal: count.nullable(),
  error: z.string().nullable(),
  errorReason: z
    .enum(METRIC_FAILURE_REASONS)
    .optional()
    .describe('The reason of `error`; absent: there is none.'),
  noAnswer: z
    .object({ host: z.string().nullable(), isDown: z.boolean() })
    .optional()
    .describe(
      'The server that did not answer the query, also while the fallback applies; absent: the query was answered. `host` null: the server is unknown. `isDown`: the server may be down.',
    ),
  readAsZero: readAsZero.optional(),
  partial: z
    .string()
    .nullable()
    .describe(
      'Why the value is incomplete and can only raise the count; null: the value is complete or unknown.',
    ),
});

export const metricResultSchema = z
  .object({
    name: z.string().describe('Name of the metric. For a ContainerResource metric: CONTAINER/NAME.'),
    proposal: count.nullable().describe('Replica count that this metric proposes.'),
    current: z
      .object({
        averageUtilization: z.number().optional().describe('Usage in percent of the requests.'),
        averageValue: z.number().optional(),
        value: z.number().optional(),
      })
      .describe('Current values of the metric, in base units.'),
    ratio: z.number().nullable().describe('Usage divided by the target.'),
    error: z.string().nullable().describe('Why the metric has no proposal.'),
    partial: z
      .string()
      .nullable()
      .describe('Why the data is incomplete. Incomplete data may scale up but not down.'),
    readAsZero: readAsZero.optional(),
    pods: z.object({ ready: names, unready: names, missing: names, ignored: names }),
    podReasons: z.record(z.string(), z.string()),
    fallback: z
      .object({
        mode: z.enum(['atLeast', 'exact', 'currentReplicasIfHigher']),
        replicas: count,
        since: time.describe('Time since which the metric has had no value.'),
        error: z.string(),
      })
      .optional()
      .describe('The fallback. Set if the metric proposes the replicas of the fallback.'),
    capacity: z
      .number()
      .optional()
      .describe('The measured capacity of a pod. Set if the capacity was used as the target.'),
    measuredCapacity: measuredCapacity.optional(),
    saturation: z
      .object({
        why: z.string(),
        replicas: count
          .nullable()
          .describe(
            'Replicas that the saturation step proposes; null: there is no step, or it changes nothing.',
          ),
      })
      .optional()
      .describe('The saturation step. Set only for a metric with saturation.'),
  })
  .describe('The result of one metric.');

export const limitStepSchema = z
  .object({
    limit: limitName,
    from: count,
    to: count,
    reason: z.string(),
    until: time.nullable().describe('When the limit ends; null: unknown.'),
  })
  .describe('A limit that changed the replica count.');

const decisionFields = {
  currentReplicas: count,
  desiredReplicas: count,
  action: z.enum(['scale-up', 'scale-down', 'none']),
  reason: z.string(),
  recommendedReplicas: count
    .nullable()
    .describe('The largest proposal of the metrics, before any limit is applied.'),
  minReplicas: count,
  maxReplicas: count,
  metrics: z
    .array(metricResultSchema)
    .describe('Results of the metrics in the order of the document; empty: the decision used no metric.'),
  limits: z
    .array(limitStepSchema)
    .describe('Limits that changed the result, in the order in which they were applied.'),
  conditions: z.array(conditionSchema),
  cooldown: z
    .object({ cause: z.string(), until: time.describe('When cooldownSeconds ends.') })
    .optional()
    .describe('Set while cooldownSeconds keeps the last replica.'),
  forecast: z
    .object({
      replicas: count
        .nullable()
        .describe(
          'Replica count that the expected load needs; null: the forecast proposes no count, for the reason in `why`.',
        ),
      why: z.string(),
      isUsed: z.boolean().describe('Whether the forecast may raise the recommendation.'),
      reactive: count.describe('Replica count that the decision would have had without a forecast.'),
      spentPercent: z
        .number()
        .describe(
          'Replicas that the forecast added in 3 days, in percent of the replicas without the forecast.',
        ),
    })
    .optional()
    .describe('The forecast. Set only if the document has a forecast.'),
};

export const pastDecisionSchema = z.object(decisionFields).describe('A decision without its state.');

const recommendation = z.object({ at: time, replicas: count });
const scaleEvent = z.object({ at: time, change: z.int(), earliest: time.optional() });

export const stateSchema = z
  .object({
    lastScaleUp: time.nullable(),
    lastScaleDown: time.nullable(),
    recommendations: z.array(recommendation).optional(),
    downscaleProposals: z
      .array(recommendation)
      .optional()
      .describe('Consecutive decisions that proposed fewer replicas, for downscaleConfirmation.'),
    scaleEvents: z.array(scaleEvent),
    holdScaleDownUntil: time.optional(),
    holdReason: z.string().optional(),
    failingSince: z.record(z.string(), time),
    zeroedBySelf: z.boolean(),
    inactiveSince: time.nullable(),
    maxReplicasFrom: count.optional().describe('The last complete value of maxReplicasFrom.'),
    saturation: z
      .object({
        since: time.nullable(),
        served: z.number().nullable(),
        stepAt: time.optional(),
        stepTo: count.optional(),
      })
      .optional()
      .describe('Time since which usage has been at the limits of the pods, and the last saturation step.'),
    forecast: z
      .object({
        at: time,
        minutes: z.array(z.object({ at: time, sum: z.number(), count })),
        reactive: z.object({
          replicas: count,
          lastScaleUp: time.nullable(),
          lastScaleDown: time.nullable(),
          scaleEvents: z.array(scaleEvent),
        }),
        proposals: z.array(recommendation),
        spent: z.array(
          z.object({
            from: time,
            reactive: z.number(),
            added: z.number(),
            short: z.number(),
            prevented: z.number(),
          }),
        ),
        raises: z.array(z.object({ from: time, until: time, added: z.number(), prevented: z.number() })),
      })
      .optional()
      .describe(
        'Data of the forecast: the load of the last minutes, the replica count without the forecast, the pod-seconds of 3 days, and the last raises.',
      ),
    documentChangedAt: time
      .optional()
      .describe(
        'Time of the last change of the document. Set while a result from before the change is in use.',
      ),
    firstCountAt: time
      .optional()
      .describe(
        'Time of the first decision, if it made no recommendation. Set while the stabilization window contains the replica count of that time.',
      ),
  })
  .describe('State that a decision keeps for the next decision.');

export const decisionSchema = z
  .object({ ...decisionFields, state: stateSchema })
  .describe('The decision that `promscaler decide` prints for the snapshot.');

/** The document as written, merged with `defaults` of the service config. */
export const documentSchema = z
  .record(z.string(), z.unknown())
  .describe('A scaler document; `promscaler schema` prints its schema.');

const podSchema = z.object({
  name: z.string(),
  phase: z.enum(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown']),
  deleting: z.boolean(),
  startTime: time.nullable(),
  ready: z.boolean().nullable(),
  readyChangedAt: time.nullable(),
  requests: z
    .record(z.string(), z.record(z.string(), z.string()))
    .describe('Requests by container and resource.'),
  podRequests: z.record(z.string(), z.string()).optional(),
  cpuLimit: z
    .string()
    .optional()
    .describe('CPU limit of the pod. Set only if the document has saturation or a forecast.'),
});

const partial = z.string().optional();
const windowSeconds = z.number().min(0);
const byName = z.record(z.string(), z.number());

const sampleSchema = z.union([
  z.object({
    at: time,
    windowSeconds,
    learnedIntervalSeconds: z.number().nullable().optional(),
    containers: z.record(z.string(), byName),
    served: z.number().optional().describe('The value of saturation.served.query.'),
    partial,
  }),
  z.object({ at: time, windowSeconds, pods: byName, partial }),
  z.object({
    at: time,
    values: z.array(z.number()),
    backlog: z.number().optional().describe('The sum of the values of backlog.query.'),
    capacity: z.number().optional().describe('The value of capacity.query.'),
    measuredCapacity: measuredCapacity.optional(),
    partial,
  }),
  z.object({
    error: z.string(),
    kind: z.enum(ERROR_KINDS),
    reason: z
      .enum(SAMPLE_FAILURE_REASONS)
      .optional()
      .describe('Why the query has no usable answer; `internal_error`: a defect of promscaler.'),
  }),
]);

export const snapshotSchema = z
  .object({
    scaler: documentSchema,
    now: time,
    target: z.object({ specReplicas: count, statusReplicas: count }),
    pods: z.array(podSchema),
    samples: z.array(sampleSchema).describe('One sample for each metric of the document, in its order.'),
    maxReplicasFrom: sampleSchema
      .optional()
      .describe('The answer to the query of maxReplicasFrom, in the form of an External metric.'),
    podStartSeconds: z
      .int()
      .min(0)
      .optional()
      .describe('The time in which 95 % of the pods became ready after their start on a node.'),
    loadHistory: z
      .object({
        leadSeconds: z.int().min(0),
        highest: z.number().describe('The highest load within the lookback of the forecast.'),
        seasons: z.array(z.object({ at: time, load: z.number(), level: z.number() })),
        unusable: z.string().nullable(),
      })
      .optional()
      .describe(
        'Loads of earlier days, from which the load is forecast. Set only if the document has a forecast.',
      ),
    state: stateSchema,
  })
  .describe('The input of a decision; `promscaler decide` reads it.');
