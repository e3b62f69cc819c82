import * as z from 'zod';
import {
  MAX_METRICS,
  MAX_POLICIES,
  MAX_REQUIREMENTS,
  MAX_VALUES,
  apiVersion,
  kind,
  labelName,
  objectName,
  positiveQuantity,
  quantity,
  seconds,
  toleranceValue,
} from './schema-parts.js';
import { MAX_REPLICAS } from '../units/replicas.js';

/** What a document's `apiVersion` must be. */
export const API_VERSION = 'promscaler.dev/v1';

const targetRef = z.strictObject({
  apiVersion: apiVersion.optional(),
  kind: kind.optional(),
  name: objectName,
});

const metricTarget = z.strictObject({
  type: z.enum(['Utilization', 'AverageValue', 'Value']).optional(),
  averageUtilization: z.int().min(1).max(MAX_REPLICAS).optional(),
  averageValue: positiveQuantity.optional(),
  value: positiveQuantity.optional(),
});

/** The last two are the form of autoscaling/v2beta1, in which CHPA's documents are written. */
const resourceTarget = {
  name: z.enum(['cpu', 'memory']),
  target: metricTarget.optional(),
  targetAverageUtilization: z.int().min(1).max(MAX_REPLICAS).optional(),
  targetAverageValue: positiveQuantity.optional(),
};

const labelSelector = z.strictObject({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z
    .array(
      z.strictObject({
        key: z.string().min(1),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: z.array(z.string()).max(MAX_VALUES).optional(),
      }),
    )
    .max(MAX_REQUIREMENTS)
    .optional(),
});

/** `query` is asked for by a rule of its own (missing-query), whose message says what to do. */
const queried = {
  metric: z
    .strictObject({ name: z.string().min(1).optional(), selector: labelSelector.optional() })
    .optional(),
  query: z.string().min(1).max(65_536).optional(),
  source: labelName.optional(),
  target: metricTarget,
};

const missingPolicy = z.enum(['error', 'zero']);
const activation = z.strictObject({ above: quantity });
const promql = z.string().min(1).max(65_536);
const total = {
  ...queried,
  activation: activation.optional(),
  onMissing: missingPolicy.optional(),
  onNaN: missingPolicy.optional(),
  guard: promql.optional(),
  freshness: z.strictObject({ query: promql, maxAgeSeconds: seconds(1, 86_400) }).optional(),
};

const metric = z.strictObject({
  type: z.enum(['Resource', 'ContainerResource', 'Pods', 'Object', 'External']).optional(),
  resource: z.strictObject(resourceTarget).optional(),
  containerResource: z.strictObject({ ...resourceTarget, container: labelName }).optional(),
  pods: z.strictObject(queried).optional(),
  object: z.strictObject({ describedObject: targetRef.optional(), ...total }).optional(),
  external: z.strictObject(total).optional(),
});

const scalingRules = z.strictObject({
  stabilizationWindowSeconds: seconds(0, 3600).optional(),
  selectPolicy: z.enum(['Max', 'Min', 'Disabled']).optional(),
  policies: z
    .array(
      z.strictObject({
        type: z.enum(['Pods', 'Percent']),
        value: z.int().min(1).max(MAX_REPLICAS),
        periodSeconds: seconds(1, 1800),
      }),
    )
    .min(1)
    .max(MAX_POLICIES)
    .optional(),
  tolerance: toleranceValue.optional(),
});

/** An empty one means absent; that a part of one is none is said by fallback-rules.ts. */
const fallback = z.strictObject({
  afterSeconds: seconds(0, 86_400).optional(),
  replicas: z.int().min(0).max(MAX_REPLICAS).optional(),
  mode: z.enum(['atLeast', 'exact', 'currentReplicasIfHigher']).optional(),
});

/** Times and dates are texts here; schedule-rules.ts reads them. */
const scheduleText = z.string().min(1).max(200);
const schedule = z.strictObject({
  name: labelName,
  start: scheduleText.optional(),
  end: scheduleText.optional(),
  timeZone: scheduleText.optional(),
  minReplicas: z.int().min(0).max(MAX_REPLICAS).optional(),
  maxReplicas: z.int().min(1).max(MAX_REPLICAS).optional(),
  rampSeconds: seconds(0, 86_400).optional(),
  exceptions: z.array(scheduleText).max(400).optional(),
  dates: z
    .array(z.strictObject({ start: scheduleText, end: scheduleText }))
    .min(1)
    .max(100)
    .optional(),
});

/** An empty one means absent; that a part of one is none is said by deletion-cost-rules.ts. */
const podDeletionCost = z.strictObject({
  query: promql.optional(),
  order: z.enum(['ascending', 'descending']).optional(),
  source: labelName.optional(),
});

/** What may be left out of a spec, or stand in the service config's `defaults`: everything but one field. */
const defaultableFields = {
  preset: z.enum(['hpa', 'chpa', 'hpa-1.11']).optional(),
  minReplicas: z.int().min(0).max(MAX_REPLICAS).optional(),
  metrics: z.array(metric).max(MAX_METRICS).optional(),
  behavior: z
    .strictObject({ scaleUp: scalingRules.optional(), scaleDown: scalingRules.optional() })
    .optional(),
  tolerance: toleranceValue.optional(),
  scaleUpLimitFactor: z.number().min(1).max(MAX_REPLICAS).optional(),
  scaleUpLimitMinimum: z.int().min(1).max(MAX_REPLICAS).optional(),
  upscaleForbiddenWindowSeconds: seconds(0, 86_400).optional(),
  downscaleForbiddenWindowSeconds: seconds(0, 86_400).optional(),
  forbiddenWindowsSince: z.enum(['SameDirection', 'AnyRescale']).optional(),
  cpuInitializationPeriodSeconds: seconds(0, 86_400).optional(),
  initialReadinessDelaySeconds: seconds(0, 86_400).optional(),
  downscaleStabilizationSeconds: seconds(0, 3600).optional(),
  downscaleConfirmation: z
    .strictObject({ seconds: seconds(0, 3600).optional(), decisions: z.int().min(2).max(100).optional() })
    .optional(),
  maxScaleDownPercentPerWindow: z.int().min(1).max(100).optional(),
  podWarmupSeconds: seconds(0, 3600).optional(),
  syncPeriodSeconds: seconds(1, 3600).optional(),
  cooldownSeconds: seconds(0, 86_400).optional(),
  dryRun: z.boolean().optional(),
  // The type is told for editors, which a list of literals of two types leaves out.
  paused: z
    .literal([true, false, 'scale-up', 'scale-down'])
    .meta({ type: ['boolean', 'string'] })
    .optional(),
  // Empty ones mean absent.
  fallback: fallback.optional(),
  schedules: z.array(schedule).max(50).optional(),
  podDeletionCost: podDeletionCost.optional(),
};

/** The `spec` of a scaler document; unknown fields are refused. */
const specSchema = z.strictObject({
  scaleTargetRef: targetRef,
  maxReplicas: z.int().min(1).max(MAX_REPLICAS),
  ...defaultableFields,
});

/** What the service config's `defaults` may hold: any spec field. */
export const defaultsSchema = z.strictObject({
  scaleTargetRef: targetRef.partial().optional(),
  maxReplicas: z.int().min(1).max(MAX_REPLICAS).optional(),
  ...defaultableFields,
});

/** A whole scaler document. */
export const documentSchema = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('Scaler'),
  metadata: z.strictObject({
    name: objectName,
    namespace: labelName,
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
  spec: specSchema,
});

/** A document that the schema accepts, short forms as written. */
export type DocumentInput = z.infer<typeof documentSchema>;
export type SpecInput = DocumentInput['spec'];
export type MetricInput = NonNullable<SpecInput['metrics']>[number];
export type MetricTargetInput = z.infer<typeof metricTarget>;
export type ScalingRulesInput = z.infer<typeof scalingRules>;
export type ScheduleInput = z.infer<typeof schedule>;
export type LabelSelectorInput = z.infer<typeof labelSelector>;

/** As much of `T` as could be read: every part may be missing. */
export type Loose<T> = T extends readonly (infer Item)[]
  ? readonly (Loose<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Loose<T[Key]> | undefined }
    : T;
