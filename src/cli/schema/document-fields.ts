import { BUILT_IN, PRESETS } from '../../scaler/resolve/presets.js';
import type { FieldTable } from './field-text.js';
import { SCHEDULE_FIELDS } from './schedule-fields.js';

const HPA = PRESETS.hpa;

const METRIC_FIELDS: FieldTable = {
  'spec.metrics[].type': {
    description:
      'Resource, ContainerResource, Pods, Object or External. Left out: the member that is there says it.',
  },
  'spec.metrics[].resource': { description: 'cpu or memory of whole pods.' },
  'spec.metrics[].containerResource': { description: 'cpu or memory of one container of each pod.' },
  'spec.metrics[].pods': { description: 'A query with one series for each pod, label pod.' },
  'spec.metrics[].object': { description: 'A query with exactly one series.' },
  'spec.metrics[].external': { description: 'A query whose series are added up.' },
  'spec.metrics[].{resource,containerResource}.name': { description: 'The resource that is measured.' },
  'spec.metrics[].containerResource.container': { description: 'The name of the container.' },
  'spec.metrics[].{resource,containerResource}.targetAverageUtilization': {
    description: 'target.averageUtilization as autoscaling/v2beta1 has it.',
  },
  'spec.metrics[].{resource,containerResource}.targetAverageValue': {
    description: 'target.averageValue as autoscaling/v2beta1 has it.',
  },
  'spec.metrics[].{resource,containerResource}.target': {
    description: 'What the metric is held at. Needed, unless one of the two older forms is there.',
  },
  'spec.metrics[].{pods,object,external}.target': { description: 'What the metric is held at.' },
  'spec.metrics[].{resource,containerResource,pods,object,external}.target.type': {
    description: 'Utilization, AverageValue or Value. Left out: the member that is there says it.',
  },
  'spec.metrics[].{resource,containerResource,pods,object,external}.target.averageUtilization': {
    description: 'Percent of what the pods request, as their average. For resources.',
  },
  'spec.metrics[].{resource,containerResource,pods,object,external}.target.averageValue': {
    description: 'A quantity for each pod.',
  },
  'spec.metrics[].{resource,containerResource,pods,object,external}.target.value': {
    description: 'A quantity for all pods together. For Object and External.',
  },
  'spec.metrics[].{pods,object,external}.metric': { description: 'Name and selector.' },
  'spec.metrics[].{pods,object,external}.metric.name': {
    description: 'What the metric is called. Left out: the first metric that the query names.',
  },
  'spec.metrics[].{pods,object,external}.metric.selector': {
    description: 'Keeps the series of the answer whose labels match.',
    default: {},
  },
  'spec.metrics[].{pods,object,external}.metric.selector.matchLabels': {
    description: 'Labels and the value that each must have.',
  },
  'spec.metrics[].{pods,object,external}.metric.selector.matchExpressions': {
    description: 'Requirements that must all hold.',
  },
  'spec.metrics[].{pods,object,external}.metric.selector.matchExpressions[].key': {
    description: 'The label.',
  },
  'spec.metrics[].{pods,object,external}.metric.selector.matchExpressions[].operator': {
    description: 'What must be true of the label.',
  },
  'spec.metrics[].{pods,object,external}.metric.selector.matchExpressions[].values': {
    description: 'For In and NotIn, and for no other operator.',
  },
  'spec.metrics[].{pods,object,external}.query': {
    description:
      'PromQL, always needed; may use $namespace, $name, $pods and, with describedObject, $object.',
  },
  'spec.metrics[].{pods,object,external}.source': {
    description: 'The data source of the service config that is asked.',
    default: BUILT_IN.source,
  },
  'spec.metrics[].object.describedObject': { description: 'What the metric is about: its name is $object.' },
  'spec.metrics[].object.describedObject.apiVersion': {
    description: 'GROUP/VERSION of the object.',
    default: BUILT_IN.targetApiVersion,
  },
  'spec.metrics[].object.describedObject.kind': {
    description: 'The kind of the object.',
    default: BUILT_IN.targetKind,
  },
  'spec.metrics[].object.describedObject.name': { description: 'The name of the object.' },
  'spec.metrics[].{object,external}.activation': {
    description:
      'Whether there is work at all, for the way to 0 replicas and back. Used where minReplicas is 0.',
  },
  'spec.metrics[].{object,external}.activation.above': {
    description: 'A value above this one wakes the workload, and keeps it awake.',
  },
  'spec.metrics[].{object,external}.onMissing': {
    description: 'What no series means: an error, which never scales down, or the value 0.',
    default: 'error',
  },
  'spec.metrics[].{object,external}.onNaN': {
    description: 'What NaN alone means: an error, which never scales down, or the value 0.',
    default: 'error',
  },
  'spec.metrics[].{object,external}.guard': {
    description: 'PromQL that must be true, else the metric counts as missing, also with onMissing: zero.',
  },
  'spec.metrics[].{object,external}.freshness': {
    description: 'How old the data may be; older, the metric counts as missing, also with onMissing: zero.',
  },
  'spec.metrics[].{object,external}.freshness.query': {
    description: 'PromQL that gives the time of the newest sample, in seconds since 1970.',
  },
  'spec.metrics[].{object,external}.freshness.maxAgeSeconds': {
    description: 'The greatest age, counted from that time to when the query is evaluated.',
  },
};

const BEHAVIOR_FIELDS: FieldTable = {
  'spec.behavior': {
    description: 'As in autoscaling/v2. Left out is the HPA without it; {} is not the same.',
  },
  'spec.behavior.{scaleUp,scaleDown}': { description: 'The rules of one direction.' },
  'spec.behavior.scaleUp.stabilizationWindowSeconds': {
    description: 'The lowest recommendation of the last so many seconds counts.',
    default: 0,
  },
  'spec.behavior.scaleDown.stabilizationWindowSeconds': {
    description:
      'The highest recommendation of the last so many seconds counts. Left out: downscaleStabilizationSeconds of the spec.',
  },
  'spec.behavior.{scaleUp,scaleDown}.selectPolicy': {
    description:
      'Which policy counts: the one that allows most or least; Disabled: no change in this direction.',
    default: 'Max',
  },
  'spec.behavior.{scaleUp,scaleDown}.policies': {
    description: 'Left out: 4 pods or 100 percent in 15 seconds up, 100 percent in 15 seconds down.',
  },
  'spec.behavior.{scaleUp,scaleDown}.policies[].type': { description: 'What value counts: pods or percent.' },
  'spec.behavior.{scaleUp,scaleDown}.policies[].value': { description: 'How much may change.' },
  'spec.behavior.{scaleUp,scaleDown}.policies[].periodSeconds': { description: 'In how many seconds.' },
  'spec.behavior.{scaleUp,scaleDown}.tolerance': {
    description: 'How far the metric may be off its target, as a share. Left out: tolerance of the spec.',
  },
};

/** Every field of a scaler document. */
export const DOCUMENT_FIELDS: FieldTable = {
  apiVersion: { description: 'promscaler.dev/v1' },
  kind: { description: 'Scaler' },
  metadata: { description: 'What the scaler is called.' },
  'metadata.name': { description: 'The name, unique in its namespace.' },
  'metadata.namespace': { description: 'The namespace of the document and of its target.' },
  'metadata.labels': { description: 'Not used.' },
  'metadata.annotations': { description: 'Not used.' },
  spec: {
    description:
      'The spec of an autoscaling/v2 HorizontalPodAutoscaler, with queries and the fields of CHPA.',
  },
  'spec.preset': {
    description: 'Which defaults hold: those of the HPA of today, of CHPA, or of the HPA before 1.12.',
    default: BUILT_IN.preset,
  },
  'spec.scaleTargetRef': { description: 'The workload that is scaled: anything with a /scale subresource.' },
  'spec.scaleTargetRef.apiVersion': {
    description: 'GROUP/VERSION; the version does not matter.',
    default: BUILT_IN.targetApiVersion,
  },
  'spec.scaleTargetRef.kind': { description: 'Not DaemonSet.', default: BUILT_IN.targetKind },
  'spec.scaleTargetRef.name': { description: 'The name of the workload.' },
  'spec.minReplicas': {
    description: 'The fewest replicas. 0 needs an Object or External metric.',
    default: BUILT_IN.minReplicas,
  },
  'spec.maxReplicas': { description: 'The most replicas, at least minReplicas.' },
  'spec.metrics': {
    description: `The largest proposal wins. Left out or empty: cpu at ${BUILT_IN.cpuUtilizationPercent} percent of the requests.`,
  },
  ...METRIC_FIELDS,
  ...BEHAVIOR_FIELDS,
  'spec.tolerance': {
    description: 'How far a metric may be off its target before anything changes, as a share of it.',
    default: BUILT_IN.tolerance,
  },
  'spec.scaleUpLimitFactor': {
    description:
      'One scale-up reaches at most this many times the present count. Beside behavior only where it is written.',
    default: BUILT_IN.scaleUpLimitFactor,
  },
  'spec.scaleUpLimitMinimum': {
    description: 'A count that a scale-up may always reach. Beside behavior only where it is written.',
    default: BUILT_IN.scaleUpLimitMinimum,
  },
  'spec.upscaleForbiddenWindowSeconds': {
    description: 'No scale-up for so long after the last one. chpa: 300, hpa-1.11: 180.',
    default: HPA.upscaleForbiddenWindowSeconds,
  },
  'spec.downscaleForbiddenWindowSeconds': {
    description: 'No scale-down for so long after the last one. chpa and hpa-1.11: 300.',
    default: HPA.downscaleForbiddenWindowSeconds,
  },
  'spec.forbiddenWindowsSince': {
    description:
      'After which change the windows run: of the same direction, or any. chpa and hpa-1.11: AnyRescale.',
    default: HPA.forbiddenWindowsSince,
  },
  'spec.cpuInitializationPeriodSeconds': {
    description:
      'Until a pod has run so long, its cpu counts only if it is ready and was so for the whole window of the query.',
    default: BUILT_IN.cpuInitializationPeriodSeconds,
  },
  'spec.initialReadinessDelaySeconds': {
    description:
      'A pod that is not ready, and was last changed to that so soon after its start, has never been ready.',
    default: BUILT_IN.initialReadinessDelaySeconds,
  },
  'spec.downscaleStabilizationSeconds': {
    description:
      'A scale-down goes to the highest recommendation of the last so many seconds. chpa and hpa-1.11: 0.',
    default: HPA.downscaleStabilizationSeconds,
  },
  'spec.downscaleConfirmation': {
    description:
      'No scale-down before enough decisions in a row have asked for one, and then to the highest of them. Left out: none is needed; {} is 3 in 60 seconds.',
  },
  'spec.downscaleConfirmation.seconds': {
    description: 'For so long every decision has asked for less.',
    default: BUILT_IN.confirmationSeconds,
  },
  'spec.downscaleConfirmation.decisions': {
    description: 'At least so many decisions in a row have asked for less.',
    default: BUILT_IN.confirmationDecisions,
  },
  'spec.maxScaleDownPercentPerWindow': {
    description:
      'No more than this share of the replicas goes within one window, but always one. Left out: no limit.',
  },
  'spec.podWarmupSeconds': {
    description:
      'A young pod counts, in every metric of pods, once it has been ready for so long. 0: only cpu looks at readiness.',
    default: BUILT_IN.podWarmupSeconds,
  },
  'spec.syncPeriodSeconds': {
    description: 'Seconds from one decision to the next.',
    default: BUILT_IN.syncPeriodSeconds,
  },
  'spec.cooldownSeconds': {
    description: 'How long no metric must have been above its activation before the last replica goes.',
    default: BUILT_IN.cooldownSeconds,
  },
  'spec.dryRun': { description: 'Decide, export and explain, never patch.', default: false },
  'spec.paused': {
    description: 'true: nothing is patched; scale-up or scale-down: that direction alone is held.',
    default: false,
  },
  'spec.fallback': {
    description: 'What stands in for a metric without a value. Empty: nothing, the count is held.',
    default: {},
  },
  'spec.fallback.afterSeconds': { description: 'How long a metric must have been without a value. Needed.' },
  'spec.fallback.replicas': { description: 'The count in its place, within the bounds. Needed.' },
  'spec.fallback.mode': {
    description:
      'atLeast only raises, exact also lowers, currentReplicasIfHigher keeps a count that is higher.',
    default: BUILT_IN.fallbackMode,
  },
  'spec.schedules': {
    description: 'Floors and ceilings by time, in place of those of the document.',
    default: [],
  },
  ...SCHEDULE_FIELDS,
  'spec.podDeletionCost': {
    description:
      'Which pods go first in a scale-down: [Which pods go](#which-pods-go). Deployments and ReplicaSets. Empty: Kubernetes alone chooses.',
    default: {},
  },
  'spec.podDeletionCost.query': { description: 'PromQL: one series for each pod, label pod. Needed.' },
  'spec.podDeletionCost.order': {
    description: 'ascending: the pods with the smallest values go first; descending: those with the largest.',
    default: BUILT_IN.deletionOrder,
  },
  'spec.podDeletionCost.source': { description: 'The data source that is asked.', default: BUILT_IN.source },
};
