import * as z from 'zod';
import { behavior } from './behavior-schema.js';
import {
  MAX_METRICS,
  apiVersion,
  dataSource,
  kind,
  labelName,
  objectName,
  promql,
  seconds,
  toleranceValue,
} from './field-types.js';
import { MAX_REPLICAS } from '../../units/bounds.js';
import { metric } from './metric-schema.js';
import { BUILT_IN, PRESETS, type PresetValues } from './presets.js';
import { schedule } from './schedule-schema.js';

export const API_VERSION = 'promscaler.dev/v1';

const HPA = PRESETS.hpa;

function otherPresets(field: keyof PresetValues): string {
  return `Default in preset chpa: ${String(PRESETS.chpa[field])}, in hpa-1.11: ${String(PRESETS['hpa-1.11'][field])}.`;
}

const targetRef = z.strictObject({
  apiVersion: apiVersion.optional().meta({
    description: 'GROUP/VERSION of the workload. Only the group is used to find the workload.',
    default: BUILT_IN.targetApiVersion,
  }),
  kind: kind.optional().meta({
    description: 'Kind of the workload. DaemonSet is not allowed.',
    default: BUILT_IN.targetKind,
  }),
  name: objectName.meta({ description: 'Name of the workload.' }),
});
const TARGET_REF = { description: 'Workload to scale. Its resource must have a /scale subresource.' };

const maxReplicas = z.int().min(1).max(MAX_REPLICAS);
const MAX_REPLICAS_FIELD = { description: 'Maximum number of replicas. It must be at least minReplicas.' };

const downscaleConfirmation = z.strictObject({
  seconds: seconds(0, 3600).optional().meta({
    description: 'Seconds for which every decision must have been below the current replicas.',
    default: BUILT_IN.confirmationSeconds,
  }),
  decisions: z.int().min(2).max(100).optional().meta({
    description: 'Minimum number of consecutive decisions below the current replicas.',
    default: BUILT_IN.confirmationDecisions,
  }),
});

/** All fields are optional, because `{}` means unset. rules/check-rules.ts reports missing fields. */
const fallback = z.strictObject({
  afterSeconds: seconds(0, 86_400).optional().meta({
    description: 'Seconds without a value of a metric after which the fallback is used. Required.',
  }),
  replicas: z.int().min(0).max(MAX_REPLICAS).optional().meta({
    description: 'Replicas that the fallback proposes in place of the metric, within the bounds. Required.',
  }),
  mode: z.enum(['atLeast', 'exact', 'currentReplicasIfHigher']).optional().meta({
    description:
      'atLeast: the fallback can raise the replicas, and scale-down is blocked; exact: it can raise or lower them; currentReplicasIfHigher: it proposes the current replicas if they are higher.',
    default: BUILT_IN.fallbackMode,
  }),
});

/** All fields are optional, because `{}` means unset. rules/check-rules.ts reports a missing query. */
const podDeletionCost = z.strictObject({
  query: promql.optional().meta({
    description: 'PromQL query that returns one series per pod, with the label pod. Required.',
  }),
  order: z.enum(['ascending', 'descending']).optional().meta({
    description:
      'ascending: a scale-down first removes the pods with the smallest values; descending: those with the largest.',
    default: BUILT_IN.deletionOrder,
  }),
  source: dataSource,
});

/** All fields are optional, because `{}` means unset. rules/check-rules.ts reports a missing query. */
const maxReplicasFrom = z.strictObject({
  query: promql.optional().meta({
    description:
      'PromQL query that returns a number of replicas. The values of its series are added up. Variables: $namespace, $name, $pods. Required.',
  }),
  source: dataSource,
});

const podStart = z.strictObject({
  seconds: seconds(1, 3600).optional().meta({
    description:
      'Seconds from the creation of a pod until the pod is ready. Default: the measured time in which 95 percent of the pods of the workload became ready after their start on a node.',
  }),
});

const forecast = z.strictObject({
  metric: z.string().min(1).max(253).optional().meta({
    description:
      'Name of the metric whose load is forecast, or CONTAINER/NAME for a ContainerResource metric. Default: the first metric with a total load. Metrics of memory and metrics with a target of type Value have no total load.',
  }),
  mode: z.enum(['Observe', 'Raise']).optional().meta({
    description:
      'Observe: the forecast is only calculated, explained and exported. Raise: the forecast also raises the replicas.',
    default: BUILT_IN.forecastMode,
  }),
  lookback: z
    .string()
    .regex(/^([3-9]|[12]\d|3[0-5])d$/, 'must be a number of days from 3d to 35d')
    .optional()
    .meta({
      description: 'How far back the loads of earlier days are read, 3d to 35d.',
      default: BUILT_IN.forecastLookback,
    }),
  quantile: z.number().min(0.01).max(1).optional().meta({
    description:
      'Quantile of the loads of earlier days at the same local time. The quantile is the expected load.',
    default: BUILT_IN.forecastQuantile,
  }),
  fillPercent: z.int().min(50).max(100).optional().meta({
    description:
      'Usage, in percent of the requests, that ready pods may have when the load arrives. It applies only to a target of type Utilization that is lower than this field. Otherwise, the pods may reach their target.',
    default: BUILT_IN.forecastFillPercent,
  }),
  lead: z
    .string()
    .regex(
      /^(auto|[1-9]\d{0,3}s|([1-9]\d?|1[0-5]\d|16[0-6])m|[12]h)$/,
      'must be auto or a duration in one unit, at most 9999s, 166m or 2h, such as 90s',
    )
    .optional()
    .meta({
      description:
        'Time before an expected load at which the pods for this load are started, at least 1s, at most 9999s, 166m or 2h. auto: the pod start time of the workload plus the window of the query.',
      default: BUILT_IN.forecastLead,
    }),
  timeZone: z.string().min(1).max(64).optional().meta({
    description: 'IANA time zone in which times of day are compared, such as Europe/Berlin.',
    default: BUILT_IN.timeZone,
  }),
  budgetPercent: z.number().min(0).max(100).optional().meta({
    description:
      'Replicas that the forecast may add on average over 3 days, in percent of the replicas without the forecast.',
    default: BUILT_IN.forecastBudgetPercent,
  }),
});

const CHPA_LIMIT_WITH_BEHAVIOR =
  'If behavior is set, the default is not used: the field has an effect only if the document or the preset sets it.';

/** Optional fields of `spec`, which a document or `defaults` of the service config can set. */
const defaultableFields = {
  preset: z.enum(['hpa', 'chpa', 'hpa-1.11']).optional().meta({
    description:
      'Set of defaults. hpa: the defaults of the current HPA; chpa: the defaults of CHPA (Configurable HPA); hpa-1.11: the defaults of the HPA before Kubernetes 1.12.',
    default: BUILT_IN.preset,
  }),
  minReplicas: z.int().min(0).max(MAX_REPLICAS).optional().meta({
    description: 'Minimum number of replicas. The value 0 requires an Object or External metric.',
    default: BUILT_IN.minReplicas,
  }),
  maxReplicasFrom: maxReplicasFrom.optional().meta({
    description:
      'Query whose value limits scale-ups below maxReplicas, such as the number of pods for which there are GPUs. The ceiling never scales down. The value {} removes a ceiling set in the service config.',
    default: {},
  }),
  metrics: z
    .array(metric)
    .max(MAX_METRICS)
    .optional()
    .meta({
      description: `Metrics to scale on. The largest proposal of a metric is used. Default, also for the value []: CPU at ${BUILT_IN.cpuUtilizationPercent} percent of the requests.`,
    }),
  behavior: behavior.optional().meta({
    description:
      'Scaling rules for each direction, as in autoscaling/v2. The value {} enables the default policies; without this field, there are no policies.',
  }),
  tolerance: toleranceValue.optional().meta({
    description: 'Fraction by which a metric may differ from its target without scaling.',
    default: BUILT_IN.tolerance,
  }),
  scaleUpLimitFactor: z
    .number()
    .min(1)
    .max(MAX_REPLICAS)
    .optional()
    .meta({
      description: `Largest factor by which one scale-up may multiply the replicas. ${CHPA_LIMIT_WITH_BEHAVIOR}`,
      default: BUILT_IN.scaleUpLimitFactor,
    }),
  scaleUpLimitMinimum: z
    .int()
    .min(1)
    .max(MAX_REPLICAS)
    .optional()
    .meta({
      description: `Number of replicas that a scale-up may always reach, regardless of scaleUpLimitFactor. ${CHPA_LIMIT_WITH_BEHAVIOR}`,
      default: BUILT_IN.scaleUpLimitMinimum,
    }),
  upscaleForbiddenWindowSeconds: seconds(0, 86_400)
    .optional()
    .meta({
      description: `Seconds without a scale-up after the last scale-up, or after any change (see forbiddenWindowsSince). ${otherPresets('upscaleForbiddenWindowSeconds')}`,
      default: HPA.upscaleForbiddenWindowSeconds,
    }),
  downscaleForbiddenWindowSeconds: seconds(0, 86_400)
    .optional()
    .meta({
      description: `Seconds without a scale-down after the last scale-down, or after any change (see forbiddenWindowsSince). ${otherPresets('downscaleForbiddenWindowSeconds')}`,
      default: HPA.downscaleForbiddenWindowSeconds,
    }),
  forbiddenWindowsSince: z
    .enum(['SameDirection', 'AnyRescale'])
    .optional()
    .meta({
      description: `Changes that start the forbidden window of a direction. SameDirection: changes in this direction; AnyRescale: changes in both directions. ${otherPresets('forbiddenWindowsSince')}`,
      default: HPA.forbiddenWindowsSince,
    }),
  cpuInitializationPeriodSeconds: seconds(0, 86_400).optional().meta({
    description:
      'Seconds after the start of a pod. During this time, the CPU usage of the pod counts only if the pod has been ready for the whole window of the query.',
    default: BUILT_IN.cpuInitializationPeriodSeconds,
  }),
  initialReadinessDelaySeconds: seconds(0, 86_400).optional().meta({
    description:
      'Seconds after the start of a pod. A pod that became unready within this time, and has been unready since, counts as a pod that was never ready.',
    default: BUILT_IN.initialReadinessDelaySeconds,
  }),
  downscaleStabilizationSeconds: seconds(0, 3600)
    .optional()
    .meta({
      description: `Scale down to the highest recommendation of the last N seconds. ${otherPresets('downscaleStabilizationSeconds')}`,
      default: HPA.downscaleStabilizationSeconds,
    }),
  downscaleConfirmation: downscaleConfirmation.optional().meta({
    description: `Scale down only after several consecutive decisions below the current replicas, to the highest of these decisions. Default: no confirmation. The value {} requires ${BUILT_IN.confirmationDecisions} decisions in ${BUILT_IN.confirmationSeconds} seconds.`,
  }),
  maxScaleDownPercentPerWindow: z.int().min(1).max(100).optional().meta({
    description:
      'Maximum percentage of the replicas that may be removed within one downscale stabilization window. One replica may always be removed. Default: no limit.',
  }),
  podStart: podStart.optional().meta({
    description:
      'Time that pods take to start. Backlogs and saturation take this time into account. The value {} measures the time from the pods of the workload. Default: not taken into account.',
  }),
  forecast: forecast.optional().meta({
    description:
      'Forecast that raises the replicas before a load that comes at the same time of each day or week. It never lowers the replicas. The value {} only observes. Default: no forecast.',
  }),
  podWarmupSeconds: seconds(0, 3600).optional().meta({
    description:
      'Seconds that a new pod must be ready before the pod counts in any metric of pods. With 0, readiness affects only CPU metrics.',
    default: BUILT_IN.podWarmupSeconds,
  }),
  syncPeriodSeconds: seconds(1, 3600).optional().meta({
    description: 'Seconds between two decisions.',
    default: BUILT_IN.syncPeriodSeconds,
  }),
  cooldownSeconds: seconds(0, 86_400).optional().meta({
    description:
      'Seconds that every metric must have been at or below its activation threshold before the target is scaled to 0.',
    default: BUILT_IN.cooldownSeconds,
  }),
  dryRun: z.boolean().optional().meta({
    description: 'Whether decisions are only exported and explained, and the replicas are never patched.',
    default: BUILT_IN.dryRun,
  }),
  // `type` is for editors: Zod omits it for a union of literals of two types.
  paused: z
    .literal([true, false, 'scale-up', 'scale-down'])
    .meta({ type: ['boolean', 'string'] })
    .optional()
    .meta({
      description:
        'true: the replicas are never patched; scale-up or scale-down: there is no scaling in this direction.',
      default: BUILT_IN.paused,
    }),
  fallback: fallback.optional().meta({
    description:
      'Replicas to use while a metric has no value. Without a fallback, or with the value {}, the replica count is then held.',
    default: {},
  }),
  schedules: z.array(schedule).max(50).optional().meta({
    description: 'Periods in which other values of minReplicas and maxReplicas apply.',
    default: [],
  }),
  podDeletionCost: podDeletionCost.optional().meta({
    description:
      'Order in which a scale-down removes the pods of a Deployment or ReplicaSet. With the value {}, Kubernetes chooses the pods.',
    default: {},
  }),
};

const specSchema = z.strictObject({
  scaleTargetRef: targetRef.meta(TARGET_REF),
  maxReplicas: maxReplicas.meta(MAX_REPLICAS_FIELD),
  ...defaultableFields,
});

/** `defaults` of the service config. Any field of `spec` is allowed, and none has a default value. */
export const defaultsSchema = z.strictObject({
  scaleTargetRef: targetRef.partial().optional().meta(TARGET_REF),
  maxReplicas: maxReplicas.optional().meta(MAX_REPLICAS_FIELD),
  ...defaultableFields,
});

const metadata = z.strictObject({
  name: objectName.meta({ description: 'Name of the scaler, unique in its namespace.' }),
  namespace: labelName.meta({ description: 'Namespace of the scaler and of its target.' }),
  labels: z.record(z.string(), z.string()).optional().meta({
    description:
      'Labels of the scaler. The service config can name one label in server.groupLabel; the dashboard can group scalers by this label.',
  }),
  annotations: z.record(z.string(), z.string()).optional().meta({
    description:
      'Annotations of the scaler. Only promscaler.dev/adopted-from is used. promscaler pause sets its annotations on the workload instead.',
  }),
});

/**
 * The schema of a scaler document. Each field has its description and default as metadata, which `promscaler schema`
 * prints.
 */
export const documentSchema = z
  .strictObject({
    apiVersion: z.literal(API_VERSION).meta({ description: 'API version of the document.' }),
    kind: z.literal('Scaler').meta({ description: 'Kind of the document.' }),
    metadata: metadata.meta({ description: 'Metadata of the scaler.' }),
    spec: specSchema.meta({
      description:
        'Spec of an autoscaling/v2 HorizontalPodAutoscaler, extended by queries and the fields of CHPA.',
    }),
  })
  .meta({ title: 'promscaler scaler document' });

/** A valid document whose short forms are not resolved yet. */
export type DocumentInput = z.infer<typeof documentSchema>;
export type SpecInput = DocumentInput['spec'];
export type MetricInput = z.infer<typeof metric>;

/** `T` in which any member may be missing: what could be read from an invalid document. */
export type Loose<T> = T extends readonly (infer Item)[]
  ? readonly (Loose<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Loose<T[Key]> | undefined }
    : T;
