import { describe, expect, it } from '@jest/globals';
import { importOne } from './importing.js';
import { readScalers } from '../../src/scaler/read/read-scalers.js';
import { prometheus, scaledObject, triggers } from './scaled-objects.js';

const imported = (trigger: string, fields = ''): ReturnType<typeof importOne> =>
  importOne(scaledObject(`${fields}${triggers(trigger)}`));

describe('the activation threshold of a trigger of another system', () => {
  it.each([
    ['kafka', 'activationLagThreshold: "3", lagThreshold: "5"', '3'],
    ['apache-kafka', 'activationLagThreshold: "3"', '3'],
    ['rabbitmq', 'activationValue: "7", value: "20"', '7'],
    ['redis', 'activationListLength: "2"', '2'],
    ['redis-streams', 'activationLagCount: "2"', '2'],
    ['aws-sqs-queue', 'activationQueueLength: "4"', '4'],
    ['azure-servicebus', 'activationMessageCount: 9', '9'],
    ['postgresql', 'activationTargetQueryValue: "1.5"', "'1.5'"],
    ['mysql', 'activationQueryValue: 0', '0'],
    ['kafka', 'lagThreshold: "5"', '0'],
  ])('%s with %s is above: %s', (type, metadata, above) => {
    const { lost, text } = imported(`{ type: ${type}, metadata: { ${metadata} } }`);

    expect(lost).toHaveLength(1);
    expect(text).toContain(`activation:\n          above: ${above}\n`);
    const [, key, value] = /(activation\w+): "?([\d.]+)/.exec(metadata) ?? [];
    if (key !== undefined) expect(text).toMatch(new RegExp(`#   ${key}: "?${value ?? ''}"?\n`));
  });

  it.each([
    ['activationLagThreshold: soon', 'is "soon", must be a quantity of at least 0; 0 is used'],
    ['activationLagThreshold: "-1"', 'is "-1", must be a quantity of at least 0; 0 is used'],
    [
      'activationMessageCountTarget: "1", activationMessageSpoolUsageTarget: "2"',
      'is "2", but a metric of promscaler has one threshold. FILL IN activation.above, which is now 0',
    ],
    ['activationLagThresholdFromEnv: LAG', 'is read from the environment of the workload'],
  ])('that cannot be carried over is reported: %s', (metadata, expected) => {
    const { lost, text } = imported(`{ type: kafka, metadata: { ${metadata} } }`);

    expect(lost.join('\n')).toContain(expected);
    expect(text).toContain('above: 0');
  });

  it('of a prometheus trigger is reported if it is invalid', () => {
    const { lost } = imported(prometheus(', activationThreshold: many'));

    expect(lost).toEqual([
      'ScaledObject shop/worker: spec.triggers[0].metadata.activationThreshold is "many", must be a quantity of at least 0; 0 is used',
    ]);
  });

  it('of a trigger that has none is reported with its value', () => {
    const { lost } = imported(
      '{ type: cpu, metricType: Utilization, metadata: { value: "60", activationValue: "5" } }',
    );

    expect(lost).toHaveLength(1);
    expect(lost[0]).toContain('metadata.activationValue is "5", which has no equivalent');
  });

  it('of a formula is its activationTarget', () => {
    const formula = (more: string, fields = ''): string =>
      imported(
        prometheus('', 'name: a,'),
        `${fields}advanced: { scalingModifiers: { formula: a, target: "5"${more} } }\n`,
      ).text;

    expect(formula(', activationTarget: "2"')).toMatch(/query: FILL IN[^#]+above: 2\n/);
    expect(formula('')).toMatch(/query: FILL IN[^#]+above: 0\n/);
    expect(formula(', activationTarget: "2"', 'minReplicaCount: 1\n')).not.toMatch(
      /query: FILL IN[^#]+above/,
    );
  });
});

describe('a rabbitmq trigger', () => {
  it.each([
    ['', true],
    [', mode: QueueLength', true],
    [', mode: MessageRate', false],
    [', mode: DeliverGetRate', false],
  ])('has the depth of the queue as an example only if it measures that: %s', (mode, hasExample) => {
    const { text } = imported(`{ type: rabbitmq, metadata: { queueName: mail, value: "20"${mode} } }`);

    expect(text.includes('rabbitmq_detailed_queue_messages')).toBe(hasExample);
    expect(text.includes('averageValue: 20')).toBe(hasExample);
  });
});

describe('the settings of a trigger of another system', () => {
  const KAFKA = `{ type: kafka, authenticationRef: { name: sasl }, metadata: { bootstrapServers: "k:9092", consumerGroup: orders, topic: orders,
    lagThreshold: "5", limitToPartitionsWithLag: "true", sasl: plaintext, password: "12345" } }`;

  it('that are not carried over are named on standard error', () => {
    expect(imported(KAFKA).lost).toEqual([
      'ScaledObject shop/worker: spec.triggers[0]: FILL IN a query: the trigger "kafka" does not read Prometheus. Not carried over: bootstrapServers, limitToPartitionsWithLag, sasl, password, authenticationRef',
    ]);
  });

  it('have their values in the comment, unless they may contain credentials', () => {
    const { text } = imported(KAFKA);

    expect(text).toContain('#   bootstrapServers: "k:9092"\n');
    expect(text).toContain('#   limitToPartitionsWithLag: "true"\n');
    expect(text).toContain('#   password (not shown, may be a credential)\n');
    expect(text).not.toContain('12345');
    expect(imported('{ type: redis, metadata: { address: "u:p4ss@r:6379" } }').text).not.toContain('p4ss');
    expect(imported('{ type: rabbitmq, metadata: { host: "amqp://u:p4ss@r" } }').text).not.toContain('p4ss');
  });
});

describe('a ScaledObject with minReplicaCount 0 and one trigger to fill in', () => {
  it.each([
    ['another system', '{ type: kafka, metadata: { lagThreshold: "50" } }'],
    ['an invalid query', '{ type: prometheus, metadata: { query: "sum(", threshold: "3" } }'],
  ])('of %s keeps 0: the metric is External', (_, trigger) => {
    const { lost, text } = imported(trigger, 'minReplicaCount: 0\n');

    expect(lost).toHaveLength(1);
    expect(text).toContain('\n  minReplicas: 0\n');
  });

  it('is valid when the query is filled in', () => {
    const { text } = imported('{ type: kafka, metadata: { lagThreshold: "50" } }');
    const { scalers, problems } = readScalers(text.replace('FILL IN\n', 'sum(lag)\n'), 'out.yaml');

    expect(problems).toEqual([]);
    expect(scalers[0]?.document.spec).toMatchObject({
      minReplicas: 0,
      metrics: [{ external: { query: 'sum(lag)', activation: { above: 0 } } }],
    });
  });
});

it('the query for Kafka counts no negative lag, and a remark limits the replicas to the partitions', () => {
  const { text } = imported('{ type: kafka, metadata: { consumerGroup: g, topic: t } }');

  expect(text).toContain('#   sum(clamp_min(kafka_consumergroup_lag{consumergroup="g", topic="t"}, 0))\n');
  expect(text).toContain(
    '# maxReplicas must not exceed the number of partitions: further consumers stay idle.\n',
  );
});
