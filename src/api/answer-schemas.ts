import { z } from 'zod';
import { SEVERITIES, STATE_NAMES } from '../decision/state.js';
import type { OutcomeKind } from '../telemetry/cycle-record.js';
import {
  conditionSchema,
  count,
  decisionSchema,
  documentSchema,
  limitName,
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

const metricIdentity = {
  type: z.enum(['Resource', 'ContainerResource', 'Pods', 'Object', 'External']),
  metric: z.string().describe('Name of the metric; CONTAINER/NAME for ContainerResource.'),
  unit: z
    .enum(['percent', 'average', 'total'])
    .describe('percent: of the requests; average and total: base units, per pod or for all pods.'),
};

export const metricSchema = z.object({
  ...metricIdentity,
  value: z.number().nullable(),
  target: z.number(),
  proposal: count.nullable(),
  error: z.string().nullable(),
  partial: z
    .string()
    .nullable()
    .describe('Why the value may raise but not lower the count; null: it is a full value, or there is none.'),
});

export const scalerStateSchema = z
  .object({
    name: z.enum(STATE_NAMES),
    severity: z.enum(SEVERITIES).describe('The most urgent first.'),
    cause: z.string().nullable().describe('Why, in a few words; null: nothing is special.'),
    since: time
      .nullable()
      .describe(
        'The first cycle in this state, of this process, or for a Scaler object also of earlier ones; null: unknown.',
      ),
    until: time.nullable().describe('When the state ends; null: that depends on more than time.'),
  })
  .describe('What a scaler does, in one word.');

export const limitSchema = z.object({
  limit: limitName,
  reason: z.string(),
  until: time.nullable().describe('When the limit ends, if known.'),
});

export const outcomeSchema = z
  .object({
    kind: z.enum(OUTCOME_KINDS),
    from: count.nullable(),
    to: count.nullable(),
    message: z.string(),
  })
  .describe('The result of the decision.');

const pauseSchema = z.object({
  by: z.enum(['annotation', 'document', 'both']),
  direction: z.enum(['both', 'scale-up', 'scale-down']),
  until: time.nullable().describe('When the pause ends, if it has an end.'),
  replicas: count.nullable().describe('Replica count that the target is kept at.'),
  message: z.string(),
});

const fieldChange = z.object({
  field: z.string().describe('Such as spec.metrics[0].resource.target.averageUtilization.'),
  current: z.string().nullable().describe('JSON; null: unset.'),
  proposed: z.string().describe('JSON.'),
});

export const recommendationSchema = z
  .object({
    at: time.describe('When the back-test ended.'),
    from: time.describe('Start of the history that it used.'),
    to: time,
    stepSeconds: z.number(),
    changes: z.array(fieldChange).describe('Empty: keep the document as it is.'),
    patch: z.string().nullable().describe('JSON merge patch of the document; null: no change.'),
    isObject: z
      .boolean()
      .describe(
        'Whether the document is a Scaler object, to which kubectl applies the patch; false: a file.',
      ),
    reason: z.string().describe('What is expected of the change, or why there is none.'),
    saving: z
      .object({ percent: z.number(), lowest: z.number(), highest: z.number() })
      .nullable()
      .describe(
        'Percent of the pod-hours, and the lowest and highest of single parts of the time; negative: more are needed. null: no change.',
      ),
    thetaU: z
      .object({ current: z.number().min(0), proposed: z.number().min(0) })
      .nullable()
      .describe('Under-provisioning of the document and of the change, in percent; null: no change.'),
  })
  .describe('What the last back-test of a document has found; it was not applied.');

const scalerFields = {
  namespace: z.string(),
  name: z.string(),
  target: z.object({ apiVersion: z.string(), kind: z.string(), name: z.string() }),
  at: time.describe('Time of the last cycle, which all numbers refer to.'),
  state: scalerStateSchema,
  currentReplicas: count.nullable(),
  desiredReplicas: count.nullable(),
  recommendedReplicas: count.nullable().describe('The largest proposal, before any limit.'),
  minReplicas: count.nullable(),
  maxReplicas: count.nullable(),
  reason: z.string().nullable(),
  metrics: z.array(metricSchema),
  limits: z.array(limitSchema).describe('Limits that changed the result, in the order applied.'),
  conditions: z.array(timedConditionSchema),
  outcome: outcomeSchema,
  conflictingWriter: z
    .object({ managers: z.array(z.string()), since: time, message: z.string() })
    .nullable()
    .describe('Clients that keep replacing the replicas set by promscaler; null: none.'),
  otherScaler: z
    .object({
      kind: z.string(),
      namespace: z.string(),
      name: z.string(),
      file: z
        .string()
        .nullish()
        .describe(
          'Of a Scaler, in the answer for one scaler: the file of its document; null: an object of the cluster.',
        ),
      isAlsoObject: z
        .boolean()
        .optional()
        .describe('Whether the file takes precedence over an object with the same name.'),
    })
    .nullable()
    .describe(
      'Another autoscaler with the same target: an HPA, a ScaledObject, or a Scaler that is not in dry run. It is a conflict unless this scaler is in dry run. null: none.',
    ),
  shadow: z
    .object({ beside: z.string(), theirReplicas: count, difference: z.int() })
    .nullable()
    .describe(
      'Dry run next to an HPA: its name, its desired replicas, and desiredReplicas minus those; null: not compared, for example because a metric has no full value.',
    ),
  agreement: z
    .object({
      beside: z.string(),
      since: time.describe('The first compared cycle since the start of this process.'),
      rounds: z.int().min(1).describe('Compared cycles with this spec.'),
      same: count.describe('Cycles of these with the same desired replicas.'),
      largest: z
        .object({
          at: time,
          desiredReplicas: count,
          theirReplicas: count,
          reason: z.string().describe('Reason of the decision.'),
        })
        .nullable()
        .describe('The largest difference, the last one of several; null: no cycle differed.'),
    })
    .nullable()
    .describe(
      'Dry run next to an HPA: how many cycles had the same desired replicas; null: none was compared.',
    ),
  forecast: z
    .object({
      mode: z.enum(['Observe', 'Raise']),
      replicas: count.nullable().describe('The count that the load to come needs; null: there is none.'),
      reactive: count.describe('The count without a forecast.'),
    })
    .optional()
    .describe('Only of a document with a forecast, whose metrics were used.'),
  lastScaleUp: time.nullable().describe('Includes changes before this process started; null: none is known.'),
  lastScaleDown: time
    .nullable()
    .describe('Includes changes before this process started; null: none is known.'),
  paused: z.boolean().describe('Whether `pause` is not null.'),
  pause: pauseSchema.nullable().describe('The pause in effect; null: none.'),
  dryRun: z.boolean(),
  recommendation: recommendationSchema
    .optional()
    .describe(
      'Unset: this version of the document was not back-tested yet, or recommendations are disabled.',
    ),
};

export const scalerSchema = z
  .object(scalerFields)
  .describe('The state of a scaler. null means unknown, never 0.');

const problemSchema = z.object({
  severity: z
    .enum(['error', 'warning'])
    .describe('error: the document is rejected, and its last valid version stays in effect.'),
  code: z.string(),
  message: z.string(),
  file: z
    .string()
    .nullable()
    .describe('File, or scalers.promscaler.dev/NAMESPACE/NAME for an object of the cluster.'),
  line: z.int().min(1).nullable(),
  path: z.string().describe('Path of the field in the document; empty for the whole document.'),
  scaler: z.string().nullable().describe('NAMESPACE/NAME of the document; null: unknown.'),
});

export const scalerListSchema = z.object({
  version: z.string().describe('Version of the service.'),
  leader: z.boolean().describe('false: no replica leads, or one that did not answer: rows are missing.'),
  unreachable: z
    .array(z.string())
    .optional()
    .describe('With sharding or from a standby: replicas that did not answer, whose scalers are missing.'),
  problems: z
    .array(problemSchema)
    .describe('Current problems of the documents of all namespaces: errors first, at most 100.'),
  items: z.array(scalerSchema).describe('Ordered by namespace and name.'),
  continue: z
    .string()
    .nullable()
    .describe('Parameter `continue` of the next page; null: this is the last page.'),
});

export const scalerDetailSchema = z.object({
  ...scalerFields,
  document: documentSchema,
  decision: decisionSchema.nullable().describe('null: the target could not be read.'),
  generation: count
    .nullable()
    .describe(
      'metadata.generation of the Scaler object that the decision was made for; null: a file, or unknown.',
    ),
  newestGeneration: count
    .nullable()
    .describe('metadata.generation of the newest version; null: a file, or unknown.'),
  file: z.string().nullish().describe('File of the document; null: an object of the cluster.'),
  documentText: z
    .string()
    .nullish()
    .describe(
      'The newest version of the document as its file has it, with comments; null: an object, or more than 20,000 characters.',
    ),
  rejectedChanges: z
    .array(fieldChange)
    .optional()
    .describe(
      'Fields in which the newest version, if it is rejected, differs from the one in effect, at most 50.',
    ),
  doctor: z
    .string()
    .optional()
    .describe('The command that runs doctor for this scaler with the config and the network of the service.'),
  queries: z
    .array(
      z.object({
        path: z.string().describe('Path in the document: spec.metrics[0] or spec.maxReplicasFrom.'),
        query: z.string().describe('PromQL, with a value for each variable.'),
        graphUrl: z
          .string()
          .nullable()
          .describe(
            'The query in the UI of its data source; null: prometheus.NAME.externalUrl of the config is unset.',
          ),
      }),
    )
    .optional()
    .describe('The queries of the document, for a person to try.'),
  rejections: z
    .array(problemSchema)
    .describe(
      'Errors of the newest version, which is rejected: the decision is that of the last valid one, or, with the code duplicate-document, that of the file with the same name. Empty: the newest version is in effect.',
    ),
  seconds: z
    .object({ observe: z.number().min(0), decide: z.number().min(0), act: z.number().min(0) })
    .describe('Duration of the phases of the last cycle.'),
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
  .describe('Consecutive cycles with the same result; the decision is that of the last cycle.');

export const decisionListSchema = z.object({
  items: z.array(decisionEntrySchema).describe('Newest first.'),
  continue: z
    .string()
    .nullable()
    .describe('Parameter `continue` of the next page; null: this is the last page.'),
  keptFrom: time.describe('Time of the oldest retained decision.'),
});

export const errorSchema = z.object({ error: z.string().describe('Human-readable message.') });

const column = z.array(count.nullable());

export const historySchema = z
  .object({
    namespace: z.string(),
    name: z.string(),
    stepSeconds: z.number().nullable().describe('The step of the points; null: as retained.'),
    keptFrom: time
      .nullable()
      .describe('The oldest point that is retained, whether requested or not; null: none, or unknown.'),
    at: z.array(time).describe('Oldest first. Every other column has the same length.'),
    currentReplicas: column,
    desiredReplicas: column,
    recommendedReplicas: column,
    minReplicas: column,
    maxReplicas: column,
    readyPods: column.describe('Pods that are ready, except terminating ones.'),
    metrics: z.array(
      z.object({
        ...metricIdentity,
        value: z.array(z.number().nullable()),
        target: z.array(z.number().nullable()),
      }),
    ),
  })
  .describe('Columns for charts. null means unknown at that instant, never 0.');

const loads = z.array(z.number().nullable());

export const forecastLoadsSchema = z
  .object({
    namespace: z.string(),
    name: z.string(),
    metric: z.string().describe('The metric of the forecast.'),
    at: z
      .array(time)
      .describe('Oldest first, up to an hour from now. Every other column has the same length.'),
    load: loads.describe('The load of all pods, in base units; null: unknown, or still to come.'),
    low: loads.describe('The lowest load at this time on earlier days, scaled to the load of today.'),
    expected: loads.describe(
      'The quantile that the forecast plans with. Until now: the forecast as of the time when a pod had to be started.',
    ),
    high: loads.describe('The highest load at this time on earlier days, scaled to the load of today.'),
  })
  .describe('Columns for a chart of the load and its forecast.');

const about = { at: time, namespace: z.string(), name: z.string() };

export const eventSchemas = {
  connected: z
    .object({})
    .describe('The start of a stream. If it has an id, that is the id of the last event before.'),
  decision: z
    .object({
      ...about,
      outcome: outcomeSchema,
      reason: z.string().nullable(),
      limits: z.array(limitName),
    })
    .describe('Replicas were changed, or a change was held.'),
  failure: z
    .object({
      ...about,
      subject: z
        .string()
        .describe(
          'AbleToScale, ScalingActive, TargetReached, MetricsUnique, ConflictingWriter, `change`, or TYPE/NAME of a metric.',
        ),
      failing: z.boolean().describe('false: the failure has ended.'),
      message: z.string(),
    })
    .describe('A metric has no value, a scaler cannot scale, or such a failure has ended.'),
  recommendation: z
    .object({ ...about, message: z.string() })
    .describe('A nightly back-test recommends another change of the document than before.'),
  reload: z
    .object({ at: time, scalers: count.nullable(), errors: count.nullable() })
    .describe(
      'The documents were reloaded: number of scalers in effect and of errors. null: the client may not see all namespaces.',
    ),
  gap: z
    .object({ at: time })
    .describe('Events between the Last-Event-ID and this one are lost: list the scalers again.'),
};
