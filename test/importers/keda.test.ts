import { describe, expect, it } from '@jest/globals';
import { importOne } from './importing.js';
import { SERVER, prometheus, scaledObject, triggers } from './scaled-objects.js';

const METRIC = {
  query: 'sum(queue_depth)',
  target: { averageValue: 30 },
  onMissing: 'zero',
  onNaN: 'zero',
};

describe('a ScaledObject', () => {
  it('of one query has the defaults of KEDA: 0 to 100 replicas, and an empty result is 0', () => {
    const { spec, lost, text } = importOne(scaledObject(triggers(prometheus())));

    expect(lost).toEqual([]);
    expect(spec).toEqual({
      scaleTargetRef: { name: 'worker' },
      minReplicas: 0,
      maxReplicas: 100,
      metrics: [{ external: { ...METRIC, activation: { above: 0 } } }],
      cooldownSeconds: 0,
    });
    expect(text).toContain(`serverAddress is ${SERVER}: the data source default in`);
  });

  it('has bounds, windows, behavior and fallback', () => {
    const { spec, lost } = importOne(
      scaledObject(`minReplicaCount: 0
maxReplicaCount: 20
pollingInterval: 5
cooldownPeriod: 180
fallback: { failureThreshold: 4, replicas: 6 }
advanced:
  restoreToOriginalReplicaCount: false
  horizontalPodAutoscalerConfig:
    name: custom
    behavior: { scaleDown: { stabilizationWindowSeconds: 120 } }
${triggers(prometheus(', activationThreshold: "5", ignoreNullValues: "false"', 'name: depth,'))}`),
    );

    expect(lost).toEqual([]);
    expect(spec).toEqual({
      scaleTargetRef: { name: 'worker' },
      minReplicas: 0,
      maxReplicas: 20,
      metrics: [
        {
          external: {
            metric: { name: 'depth' },
            query: METRIC.query,
            target: METRIC.target,
            activation: { above: 5 },
          },
        },
      ],
      behavior: { scaleDown: { stabilizationWindowSeconds: 120 } },
      cooldownSeconds: 60,
      syncPeriodSeconds: 5,
      fallback: { afterSeconds: 60, replicas: 6, mode: 'exact' },
    });
  });

  // pkg/scalers/prometheus_scaler.go: ignoreNullValues is read with strconv.ParseBool
  it.each([
    ['', 'zero'],
    [', ignoreNullValues: "TRUE"', 'zero'],
    [', ignoreNullValues: "False"', undefined],
    [', ignoreNullValues: "0"', undefined],
    [', ignoreNullValues: "f"', undefined],
  ])('with the metadata "%s" treats no result and NaN as %s', (metadata, expected) => {
    const { spec } = importOne(scaledObject(triggers(prometheus(metadata))));
    const { metrics } = spec as { readonly metrics: readonly { readonly external: object }[] };

    expect({ onMissing: undefined, onNaN: undefined, ...metrics[0]?.external }).toMatchObject({
      onMissing: expected,
      onNaN: expected,
    });
  });

  it.each([
    [14, 14],
    [15, undefined],
    [30, undefined],
  ])('with a polling interval of %i s has the sync period %s', (polling, expected) => {
    const { spec, text } = importOne(scaledObject(`pollingInterval: ${polling}\n${triggers(prometheus())}`));

    expect((spec as { syncPeriodSeconds?: number }).syncPeriodSeconds).toBe(expected);
    expect(text.includes(`spec.pollingInterval is ${polling}`)).toBe(expected !== undefined);
  });

  it('above 0 replicas has neither activation nor a cooldown', () => {
    const { spec, lost, text } = importOne(
      scaledObject(
        `minReplicaCount: 1\ncooldownPeriod: 60\n${triggers(prometheus(', activationThreshold: "5"'))}`,
      ),
    );

    expect(lost).toEqual([]);
    expect(spec).toEqual({
      scaleTargetRef: { name: 'worker' },
      maxReplicas: 100,
      metrics: [{ external: METRIC }],
    });
    expect(text).toContain(
      'spec.cooldownPeriod is 60, which has no effect: KEDA applies it only to the step to 0 replicas.',
    );
    expect(text).toContain(
      'spec.triggers[0].metadata.activationThreshold is "5", which has no effect: KEDA applies it only with',
    );
  });

  it.each([
    ['a target for all pods', 'metricType: Value,', { value: 30 }],
    ['a target per pod', 'metricType: AverageValue,', { averageValue: 30 }],
    ['no type', '', { averageValue: 30 }],
  ])('has %s', (_, rest, target) => {
    expect(importOne(scaledObject(triggers(prometheus('', rest)))).spec).toMatchObject({
      metrics: [{ external: { target } }],
    });
  });

  it.each([
    [
      '{ type: cpu, metricType: Utilization, metadata: { value: "60" } }',
      { resource: { name: 'cpu', target: { averageUtilization: 60 } } },
    ],
    [
      '{ type: memory, metricType: AverageValue, metadata: { value: 500Mi } }',
      { resource: { name: 'memory', target: { averageValue: '500Mi' } } },
    ],
    [
      '{ type: cpu, metadata: { type: Utilization, value: "60" } }',
      { resource: { name: 'cpu', target: { averageUtilization: 60 } } },
    ],
    [
      '{ type: cpu, metricType: Utilization, metadata: { value: "60", containerName: app } }',
      { containerResource: { name: 'cpu', container: 'app', target: { averageUtilization: 60 } } },
    ],
  ])('has the trigger %s as a metric, and at least one replica', (trigger, metric) => {
    const { spec, lost } = importOne(scaledObject(triggers(trigger)));

    expect(lost).toEqual([]);
    expect(spec).toEqual({ scaleTargetRef: { name: 'worker' }, maxReplicas: 100, metrics: [metric] });
  });

  it('has a cron trigger as a schedule, next to other metrics', () => {
    const cron =
      '{ type: cron, metadata: { timezone: Europe/Warsaw, start: 0 8 * * 1-5, end: 0 18 * * 1-5, desiredReplicas: "10" } }';
    const { spec, lost } = importOne(scaledObject(triggers(prometheus(), cron)));

    expect(lost).toEqual([]);
    expect(spec).toMatchObject({
      metrics: [{ external: METRIC }],
      schedules: [
        {
          name: 'cron-1',
          start: '0 8 * * 1-5',
          end: '0 18 * * 1-5',
          timeZone: 'Europe/Warsaw',
          minReplicas: 10,
        },
      ],
    });
  });

  it('of cron triggers only has a metric of 0, so that it does not scale on CPU', () => {
    const cron =
      '{ type: cron, metadata: { timezone: UTC, start: 0 8 * * *, end: 0 18 * * *, desiredReplicas: "10" } }';
    const { spec } = importOne(scaledObject(triggers(cron)));

    expect(spec).toMatchObject({
      minReplicas: 0,
      metrics: [{ external: { metric: { name: 'idle' }, query: 'vector(0)', activation: { above: 0 } } }],
      schedules: [{ minReplicas: 10 }],
    });
  });

  it.each([
    ['paused', '"true"', { paused: true }],
    ['paused', '"false"', {}],
    // apis/keda/v1alpha1/scaledobject_types.go, getBoolAnnotation: strconv.ParseBool, and any other text is true
    ['paused', '"1"', { paused: true }],
    ['paused', '"F"', {}],
    ['paused', '"yes"', { paused: true }],
    ['paused', '""', { paused: true }],
    ['paused-scale-in', '"true"', { paused: 'scale-down' }],
    ['paused-scale-out', '"true"', { paused: 'scale-up' }],
  ])('with the annotation %s: %s', (name, value, expected) => {
    const annotations = `{ autoscaling.keda.sh/${name}: ${value}, validations.keda.sh/hpa-ownership: "true" }`;
    const { spec, lost, text } = importOne(scaledObject(triggers(prometheus()), { annotations }));

    expect(lost).toEqual([]);
    expect({ paused: undefined, ...(spec as object) }).toMatchObject({ paused: undefined, ...expected });
    expect(text).not.toContain('keda.sh/hpa-ownership');
  });

  it.each([
    ['static', { afterSeconds: 45, replicas: 6, mode: 'exact' }],
    ['currentReplicasIfHigher', { afterSeconds: 45, replicas: 6, mode: 'currentReplicasIfHigher' }],
    ['currentReplicas', undefined],
  ])('with the fallback behavior %s', (behavior, expected) => {
    const fallback = `fallback: { failureThreshold: 3, replicas: 6, behavior: ${behavior} }`;
    const { spec, lost } = importOne(scaledObject(`${fallback}\n${triggers(prometheus())}`));

    expect(lost).toEqual([]);
    expect((spec as { fallback?: unknown }).fallback).toEqual(expected);
  });

  it('of KEDA 1 names its Deployment in another field', () => {
    const text = scaledObject(triggers(prometheus()))
      .replace('keda.sh', 'keda.k8s.io')
      .replace('{ name: worker }', '{ deploymentName: worker }');

    expect(importOne(text).spec).toMatchObject({ scaleTargetRef: { name: 'worker' } });
  });
});

describe('settings of a ScaledObject without an equivalent', () => {
  it.each([
    [
      'initialCooldownPeriod',
      'initialCooldownPeriod: 60\n',
      'spec.initialCooldownPeriod is 60, which has no equivalent',
    ],
    [
      'idleReplicaCount',
      'minReplicaCount: 2\nidleReplicaCount: 0\n',
      'spec.idleReplicaCount is 0: promscaler has no separate count',
    ],
    [
      'restoreToOriginalReplicaCount',
      'advanced: { restoreToOriginalReplicaCount: true }\n',
      'spec.advanced.restoreToOriginalReplicaCount is true',
    ],
    [
      'an unknown field',
      'maxReplicas: 5\n',
      'spec.maxReplicas is not a known field; the field is not carried over',
    ],
    [
      'a fallback below the minimum',
      'minReplicaCount: 3\nfallback: { failureThreshold: 3, replicas: 2 }\n',
      'spec.fallback.replicas is 2, outside of 3 to 100; 3 is used',
    ],
    [
      'an incomplete fallback',
      'fallback: { replicas: 2 }\n',
      'spec.fallback is not carried over, because failureThreshold or replicas is missing',
    ],
    [
      'another fallback',
      'fallback: { failureThreshold: 3, replicas: 2, behavior: currentReplicasIfLower }\n',
      'spec.fallback.behavior is currentReplicasIfLower, which has no equivalent',
    ],
  ])('%s', (_, fields, expected) => {
    const { lost, scaler } = importOne(scaledObject(`${fields}${triggers(prometheus())}`));

    expect(lost).toHaveLength(1);
    expect(lost[0]).toContain(`ScaledObject shop/worker: ${expected}`);
    expect(scaler).not.toBeNull();
  });

  it.each([
    [
      'authentication',
      prometheus(
        ', authModes: bearer',
        'authenticationRef: { name: token, kind: ClusterTriggerAuthentication },',
      ),
      [
        'spec.triggers[0].authenticationRef is token: configure authentication in the data source prometheus.default of the service config',
        'spec.triggers[0].metadata.authModes is a setting of the data source: set bearerTokenFile',
      ],
    ],
    [
      'headers',
      prometheus(', customHeaders: X-Scope-OrgID=a'),
      ['spec.triggers[0].metadata.customHeaders is a setting of the data source: set headers'],
    ],
    [
      'parameters of the URL, which a data source does not have',
      prometheus(', queryParameters: a=b, namespace: shop'),
      [
        'spec.triggers[0].metadata.namespace is a part of the URL of each query, but prometheus.default of the service config has no field',
        'spec.triggers[0].metadata.queryParameters is a part of the URL of each query, but prometheus.default',
      ],
    ],
    ['an unknown setting', prometheus(', foo: bar'), ['spec.triggers[0].metadata.foo is not a known field']],
    [
      'the environment',
      prometheus(', serverAddressFromEnv: URL'),
      ['spec.triggers[0].metadata.serverAddressFromEnv is read from the environment'],
    ],
  ])('%s of a trigger, whose metric stays in effect', (_, trigger, expected) => {
    const { lost, spec } = importOne(scaledObject(triggers(trigger)));

    expect(lost).toHaveLength(expected.length);
    expected.forEach((text, index) => expect(lost[index]).toContain(text));
    expect(spec).toMatchObject({ metrics: [{ external: METRIC }] });
    expect(spec).not.toHaveProperty('paused');
  });

  it.each([
    [
      'another type',
      '{ type: kafka, metadata: { bootstrapServers: "k:9092", lagThreshold: "50" } }',
      'FILL IN a query: the trigger "kafka" does not read Prometheus',
    ],
    [
      'no query',
      `{ type: prometheus, metadata: { serverAddress: ${SERVER}, threshold: "3" } }`,
      'FILL IN the query',
    ],
    ['no threshold', `{ type: prometheus, metadata: { query: a } }`, 'FILL IN the threshold'],
    [
      'a query that is not PromQL',
      `{ type: prometheus, metadata: { query: "sum(", threshold: "3" } }`,
      'is commented out',
    ],
    [
      'a query with a dollar',
      `{ type: prometheus, metadata: { query: 'a{b=~"$name"}', threshold: "3" } }`,
      'the query contains $name, which would be a variable',
    ],
    [
      'an incomplete cron',
      '{ type: cron, metadata: { start: 0 8 * * *, desiredReplicas: "3" } }',
      'is not a complete cron trigger',
    ],
    [
      'a cron of six fields',
      '{ type: cron, metadata: { start: 0 0 8 * * *, end: 0 0 9 * * *, desiredReplicas: "3" } }',
      'is commented out',
    ],
    [
      'an unknown time zone',
      '{ type: cron, metadata: { timezone: Mars, start: 0 8 * * *, end: 0 9 * * *, desiredReplicas: "3" } }',
      'is commented out',
    ],
    ['a cpu trigger without a target', '{ type: cpu, metadata: {} }', 'FILL IN the target'],
  ])(
    'a trigger with %s has a placeholder, or is commented out with one, which validate rejects',
    (_, trigger, expected) => {
      const { lost, spec, text } = importOne(
        scaledObject(`minReplicaCount: 1\n${triggers(prometheus(), trigger)}`),
      );

      expect(lost).toHaveLength(1);
      expect(lost[0]).toContain(expected);
      expect(spec).toMatchObject({ metrics: [{ external: METRIC }] });
      expect(text).toMatch(/^ +(?:paused|query|averageValue): FILL IN$/m);
    },
  );

  it('fills in what is known of a trigger of another system', () => {
    const exampleOf = (trigger: string): string =>
      /# +(sum\(.*)/.exec(importOne(scaledObject(`minReplicaCount: 1\n${triggers(trigger)}`)).text)?.[1] ??
      '';
    const kafka = (more: string): string =>
      `{ type: kafka, metadata: { consumerGroup: 'a"b', lagThreshold: "50"${more} } }`;

    expect(exampleOf(kafka(', topic: orders'))).toBe(
      'sum(clamp_min(kafka_consumergroup_lag{consumergroup="a\\"b", topic="orders"}, 0))',
    );
    expect(exampleOf(kafka(''))).toBe('sum(clamp_min(kafka_consumergroup_lag{consumergroup="a\\"b"}, 0))');
    expect(exampleOf('{ type: rabbitmq, metadata: { queueName: jobs } }')).toContain('{queue="jobs"}');
    expect(exampleOf('{ type: redis, metadata: {} }')).toContain('{key="listName"}');
  });

  it.each([
    ['', true],
    [', scaleOnInFlight: "true"', true],
    [', scaleOnInFlight: "false"', false],
  ])('counts the messages of SQS in flight as KEDA does: %j', (more, isCounted) => {
    const trigger = `{ type: aws-sqs-queue, metadata: { queueURL: https://sqs.x/1/jobs, queueLength: "5"${more} } }`;

    const { lost, text } = importOne(scaledObject(`minReplicaCount: 1\n${triggers(trigger)}`));

    expect(text).toContain('="jobs"}');
    expect(text.includes('messages_not_visible')).toBe(isCounted);
    expect(lost.join('\n')).not.toContain('Not carried over');
  });

  it('a formula replaces all triggers', () => {
    const { lost, spec, text } = importOne(
      scaledObject(
        `advanced: { scalingModifiers: { formula: a + b, target: "5" } }\n${triggers(prometheus('', 'name: a,'), prometheus('', 'name: b,'))}`,
      ),
    );

    expect(lost[0]).toContain('FILL IN one query that computes "a + b"');
    expect(spec).not.toHaveProperty('metrics');
    expect(text).toContain('#     query: sum(queue_depth)');
  });
});
