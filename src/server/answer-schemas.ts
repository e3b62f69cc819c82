import { z } from 'zod';
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

/** What a schema describes, as a type that nothing may change. */
export type Answer<Schema extends z.ZodType> = Frozen<z.output<Schema>>;

type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

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
  metric: z.string().describe('The name, for ContainerResource CONTAINER/name.'),
  unit: z
    .enum(['percent', 'average', 'total'])
    .describe('percent: of the requests. Else base units, for each pod or in all.'),
};

export const metricSchema = z.object({
  ...metricIdentity,
  value: z.number().nullable(),
  target: z.number(),
  proposal: count.nullable(),
  error: z.string().nullable(),
});

export const limitSchema = z.object({
  limit: limitName,
  reason: z.string(),
  until: time.nullable().describe('When it lets go, where that is known.'),
});

export const outcomeSchema = z
  .object({
    kind: z.enum(OUTCOME_KINDS),
    from: count.nullable(),
    to: count.nullable(),
    message: z.string(),
  })
  .describe('What became of the decision.');

const pauseSchema = z.object({
  by: z.enum(['annotation', 'document', 'both']),
  direction: z.enum(['both', 'scale-up', 'scale-down']),
  until: time.nullable().describe('When it ends by itself.'),
  replicas: count.nullable().describe('What the target is kept at meanwhile.'),
  message: z.string(),
});

const scalerFields = {
  namespace: z.string(),
  name: z.string(),
  target: z.object({ apiVersion: z.string(), kind: z.string(), name: z.string() }),
  at: time.describe('The last cycle, which all the numbers are of.'),
  currentReplicas: count.nullable(),
  desiredReplicas: count.nullable(),
  recommendedReplicas: count.nullable().describe('The largest proposal, before any limit.'),
  minReplicas: count.nullable(),
  maxReplicas: count.nullable(),
  reason: z.string().nullable(),
  metrics: z.array(metricSchema),
  limits: z.array(limitSchema).describe('What holds the result, in the order applied.'),
  conditions: z.array(timedConditionSchema),
  outcome: outcomeSchema,
  conflictingWriter: z
    .object({ managers: z.array(z.string()), since: time, message: z.string() })
    .nullable()
    .describe('Who sets other replicas whenever promscaler has set its own; null: nobody does.'),
  shadow: z
    .object({ beside: z.string(), theirReplicas: count, difference: z.int() })
    .nullable()
    .describe('A dry run beside an HPA: whose, what it wants, and our desiredReplicas less that.'),
  lastScaleUp: time.nullable().describe('Also before this process started; null: none is known.'),
  lastScaleDown: time.nullable().describe('Also before this process started; null: none is known.'),
  paused: z.boolean().describe('Whether `pause` is there.'),
  pause: pauseSchema.nullable().describe('What a person has stopped; null: nothing.'),
  dryRun: z.boolean(),
};

export const scalerSchema = z
  .object(scalerFields)
  .describe('What is known of a scaler. null: not known now, never 0 for want of a number.');

const problemSchema = z.object({
  severity: z
    .enum(['error', 'warning'])
    .describe('error: the document is refused, its last good version goes on.'),
  code: z.string(),
  message: z.string(),
  file: z
    .string()
    .nullable()
    .describe('Or scalers.promscaler.dev/NAMESPACE/NAME for an object of the cluster.'),
  line: z.int().min(1).nullable(),
  path: z.string().describe('Into the document; empty for the whole of it.'),
});

export const scalerListSchema = z.object({
  version: z.string().describe('Of the service.'),
  leader: z.boolean().describe('false: another replica decides; these rows are what this one last knew.'),
  problems: z
    .array(problemSchema)
    .describe('What is wrong with documents now, of all namespaces: errors first, at most 100.'),
  items: z.array(scalerSchema).describe('By namespace and name.'),
  continue: z.string().nullable().describe('For the next page; null: this is the last one.'),
});

export const scalerDetailSchema = z.object({
  ...scalerFields,
  document: documentSchema,
  decision: decisionSchema.nullable().describe('null: the target could not be read.'),
  seconds: z
    .object({ observe: z.number().min(0), decide: z.number().min(0), act: z.number().min(0) })
    .describe('How long the phases of the last cycle took.'),
});

export const decisionEntrySchema = z
  .object({
    firstAt: time,
    lastAt: time,
    count: z.int().min(1).describe('Cycles, from firstAt to lastAt.'),
    outcome: outcomeSchema,
    conditions: z.array(conditionSchema),
    decision: pastDecisionSchema.nullable(),
  })
  .describe('Cycles in a row that came to the same; the decision is the last one of them.');

export const decisionListSchema = z.object({
  items: z.array(decisionEntrySchema).describe('The newest first.'),
  continue: z.string().nullable().describe('For the next page; null: this is the last one.'),
  keptFrom: time.describe('The first instant that anything is known of.'),
});

export const errorSchema = z.object({ error: z.string().describe('A sentence for a person.') });

const column = z.array(count.nullable());

export const historySchema = z
  .object({
    namespace: z.string(),
    name: z.string(),
    stepSeconds: z
      .number()
      .nullable()
      .describe('The step that was asked for; null: points as they are kept.'),
    keptFrom: time.nullable().describe('The oldest point that is kept, asked for or not.'),
    at: z.array(time).describe('The oldest first. Every other column is as long.'),
    currentReplicas: column,
    desiredReplicas: column,
    recommendedReplicas: column,
    minReplicas: column,
    maxReplicas: column,
    metrics: z.array(
      z.object({
        ...metricIdentity,
        value: z.array(z.number().nullable()),
        target: z.array(z.number().nullable()),
      }),
    ),
  })
  .describe('Columns for charts. null: nothing was known at that instant, never 0 for want of a number.');

const about = { at: time, namespace: z.string(), name: z.string() };

export const eventSchemas = {
  decision: z
    .object({
      ...about,
      outcome: outcomeSchema,
      reason: z.string().nullable(),
      limits: z.array(limitName),
    })
    .describe('Replicas were changed, or a change was held back.'),
  failure: z
    .object({
      ...about,
      subject: z
        .string()
        .describe(
          'AbleToScale, ScalingActive, TargetReached, MetricsUnique, ConflictingWriter, `change`, or TYPE/NAME of a metric.',
        ),
      failing: z.boolean().describe('false: it is over.'),
      message: z.string(),
    })
    .describe('A metric lost its value, a scaler cannot scale, or either is over.'),
  reload: z
    .object({ at: time, scalers: count, errors: count })
    .describe('Documents were read: how many are in force, how many problems there were.'),
  gap: z
    .object({ at: time })
    .describe('Events between the Last-Event-ID and this one are lost: read the lists anew.'),
};
