import * as z from 'zod';
import {
  MAX_REQUIREMENTS,
  MAX_VALUES,
  apiVersion,
  dataSource,
  kind,
  labelName,
  objectName,
  positiveQuantity,
  promql,
  quantity,
  seconds,
} from './field-types.js';
import { MAX_REPLICAS } from '../../units/bounds.js';
import { BUILT_IN } from './presets.js';

const metricTarget = z.strictObject({
  type: z
    .enum(['Utilization', 'AverageValue', 'Value'])
    .optional()
    .meta({ description: 'Type of the target. Default: the type of the field that is set.' }),
  averageUtilization: z.int().min(1).max(MAX_REPLICAS).optional().meta({
    description:
      'Target for the average usage of Resource and ContainerResource metrics, in percent of the requests.',
  }),
  averageValue: positiveQuantity
    .optional()
    .meta({ description: 'Target for the average value per pod, as a quantity.' }),
  value: positiveQuantity.optional().meta({
    description: 'Target for the value of all pods together in Object and External metrics, as a quantity.',
  }),
});

/** `targetAverage...` are the target fields of autoscaling/v2beta1, which CHPA documents use. */
const resourceFields = {
  name: z.enum(['cpu', 'memory']).meta({ description: 'Name of the resource.' }),
  target: metricTarget.optional().meta({
    description: 'Target of the metric. Required unless a target in the form of autoscaling/v2beta1 is set.',
  }),
  targetAverageUtilization: z.int().min(1).max(MAX_REPLICAS).optional().meta({
    description: 'The field target.averageUtilization in the form of autoscaling/v2beta1.',
  }),
  targetAverageValue: positiveQuantity.optional().meta({
    description: 'The field target.averageValue in the form of autoscaling/v2beta1.',
  }),
};

const saturation = z.strictObject({
  served: z
    .strictObject({
      query: promql.meta({
        description:
          'PromQL query that returns one series with the served load, such as requests per second.',
      }),
    })
    .meta({
      description: 'Served load. A step adds pods only if the served load has grown since the last step.',
    }),
  factor: z.number().min(1.1).max(10).optional().meta({
    description: 'Factor by which a step multiplies the number of ready pods to get the replicas.',
    default: BUILT_IN.saturationFactor,
  }),
});
const SATURATION = {
  description:
    'Scale-up step for cpu: the replicas become a multiple of the ready pods. The step is made after the usage has been at the cpu limits of the pods for half of podStart. Default: no step.',
};

const labelSelector = z.strictObject({
  matchLabels: z
    .record(z.string(), z.string())
    .optional()
    .meta({ description: 'Labels with the values that a series must have.' }),
  matchExpressions: z
    .array(
      z.strictObject({
        key: z.string().min(1).meta({ description: 'Name of the label.' }),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']).meta({
          description: 'Relation between the label and values.',
        }),
        values: z.array(z.string()).max(MAX_VALUES).optional().meta({
          description:
            'Values of the label. Required for the operators In and NotIn, not allowed for other operators.',
        }),
      }),
    )
    .max(MAX_REQUIREMENTS)
    .optional()
    .meta({ description: 'Requirements on labels. A series must meet all of them.' }),
});

/** `query` is optional here. The rule `missing-query` requires it, with a message that says what to add. */
const queryFields = {
  metric: z
    .strictObject({
      name: z.string().min(1).optional().meta({
        description: 'Name of the metric. Default: the first metric name in the query.',
      }),
      selector: labelSelector.optional().meta({
        description: 'Label selector. Series of the result that do not match the selector are dropped.',
        default: {},
      }),
    })
    .optional()
    .meta({ description: 'Name of the metric and selector of its series.' }),
  query: promql.optional().meta({
    description:
      'PromQL query of the metric. Required. Variables: $namespace, $name, $pods and, with describedObject, $object.',
  }),
  source: dataSource,
  maxSampleAgeSeconds: seconds(0, 86_400).optional().meta({
    description:
      'Maximum age in seconds of the newest samples that may cause a scale-down. With 0, the age is not checked. Default: the maximum age of the data source.',
  }),
  target: metricTarget.meta({ description: 'Target of the metric.' }),
};

const missingPolicy = z.enum(['error', 'zero']).optional();

const autoCapacity = z.strictObject({
  mode: z.enum(['Observe', 'Use']).optional().meta({
    description:
      'Observe: the capacity is only explained and exported; Use: the capacity replaces target.averageValue.',
    default: BUILT_IN.capacityMode,
  }),
  served: z
    .strictObject({
      query: promql.meta({
        description:
          'PromQL query of the load that is served without errors, in the unit of the query of the metric.',
      }),
    })
    .meta({ description: 'Served load.' }),
  errors: z
    .strictObject({
      query: promql.meta({ description: 'PromQL query of the errors, in the unit of the served load.' }),
    })
    .optional()
    .meta({
      description:
        'Errors. Times with errors above 1 percent of the served load are excluded from the measurement.',
    }),
});

const totalFields = {
  ...queryFields,
  activation: z
    .strictObject({
      above: quantity.meta({
        description:
          'Threshold. While the value of the metric is above this threshold, the target has at least 1 replica.',
      }),
    })
    .optional()
    .meta({
      description: 'Threshold for scaling between 0 and 1 replicas. It applies only if minReplicas is 0.',
    }),
  onMissing: missingPolicy.meta({
    description:
      'Effect of an empty result. error: the metric has no value, and the scaler does not scale down; zero: the metric has the value 0.',
    default: BUILT_IN.missingPolicy,
  }),
  onNaN: missingPolicy.meta({
    description:
      'Effect of a result with only NaN. error: the metric has no value, and the scaler does not scale down; zero: the metric has the value 0.',
    default: BUILT_IN.missingPolicy,
  }),
  guard: promql.optional().meta({
    description:
      'PromQL query that must be true. While the query is not true, the metric counts as missing, even with onMissing: zero.',
  }),
  freshness: z
    .strictObject({
      query: promql.meta({
        description: 'PromQL query that returns the Unix time of the newest sample, in seconds.',
      }),
      maxAgeSeconds: seconds(1, 86_400).meta({
        description: 'Maximum age of the newest sample at the evaluation of the query, in seconds.',
      }),
    })
    .optional()
    .meta({
      description:
        'Maximum age of the data. A metric with older data counts as missing, even with onMissing: zero.',
    }),
  backlog: z
    .strictObject({
      query: promql.meta({
        description: 'PromQL query of the waiting work. The values of the series are added up.',
      }),
      drainSeconds: seconds(1, 86_400).meta({
        description: 'Seconds in which the pods are to process the backlog, in addition to new work.',
      }),
    })
    .optional()
    .meta({
      description:
        'Waiting work, for a metric whose query returns the rate at which work arrives. backlog / drainSeconds is added to this rate. Without a value of the backlog, the metric has no value.',
    }),
  capacity: z
    .strictObject({
      query: promql.optional().meta({
        description:
          'PromQL query that returns one series with the load that one pod carries, in the unit of the query of the metric.',
      }),
      auto: autoCapacity.optional().meta({
        description:
          'Measures once an hour the highest load that a ready pod has served within the last 3 days. It is an alternative to the field query.',
      }),
    })
    .optional()
    .meta({
      description:
        'Measured capacity of one pod, by query or auto. It replaces target.averageValue while the capacity has a value.',
    }),
};

const describedObject = z.strictObject({
  apiVersion: apiVersion.optional().meta({
    description: 'GROUP/VERSION of the object.',
    default: BUILT_IN.targetApiVersion,
  }),
  kind: kind.optional().meta({ description: 'Kind of the object.', default: BUILT_IN.targetKind }),
  name: objectName.meta({ description: 'Name of the object.' }),
});

/** One entry of `metrics`. rules/metric-form-rules.ts checks that exactly one type is set. */
export const metric = z.strictObject({
  type: z.enum(['Resource', 'ContainerResource', 'Pods', 'Object', 'External']).optional().meta({
    description: 'Type of the metric. Default: the type of the field that is set.',
  }),
  resource: z
    .strictObject({ ...resourceFields, saturation: saturation.optional().meta(SATURATION) })
    .optional()
    .meta({ description: 'CPU or memory usage of whole pods.' }),
  containerResource: z
    .strictObject({
      ...resourceFields,
      container: labelName.meta({ description: 'Name of the container.' }),
    })
    .optional()
    .meta({ description: 'CPU or memory usage of one container of each pod.' }),
  pods: z.strictObject(queryFields).optional().meta({
    description: 'A query that returns one series per pod, with the label pod.',
  }),
  object: z
    .strictObject({
      describedObject: describedObject.optional().meta({
        description:
          'Object that the metric describes. The variable $object contains the name of this object.',
      }),
      ...totalFields,
    })
    .optional()
    .meta({ description: 'A query that returns exactly one series.' }),
  external: z
    .strictObject(totalFields)
    .optional()
    .meta({ description: 'A query. The values of its series are added up.' }),
});

export type MetricTargetInput = z.infer<typeof metricTarget>;
export type LabelSelectorInput = z.infer<typeof labelSelector>;
