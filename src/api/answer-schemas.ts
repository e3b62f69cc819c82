import { z } from 'zod';
import { SEVERITIES, STATE_NAMES } from '../decision/severity.js';
import type { OutcomeKind } from '../telemetry/cycle-record.js';
import { conflictingWriterSchema, otherScalerSchema } from './conflict-schemas.js';
import {
  targetFailureSchema,
  conditionSchema,
  count,
  decisionSchema,
  documentSchema,
  limitName,
  metricSchema,
  pastDecisionSchema,
  time,
  timedConditionSchema,
} from './decision-schemas.js';

const OUTCOME_KINDS = [
  'none',
  'patched',
  'replaced',
  'dry-run',
  'paused',
  'held',
  'conflict',
  'failed',
] as const satisfies readonly OutcomeKind[];

export const scalerStateSchema = z
  .object({
    name: z.enum(STATE_NAMES),
    severity: z
      .enum(SEVERITIES)
      .describe('Severity of the state. The enum lists the most urgent severity first.'),
    cause: z
      .string()
      .nullable()
      .describe('The cause of the state in a few words; null: the state needs no explanation.'),
    since: time
      .nullable()
      .describe(
        'Time of the first cycle in this state; null: unknown. Cycles before the start of this process are included only for a Scaler object.',
      ),
    until: time.nullable().describe('When the state ends; null: the end does not depend on time alone.'),
  })
  .describe('State of a scaler: one word for what it does or what prevents it from scaling.');

export const limitSchema = z.object({
  limit: limitName,
  reason: z.string(),
  until: time.nullable().describe('When the limit ends; null: unknown.'),
});

export const outcomeSchema = z
  .object({
    kind: z.enum(OUTCOME_KINDS),
    from: count.nullable(),
    to: count.nullable(),
    message: z.string(),
  })
  .describe('The result of the decision. With `paused`, `to` is the count that the pause prevents.');

const pauseSchema = z.object({
  by: z.enum(['annotation', 'document', 'both']),
  direction: z.enum(['both', 'scale-up', 'scale-down']),
  until: time.nullable().describe('When the pause ends; null: the pause has no end.'),
  replicas: count.nullable().describe('Replica count that the pause keeps; null: the pause sets no count.'),
  message: z.string(),
});

const fieldChange = z.object({
  field: z
    .string()
    .describe('Path of the field, such as spec.metrics[0].resource.target.averageUtilization.'),
  current: z.string().nullable().describe('The current value as JSON; null: the field is unset.'),
  proposed: z.string().describe('The proposed value as JSON.'),
});

export const recommendationSchema = z
  .object({
    at: time.describe('When the back-test ended.'),
    from: time.describe('Start of the history that the back-test used.'),
    to: time,
    stepSeconds: z.number(),
    changes: z.array(fieldChange).describe('Recommended changes of fields; empty: no change is recommended.'),
    patch: z
      .string()
      .nullable()
      .describe('JSON merge patch of the document; null: no change is recommended.'),
    isObject: z
      .boolean()
      .describe(
        'true: the document is a Scaler object, to which kubectl can apply the patch; false: the document is a file.',
      ),
    reason: z.string().describe('The expected effect of the change, or why no change is recommended.'),
    saving: z
      .object({ percent: z.number(), lowest: z.number(), highest: z.number() })
      .nullable()
      .describe(
        'Percent of the pod-hours that the change saves, with the lowest and the highest percentage in a single part of the history. Negative: the change needs more pod-hours; null: no change is recommended.',
      ),
    thetaU: z
      .object({ current: z.number().min(0), proposed: z.number().min(0) })
      .nullable()
      .describe(
        'Under-provisioning in percent with the current document and with the change; null: no change is recommended.',
      ),
  })
  .describe('Result of the last back-test of a document. It is never applied automatically.');

const scalerFields = {
  namespace: z.string(),
  name: z.string(),
  target: z.object({ apiVersion: z.string(), kind: z.string(), name: z.string() }),
  at: time.describe('Time of the last cycle. All numbers are from this cycle.'),
  state: scalerStateSchema,
  currentReplicas: count.nullable(),
  desiredReplicas: count.nullable().describe('Count of the decision, or the count that a pause keeps.'),
  recommendedReplicas: count
    .nullable()
    .describe('The largest proposal of the metrics, before any limit is applied.'),
  minReplicas: count.nullable(),
  maxReplicas: count.nullable(),
  reason: z.string().nullable(),
  metrics: z.array(metricSchema),
  limits: z
    .array(limitSchema)
    .describe('Limits that changed the result, in the order in which they were applied.'),
  conditions: z.array(timedConditionSchema),
  outcome: outcomeSchema,
  targetFailure: targetFailureSchema.optional(),
  conflictingWriter: conflictingWriterSchema,
  otherScaler: otherScalerSchema,
  shadow: z
    .object({ beside: z.string(), theirReplicas: count, difference: z.int() })
    .nullable()
    .describe(
      'In a dry run next to an HPA: the name of the HPA, its desired replicas, and desiredReplicas minus the replicas of the HPA. null: the replicas were not compared, for example because a metric has no complete value.',
    ),
  agreement: z
    .object({
      beside: z.string(),
      since: time.describe('Time of the first comparison with the HPA since the start of this process.'),
      rounds: z.int().min(1).describe('Number of comparisons with the HPA for this spec.'),
      same: count.describe('Number of comparisons in which both had the same desired replicas.'),
      largest: z
        .object({
          at: time,
          desiredReplicas: count,
          theirReplicas: count,
          reason: z.string().describe('Reason of the decision in this cycle.'),
        })
        .nullable()
        .describe('The last cycle with the largest difference; null: there was no difference in any cycle.'),
    })
    .nullable()
    .describe(
      'In a dry run next to an HPA: in how many cycles scaler and HPA had the same desired replicas; null: they were not compared in any cycle.',
    ),
  forecast: z
    .object({
      mode: z.enum(['Observe', 'Raise']),
      replicas: count
        .nullable()
        .describe('Replica count that the expected load needs; null: the forecast proposes no count.'),
      reactive: count.describe('Replica count that the decision would have had without a forecast.'),
    })
    .optional()
    .describe(
      'Forecast of the decision. Set only if the document has a forecast and the decision used the metrics.',
    ),
  lastScaleUp: time
    .nullable()
    .describe('Last scale-up, also before the start of this process; null: unknown.'),
  lastScaleDown: time
    .nullable()
    .describe('Last scale-down, also before the start of this process; null: unknown.'),
  paused: z.boolean().describe('Whether `pause` is not null.'),
  pause: pauseSchema.nullable().describe('The pause in effect; null: the scaler is not paused.'),
  dryRun: z.boolean(),
  recommendation: recommendationSchema
    .optional()
    .describe(
      'Result of the last back-test; absent: this version of the document has not been back-tested yet, or recommendations are disabled.',
    ),
};

const generation = count
  .nullable()
  .describe(
    'metadata.generation of the Scaler object for which the decision was made; null: unknown, or the document is a file.',
  );
const newestGeneration = count
  .nullable()
  .describe(
    'metadata.generation of the newest version of the Scaler object; null: unknown, or the document is a file.',
  );

export const scalerSchema = z
  .object({
    ...scalerFields,
    generation: generation.optional(),
    newestGeneration: newestGeneration.optional(),
  })
  .describe('The state of a scaler. A number that is null is unknown, never 0.');

export const problemSchema = z.object({
  severity: z
    .enum(['error', 'warning'])
    .describe('With error, the document is rejected and its last valid version stays in effect.'),
  code: z.string(),
  message: z.string(),
  file: z
    .string()
    .nullable()
    .describe('File of the document, or scalers.promscaler.dev/NAMESPACE/NAME for an object of the cluster.'),
  line: z.int().min(1).nullable(),
  path: z.string().describe('Path of the field in the document; empty for the whole document.'),
  scaler: z.string().nullable().describe('NAMESPACE/NAME of the document; null: unknown.'),
  since: time
    .nullish()
    .describe(
      'Time since which the newest version of the document has been rejected; null: the time is unknown, or the document has only a warning and was not rejected.',
    ),
});

const continued = z
  .string()
  .nullable()
  .describe('Value of the parameter `continue` for the next page; null: this is the last page.');

export const scalerListSchema = z.object({
  version: z.string().describe('Version of the service.'),
  leader: z
    .boolean()
    .describe('false: rows are missing, because there is no leader or the leader did not answer.'),
  unreachable: z
    .array(z.string())
    .optional()
    .describe(
      'Replicas of promscaler that did not answer; the scalers of these replicas are missing. Set only with sharding, or in the answer of a standby.',
    ),
  problems: z
    .array(problemSchema)
    .describe(
      'Current problems of the documents in all namespaces that the client may see, at most 100. Errors come first.',
    ),
  items: z.array(scalerSchema).describe('The scalers, ordered by namespace and name.'),
  continue: continued,
});

export const scalerDetailSchema = z.object({
  ...scalerFields,
  document: documentSchema,
  decision: decisionSchema
    .nullable()
    .describe('The last decision; null: there is no decision, because the target could not be read.'),
  generation,
  newestGeneration,
  file: z
    .string()
    .nullish()
    .describe('File of the document; null: the document is an object of the cluster.'),
  documentText: z
    .string()
    .nullish()
    .describe(
      'The newest version in its file, with comments; null: no file, or more than 20,000 characters.',
    ),
  rejectedChanges: z
    .array(fieldChange)
    .optional()
    .describe(
      'If the newest version of the document is rejected: the fields in which it differs from the version in effect, at most 50.',
    ),
  doctor: z
    .string()
    .optional()
    .describe('The command that runs doctor for this scaler with the config and the network of the service.'),
  queries: z
    .array(
      z.object({
        path: z
          .string()
          .describe('Path of the field with the query, such as spec.metrics[0] or spec.maxReplicasFrom.'),
        query: z.string().describe('The query in PromQL, with a value for each variable.'),
        graphUrl: z
          .string()
          .nullable()
          .describe('URL of the query in the UI of its source; null: externalUrl of the source is unset.'),
      }),
    )
    .optional()
    .describe('The queries of the document. They can be run in Prometheus.'),
  grafanaUrl: z
    .string()
    .optional()
    .describe('URL of the Grafana dashboard of this scaler; absent: server.grafanaUrl is unset.'),
  rejections: z
    .array(problemSchema)
    .describe(
      'Why the newest version of the document is rejected; empty: the newest version is in effect. Until the newest version is valid, decisions use the last valid version. With the code duplicate-document, decisions use the file with the same name.',
    ),
  seconds: z
    .object({ observe: z.number().min(0), decide: z.number().min(0), act: z.number().min(0) })
    .describe('Durations of the phases of the last cycle, in seconds.'),
});

export const decisionEntrySchema = z
  .object({
    firstAt: time,
    lastAt: time,
    count: z.int().min(1).describe('Number of cycles from firstAt to lastAt.'),
    state: scalerStateSchema,
    outcome: outcomeSchema,
    conditions: z.array(conditionSchema),
    decision: pastDecisionSchema.nullable(),
  })
  .describe('Consecutive cycles with the same result, and the decision of the last of these cycles.');

/**
 * A cycle. `ScalerDetail`, an entry of the decision list and a line of the decision record have this form, the last two
 * without some members.
 */
export const reportedCycleSchema = scalerDetailSchema
  .pick({
    state: true,
    reason: true,
    pause: true,
    generation: true,
    newestGeneration: true,
    rejections: true,
    conflictingWriter: true,
    lastScaleUp: true,
    lastScaleDown: true,
  })
  .partial()
  .extend({
    outcome: outcomeSchema,
    conditions: z.array(timedConditionSchema.partial({ lastTransitionTime: true })),
    decision: pastDecisionSchema.pick({ currentReplicas: true, reason: true }).nullable(),
  });

export const decisionListSchema = z.object({
  items: z.array(decisionEntrySchema).describe('The decisions, newest first.'),
  continue: continued,
  keptFrom: time.describe('Time of the oldest retained decision.'),
});

export const errorSchema = z.object({ error: z.string().describe('Human-readable message.') });

const about = { at: time, namespace: z.string(), name: z.string() };

export const eventSchemas = {
  connected: z
    .object({})
    .describe(
      'The start of a stream. If this message has an id, it is the id of the last event before the stream.',
    ),
  decision: z
    .object({
      ...about,
      outcome: outcomeSchema,
      reason: z.string().nullable(),
      limits: z.array(limitName),
    })
    .describe('The replicas were changed, or a change was held (not applied).'),
  failure: z
    .object({
      ...about,
      subject: z
        .string()
        .describe(
          'What fails: AbleToScale, ScalingActive, TargetReached, MetricsUnique, ConflictingWriter, `change`, or TYPE/NAME of a metric.',
        ),
      failing: z.boolean().describe('false: the failure has ended.'),
      message: z.string(),
    })
    .describe('A metric has no value, a scaler cannot scale, or one of these failures has ended.'),
  recommendation: z
    .object({ ...about, message: z.string() })
    .describe(
      'A nightly back-test recommends a change of the document that differs from the last recommended change (after a restart: any change).',
    ),
  reload: z
    .object({ at: time, scalers: count.nullable(), errors: count.nullable() })
    .describe(
      'The documents were reloaded. The numbers are the scalers in effect and the errors; null: the client is not allowed to see all namespaces.',
    ),
  gap: z
    .object({ at: time })
    .describe('The events between Last-Event-ID and this event are lost: list the scalers again.'),
};
