import { formatValue } from '../../scaler/problems/finding.js';
import { defined } from '../draft/draft.js';
import { readQuantity } from '../manifest/fields.js';
import { type ReadTrigger, type Trigger, metadataText, offMetric, remarkOnRest } from './trigger.js';

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

/** Converts a cron trigger to a schedule. `minReplicas` is a floor while it is active. */
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
    minReplicas: Number.isSafeInteger(desired) ? Math.min(desired, maxReplicas) : 'FILL IN',
  });
  return { list: 'schedules', item: { value, from: path, isOff: !isValid } };
}

function scheduleName({ name, index }: Trigger): string {
  return name !== null && /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/.test(name) ? name : `cron-${index}`;
}

/** By trigger type: an example query for Prometheus, and the metadata field with the target. */
const EXAMPLES: Readonly<Record<string, { readonly target: string; readonly query: string }>> = {
  kafka: {
    target: 'lagThreshold',
    query: 'sum(kafka_consumergroup_lag{consumergroup="GROUP", topic="TOPIC"})',
  },
  rabbitmq: { target: 'value', query: 'sum(rabbitmq_queue_messages_ready{queue="QUEUE"})' },
  'aws-sqs-queue': {
    target: 'queueLength',
    query: 'sum(aws_sqs_approximate_number_of_messages_visible_maximum{queue_name="QUEUE"})',
  },
  redis: { target: 'listLength', query: 'sum(redis_key_size{key="LIST"})' },
};

/** Settings whose values are printed. Others may be credentials, or addresses that contain credentials. */
const SHOWN: ReadonlySet<string> = new Set([
  'activationLagThreshold',
  'consumerGroup',
  'lagThreshold',
  'listLength',
  'listName',
  'mode',
  'queueLength',
  'queueName',
  'stream',
  'subscriptionName',
  'targetQueryValue',
  'topic',
  'value',
]);

/** Comments out a trigger that reads another system: its value must come from Prometheus. */
export function readUnsupported(trigger: Trigger, canBeZero: boolean): ReadTrigger {
  const { type, name, metadata, path } = trigger;
  const example = Object.hasOwn(EXAMPLES, type) ? EXAMPLES[type] : undefined;
  const threshold = example === undefined ? undefined : readQuantity(metadataText(metadata, example.target));
  const settings = Object.entries(metadata.value).map(([key, value]) =>
    SHOWN.has(key) ? `  ${key}: ${formatValue(value)}` : `  ${key}`,
  );
  const lines = [
    `FILL IN a query: the trigger ${formatValue(type)} does not read Prometheus`,
    ...(example === undefined ? [] : ['An exporter may provide the number, such as:', `  ${example.query}`]),
    ...(settings.length === 0 ? [] : ['The settings of the trigger:', ...settings.slice(0, 20)]),
  ];
  metadata.log.lose(path, lines.join('\n'));
  const average = trigger.metricType === 'Value' ? 'value' : 'averageValue';
  return offMetric(
    trigger,
    defined({
      metric: { name: name ?? (type === '' ? 'trigger' : type) },
      query: 'FILL IN',
      target: { [average]: threshold ?? 'FILL IN' },
      activation: canBeZero ? { above: 0 } : undefined,
    }),
  );
}
