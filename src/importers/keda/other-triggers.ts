import { stringLiteral } from '../../promql/quoting.js';
import { PLACEHOLDER } from '../../scaler/read/parse-scaler.js';
import { formatValue } from '../../scaler/problems/finding.js';
import { defined } from '../draft/draft.js';
import { readQuantity } from '../manifest/fields.js';
import {
  ACTIVATION,
  type ActivationStep,
  type ReadTrigger,
  type Trigger,
  metadataFlag,
  metadataText,
  offMetric,
  readActivation,
  remarkOnEnvironment,
  remarkOnRest,
} from './trigger.js';

export function readResource(trigger: Trigger): ReadTrigger {
  const { metadata, path } = trigger;
  const container = metadataText(metadata, 'containerName');
  const written = metadataText(metadata, 'type');
  const value = metadataText(metadata, 'value');
  remarkOnRest(metadata);
  const isAverage = (trigger.metricType ?? written) === 'AverageValue';
  const quantity = readQuantity(value);
  const target = isAverage ? { averageValue: quantity } : { averageUtilization: quantity };
  const body = defined({ name: trigger.type, container, target: defined(target) });
  if (quantity === undefined)
    metadata.log.lose([...metadata.path, 'value'], `is ${formatValue(value)}. FILL IN the target`);
  const member = container === undefined ? 'resource' : 'containerResource';
  return {
    list: 'metrics',
    item: { value: { [member]: body }, from: path, isOff: quantity === undefined },
  };
}

/** Converts a cron trigger to a schedule, whose `minReplicas` applies while the trigger is active. */
export function readCron(trigger: Trigger, maxReplicas: number): ReadTrigger {
  const { metadata, path } = trigger;
  const start = metadataText(metadata, 'start');
  const end = metadataText(metadata, 'end');
  const timeZone = metadataText(metadata, 'timezone');
  const desired = Number(metadataText(metadata, 'desiredReplicas') ?? NaN);
  remarkOnRest(metadata);
  const isValid = Number.isSafeInteger(desired) && start !== undefined && end !== undefined;
  if (!isValid)
    metadata.log.lose(metadata.path, 'is not a complete cron trigger. FILL IN the missing fields');
  if (desired > maxReplicas)
    metadata.log.lose(
      [...metadata.path, 'desiredReplicas'],
      `is ${desired}, above the maximum; ${maxReplicas} is used`,
    );
  const value = defined({
    name: scheduleName(trigger),
    start,
    end,
    timeZone: timeZone === 'UTC' ? undefined : timeZone,
    minReplicas: Number.isSafeInteger(desired) ? Math.min(desired, maxReplicas) : PLACEHOLDER,
  });
  return { list: 'schedules', item: { value, from: path, isOff: !isValid } };
}

function scheduleName({ name, index }: Trigger): string {
  return name !== null && /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(name) ? name : `cron-${index}`;
}

interface Example {
  /** The field of the metadata that contains the target. */
  readonly target: string;
  /** The metrics whose values are added up. */
  readonly metrics: readonly string[];
  /** Labels that identify a queue, if several exporters may report the same queue. Unset: all series are added up. */
  readonly onceBy?: string;
  /** Labels, each with the field of the metadata that contains its value. */
  readonly labels: readonly (readonly [label: string, field: string])[];
  /** A boolean setting that is true by default. If it is true, the metric is added to the sum. */
  readonly optional?: { readonly field: string; readonly metric: string };
  /** A setting that changes what the trigger measures. The query is only right if the setting has this value. */
  readonly only?: { readonly field: string; readonly value: string };
  /** Whether the exporter returns a negative number for an unknown value, which would reduce the sum. */
  readonly mayBeNegative?: boolean;
  readonly remark?: string;
}

/** Maps the type of a trigger to a query for an exporter. docs/guides/queues.md contains the same queries. */
const EXAMPLES: Readonly<Record<string, Example>> = {
  kafka: {
    target: 'lagThreshold',
    metrics: ['kafka_consumergroup_lag'],
    labels: [
      ['consumergroup', 'consumerGroup'],
      ['topic', 'topic'],
    ],
    // kafka_exporter returns -1 for a partition that has no committed offset.
    mayBeNegative: true,
    remark: 'maxReplicas must not exceed the number of partitions: further consumers stay idle.',
  },
  rabbitmq: {
    target: 'value',
    // In the other modes, the trigger measures the rate of messages.
    only: { field: 'mode', value: 'QueueLength' },
    metrics: ['rabbitmq_detailed_queue_messages'],
    onceBy: 'vhost, queue',
    labels: [
      ['vhost', 'vhostName'],
      ['queue', 'queueName'],
    ],
  },
  'aws-sqs-queue': {
    target: 'queueLength',
    metrics: ['aws_sqs_approximate_number_of_messages_visible_average'],
    optional: {
      field: 'scaleOnInFlight',
      metric: 'aws_sqs_approximate_number_of_messages_not_visible_average',
    },
    onceBy: 'dimension_QueueName',
    labels: [['dimension_QueueName', 'queueURL']],
  },
  redis: { target: 'listLength', metrics: ['redis_key_size'], labels: [['key', 'listName']] },
};

const DEPTH =
  'The backlog grows while pods start, and then requests even more pods. If pods start slowly, query the rate of new messages, ' +
  'with the rate of one pod as averageValue, and move this query to backlog.query.';

/**
 * Settings that may be unset. If a setting is unset, the query has no matcher for it: without a topic, KEDA adds up all
 * topics of a consumer group.
 */
const OPTIONAL: ReadonlySet<string> = new Set(['topic', 'vhostName']);

/** Returns the example query with the values of the trigger. A missing value is replaced by the name of its setting. */
function exampleOf(
  { metrics, optional, onceBy, labels, mayBeNegative }: Example,
  metadata: Trigger['metadata'],
): string {
  const matchers = labels.flatMap(([label, field]) => {
    const text = metadataText(metadata, field);
    if (text === undefined || text === '') return OPTIONAL.has(field) ? [] : [`${label}="${field}"`];
    // The name is the last part of https://sqs.REGION.amazonaws.com/ACCOUNT/QUEUE.
    const value = field === 'queueURL' ? text.slice(text.lastIndexOf('/') + 1) : text;
    return [`${label}=${stringLiteral(value)}`];
  });
  const isOff = optional === undefined || metadataFlag(metadata, optional.field) === false;
  const sums = [...metrics, ...(isOff ? [] : [optional.metric])].map((metric) => {
    const selector = `${metric}{${matchers.join(', ')}}`;
    if (onceBy !== undefined) return `sum(max by (${onceBy}) (${selector}))`;
    return mayBeNegative === true ? `sum(clamp_min(${selector}, 0))` : `sum(${selector})`;
  });
  return sums.join(' + ');
}

/** Settings whose values may be printed. Others may be credentials, or addresses that contain credentials. */
const SHOWN: ReadonlySet<string> = new Set([
  'address',
  'addresses',
  'awsRegion',
  'bootstrapServers',
  'consumerGroup',
  'databaseIndex',
  'lagThreshold',
  'listLength',
  'listName',
  'mode',
  'offsetResetPolicy',
  'operation',
  'partitionLimitation',
  'pendingEntriesCount',
  'protocol',
  'queueLength',
  'queueName',
  'queueURL',
  'stream',
  'subscriptionName',
  'targetQueryValue',
  'topic',
  'value',
  'version',
  'vhostName',
]);

const MOST_SETTINGS = 20;

/** Returns a setting as text. A value with an @ is not shown, because it may be an address with a password. */
function formatSetting([key, value]: readonly [string, unknown]): string {
  const isShown = SHOWN.has(key) || ACTIVATION.test(key) || /^(?:true|false)$/.test(String(value));
  const text = formatValue(value);
  return isShown && !text.includes('@') ? `  ${key}: ${text}` : `  ${key} (not shown, may be a credential)`;
}

/** Returns a metric with a placeholder for a trigger of another system: the user must find an equivalent query. */
export function readUnsupported(trigger: Trigger, step: ActivationStep): ReadTrigger {
  const { type, name, metadata, authentication, path } = trigger;
  const known = Object.hasOwn(EXAMPLES, type) ? EXAMPLES[type] : undefined;
  const measured = known?.only === undefined ? undefined : metadataText(metadata, known.only.field);
  const example = measured === undefined || measured === known?.only?.value ? known : undefined;
  const query = example === undefined ? null : exampleOf(example, metadata);
  const threshold = example === undefined ? undefined : readQuantity(metadataText(metadata, example.target));
  const settings = [
    ...Object.entries(metadata.value).map(formatSetting),
    ...(authentication === null ? [] : [`  authenticationRef: ${formatValue(authentication)}`]),
  ];
  const lost = lostSettings(trigger, example, threshold !== undefined);
  const lines = [
    `FILL IN a query: the trigger ${formatValue(type)} does not read Prometheus${lost}`,
    ...(query === null ? [] : ['An exporter may provide the number, such as:', `  ${query}`]),
    ...(example?.remark === undefined ? [] : [example.remark]),
    ...(example === undefined ? [] : [DEPTH]),
    ...(settings.length === 0 ? [] : ['The settings of the trigger:', ...settings.slice(0, MOST_SETTINGS)]),
    ...(settings.length > MOST_SETTINGS ? [`and ${settings.length - MOST_SETTINGS} more`] : []),
  ];
  metadata.log.lose(path, lines.join('\n'));
  const thresholds = Object.keys(metadata.value).filter((key) => ACTIVATION.test(key));
  remarkOnEnvironment(metadata, thresholds);
  const activation = readActivation(
    metadata,
    thresholds.filter((key) => !key.endsWith('FromEnv')),
    step,
  );
  const average = trigger.metricType === 'Value' ? 'value' : 'averageValue';
  return offMetric(
    trigger,
    defined({
      metric: { name: name ?? (type === '' ? 'trigger' : type) },
      query: PLACEHOLDER,
      target: { [average]: threshold ?? PLACEHOLDER },
      activation,
    }),
  );
}

/**
 * Returns a clause about the settings that neither the metric nor the example query contains; empty: there are none.
 */
function lostSettings(
  { metadata, authentication }: Trigger,
  example: Example | undefined,
  isTargetRead: boolean,
): string {
  const read = [
    ...(example?.labels.map(([, field]) => field) ?? []),
    ...(example !== undefined && isTargetRead ? [example.target] : []),
    ...(example?.optional === undefined ? [] : [example.optional.field]),
  ];
  const lost = [
    ...Object.keys(metadata.value).filter((key) => !read.includes(key) && !ACTIVATION.test(key)),
    ...(authentication === null ? [] : ['authenticationRef']),
  ];
  return lost.length === 0 ? '' : `. Not carried over: ${lost.join(', ')}`;
}
