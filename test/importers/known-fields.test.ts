import { describe, expect, it } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { isPlainObject, without } from '../../src/scaler/plain-json.js';
import { type Path, formatPath } from '../../src/scaler/problems/finding.js';
import { importAll, importOne } from './importing.js';
import { prometheus, scaledObject, triggers } from './scaled-objects.js';

/** A `behavior` with a value that is not the default in each field. */
const BEHAVIOR = `
scaleUp:
  stabilizationWindowSeconds: 30
  selectPolicy: Min
  tolerance: 50m
  policies: [{ type: Pods, value: 3, periodSeconds: 45 }]
scaleDown:
  stabilizationWindowSeconds: 120
  selectPolicy: Min
  tolerance: 50m
  policies: [{ type: Percent, value: 20, periodSeconds: 90 }]`;

const SELECTOR = '{ matchLabels: { a: b }, matchExpressions: [{ key: c, operator: In, values: [d] }] }';

// Source: staging/src/k8s.io/api/autoscaling/v2/types.go
const HPA = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web, namespace: shop, labels: { team: a }, annotations: { note: b } }
spec:
  scaleTargetRef: { apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: web }
  minReplicas: 2
  maxReplicas: 20
  behavior: ${BEHAVIOR.replace(/^/gm, '    ')}
  metrics:
    - { type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 60 } } }
    - type: ContainerResource
      containerResource: { name: memory, container: app, target: { type: AverageValue, averageValue: 1Gi } }
    - type: Pods
      pods: { metric: { name: rps, selector: ${SELECTOR} }, target: { type: AverageValue, averageValue: 5 } }
    - type: Object
      object:
        describedObject: { apiVersion: networking.k8s.io/v1, kind: Ingress, name: main }
        metric: { name: hits, selector: ${SELECTOR} }
        target: { type: Value, value: 7 }
    - type: External
      external: { metric: { name: depth, selector: ${SELECTOR} }, target: { type: Value, value: 9 } }
`;

// Source: pkg/apis/autoscalers/v1beta1/chpa_types.go of the Configurable HPA
const CHPA = `
apiVersion: autoscalers.postmates.com/v1beta1
kind: CHPA
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: web }
  minReplicas: 2
  maxReplicas: 20
  tolerance: 0.2
  scaleUpLimitFactor: 3
  scaleUpLimitMinimum: 5
  upscaleForbiddenWindowSeconds: 120
  downscaleForbiddenWindowSeconds: 240
  metrics:
    - { type: Resource, resource: { name: cpu, targetAverageUtilization: 70 } }
    - { type: Resource, resource: { name: memory, targetAverageValue: 1Gi } }
    - { type: Pods, pods: { metricName: rps, targetAverageValue: 5, selector: ${SELECTOR} } }
    - type: Object
      object:
        target: { apiVersion: networking.k8s.io/v1, kind: Ingress, name: main }
        metricName: hits
        targetValue: 7
        selector: ${SELECTOR}
    - { type: External, external: { metricName: depth, metricSelector: ${SELECTOR}, targetValue: 9 } }
`;

// Source: apis/datadoghq/v1alpha1/watermarkpodautoscaler_types.go
const WPA = `
apiVersion: datadoghq.com/v1alpha1
kind: WatermarkPodAutoscaler
metadata: { name: web, namespace: shop, annotations: { wpa.datadoghq.com/lifecycle-control.enabled: 'true' } }
spec:
  scaleTargetRef: { apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: web }
  minReplicas: 2
  maxReplicas: 20
  algorithm: average
  dryRun: true
  tolerance: 50m
  tolerateZero: true
  readinessDelaySeconds: 15
  scaleUpLimitFactor: '30'
  scaleDownLimitFactor: '10'
  upscaleForbiddenWindowSeconds: 90
  downscaleForbiddenWindowSeconds: 400
  upscaleDelayAboveWatermarkSeconds: 10
  downscaleDelayBelowWatermarkSeconds: 20
  replicaScalingAbsoluteModulo: 2
  convergeTowardsWatermark: highwatermark
  minAvailableReplicaPercentage: 50
  recommender: { url: https://example.com, targetType: cpu }
  metrics:
    - { type: Resource, resource: { name: cpu, lowWatermark: 400m, highWatermark: 600m, metricSelector: ${SELECTOR} } }
    - { type: External, external: { metricName: depth, lowWatermark: 4, highWatermark: 6, metricSelector: ${SELECTOR} } }
`;

// Source: apis/keda/v1alpha1/scaledobject_types.go, scaletriggers_types.go and pkg/scalers of KEDA
const scaledObjectWith = (minReplicaCount: number, trigger: string): string => `
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: web }
  ${minReplicaCount === 0 ? '' : `minReplicaCount: ${minReplicaCount}`}
  maxReplicaCount: 20
  triggers:
    - { type: prometheus, metadata: { serverAddress: http://p, query: sum(a), threshold: '5' } }
    - ${trigger}
`;

const SCALED_OBJECT = `
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: web
  namespace: shop
  annotations: { autoscaling.keda.sh/paused-scale-in: 'true', autoscaling.keda.sh/force-activation: 'true' }
spec:
  scaleTargetRef: { apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: web, envSourceContainerName: app }
  minReplicaCount: 2
  maxReplicaCount: 20
  idleReplicaCount: 1
  pollingInterval: 10
  cooldownPeriod: 60
  initialCooldownPeriod: 30
  fallback: { failureThreshold: 3, replicas: 6, behavior: currentReplicasIfHigher }
  advanced:
    restoreToOriginalReplicaCount: true
    horizontalPodAutoscalerConfig:
      name: own
      behavior: ${BEHAVIOR.replace(/^/gm, '        ')}
  triggers:
    - { type: prometheus, metadata: { serverAddress: http://p, query: sum(a), threshold: '5' } }
`;

const FORMULA = `
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { name: web }
  advanced: { scalingModifiers: { formula: a + b, target: '5', activationTarget: '2', metricType: Value } }
  triggers:
    - { type: prometheus, name: a, metadata: { serverAddress: http://p, query: sum(x), threshold: '5' } }
    - { type: prometheus, name: b, metadata: { serverAddress: http://p, query: sum(y), threshold: '5' } }
`;

const CRON = '{ start: 0 8 * * 1-5, end: 0 18 * * 1-5, timezone: Europe/Warsaw, desiredReplicas: "10" }';

const TRIGGERS: Readonly<Record<string, string>> = {
  prometheus: `{ type: prometheus, name: p, metricType: Value, useCachedMetrics: true,
      authenticationRef: { name: token, kind: ClusterTriggerAuthentication },
      metadata: { serverAddress: http://q, query: sum(b), threshold: '5', activationThreshold: '2', metricName: old,
        namespace: b, customHeaders: a=b, cortexOrgID: o, queryParameters: a=b, unsafeSsl: 'true', timeout: '5',
        authModes: bearer, awsRegion: eu, identityOwner: operator, ignoreNullValues: 'false' } }`,
  cpu: `{ type: cpu, name: c, metricType: AverageValue, metadata: { type: Utilization, value: '60', containerName: app, activationValue: '5' } }`,
  memory: `{ type: memory, metadata: { type: AverageValue, value: 1Gi, containerName: app } }`,
  cron: `{ type: cron, name: day, metadata: ${CRON} }`,
  kafka: `{ type: kafka, name: k, metricType: Value, authenticationRef: { name: token }, metadata: { bootstrapServers: k:9092,
      version: 2.0.0, consumerGroup: g, topic: t, partitionLimitation: 1-3, lagThreshold: '50', activationLagThreshold: '5',
      offsetResetPolicy: latest, allowIdleConsumers: 'true', excludePersistentLag: 'true',
      limitToPartitionsWithLag: 'true', ensureEvenDistributionOfPartitions: 'true', scaleToZeroOnInvalidOffset: 'true',
      sasl: plaintext, tls: enable, saslTokenProvider: bearer, awsRegion: eu } }`,
  rabbitmq: `{ type: rabbitmq, metadata: { host: amqp://h, hostFromEnv: H, queueName: q, mode: QueueLength, value: '20',
      activationValue: '3', vhostName: v, protocol: auto, pageSize: '100', useRegex: 'true', operation: max,
      unsafeSsl: 'true', excludeUnacknowledged: 'true', metricName: m, timeout: '5' } }`,
  'aws-sqs-queue': `{ type: aws-sqs-queue, metadata: { queueURL: https://sqs.eu/1/q, queueLength: '5', activationQueueLength: '2',
      scaleOnInFlight: 'false', scaleOnDelayed: 'true', awsRegion: eu, awsEndpoint: e, identityOwner: operator } }`,
  redis: `{ type: redis, metadata: { address: r:6379, host: r, port: '6379', username: u, passwordFromEnv: P, listName: l,
      listLength: '5', activationListLength: '2', enableTLS: 'true', unsafeSsl: 'true', databaseIndex: '1' } }`,
  'gcp-pubsub': `{ type: gcp-pubsub, metadata: { subscriptionName: s, mode: SubscriptionSize, value: '5', activationValue: '2' } }`,
};

/** Fields that change nothing in a scaler document, and why. */
const WITHOUT_EFFECT: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^spec\.metrics\[\d\](?:\.\w+\.target)?\.type$/, 'the member that is set implies it'],
  [/\.resource\.metricSelector\./, 'the remark names the selector'],
  [/\.useCachedMetrics$/, 'promscaler queries once per decision'],
  [/\.authenticationRef\.kind$/, 'the remark names the authentication'],
  [/\.envSourceContainerName$/, 'only for values from the environment, which have a remark each'],
  [/\.horizontalPodAutoscalerConfig\.name$/, 'the name of the HPA of KEDA'],
  [
    /^spec\.triggers\[1\]\.name$/,
    'the metric or schedule is named after the type where the name is not used',
  ],
  [/^spec\.triggers\[1\]\.metadata\.(?:metricName|type)$/, 'a newer field next to it wins'],
];

function leaves(value: unknown, path: Path = []): readonly Path[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown, index) => leaves(item, [...path, index]));
  if (!isPlainObject(value)) return [path];
  return Object.entries(value).flatMap(([key, member]) => leaves(member, [...path, key]));
}

function outcome(manifest: unknown): string {
  const [imported] = importAll(stringify(manifest), {});
  return `${imported?.text}\n${imported?.lost.join('\n')}`;
}

/** Returns the fields whose removal changes neither the document with its comments nor the lines of standard error. */
function dropped(text: string): readonly string[] {
  const manifest: unknown = parse(text);
  const whole = outcome(manifest);
  return leaves(manifest)
    .filter(([root]) => root === 'spec' || root === 'metadata')
    .filter((path) => outcome(without(manifest, path)) === whole)
    .map(formatPath);
}

function unexpected(text: string): readonly string[] {
  return dropped(text).filter((path) => !WITHOUT_EFFECT.some(([pattern]) => pattern.test(path)));
}

describe('every known field is converted, or has a remark:', () => {
  it.each([
    ['HorizontalPodAutoscaler', HPA],
    ['CHPA', CHPA],
    ['WatermarkPodAutoscaler', WPA],
    ['ScaledObject', SCALED_OBJECT],
    ['ScaledObject that may scale to 0', SCALED_OBJECT.replace('  minReplicaCount: 2\n', '')],
    ['ScaledObject with a formula', FORMULA],
    ['ScaledObject with scalingModifiers without a formula', FORMULA.replace('formula: a + b, ', '')],
  ])('%s', (_, text) => {
    expect(unexpected(text)).toEqual([]);
  });

  describe.each(Object.entries(TRIGGERS))('trigger %s', (_, trigger) => {
    it.each([0, 1])('with minReplicaCount %i', (minReplicaCount) => {
      expect(unexpected(scaledObjectWith(minReplicaCount, trigger))).toEqual([]);
    });
  });
});

describe('of a ScaledObject, standard error lists', () => {
  it.each([
    [
      'a cooldown below the stabilization',
      'cooldownPeriod: 299\n',
      'spec.cooldownPeriod is 299: KEDA sets 0 replicas 299 s after the last activity, but promscaler sets 0 replicas after 300 s',
    ],
    [
      'no scale-down at all',
      'advanced: { horizontalPodAutoscalerConfig: { behavior: { scaleDown: { selectPolicy: Disabled } } } }\n',
      'spec.cooldownPeriod is 300 (the default): KEDA sets 0 replicas 300 s after the last activity, in one step from any replica count. promscaler never sets 0 replicas, because behavior.scaleDown also applies to this step',
    ],
    [
      'a step of more than 8 hours',
      'advanced: { horizontalPodAutoscalerConfig: { behavior: { scaleDown: { policies: [{ type: Pods, value: 1, periodSeconds: 1800 }] } } } }\n',
      'spec.cooldownPeriod is 300 (the default): KEDA sets 0 replicas 300 s after the last activity, in one step from any replica count. promscaler sets 0 replicas after 300 s from 1 replica, and much later from 100 replicas, because behavior.scaleDown also applies to this step',
    ],
    [
      'modifiers without a formula',
      "advanced: { scalingModifiers: { target: '5' } }\n",
      'spec.advanced.scalingModifiers has no formula, so these fields of the modifiers are not carried over: target',
    ],
  ])('%s', (_, fields, expected) => {
    const { lost } = importOne(scaledObject(`${fields}${triggers(prometheus())}`));

    expect(lost).toEqual([expect.stringContaining(`ScaledObject shop/worker: ${expected}`)]);
  });

  it('an unknown annotation that begins like those of KEDA', () => {
    const annotations = '{ autoscaling.keda.sh/paused-scale-down: "true", example.com/note: a }';

    expect(importOne(scaledObject(triggers(prometheus()), { annotations })).lost).toEqual([
      'ScaledObject shop/worker: metadata.annotations["autoscaling.keda.sh/paused-scale-down"] is not a known annotation and is not carried over',
    ]);
  });

  it('the annotation force-activation', () => {
    const annotations = '{ autoscaling.keda.sh/force-activation: "true" }';

    expect(importOne(scaledObject(triggers(prometheus()), { annotations })).lost).toEqual([
      'ScaledObject shop/worker: metadata.annotations["autoscaling.keda.sh/force-activation"] is set and keeps at least one replica, whatever the triggers return: set minReplicas to 1 as long as the annotation is set',
    ]);
  });
});

it('a ScaledJob has no document', () => {
  const [job] = importAll(
    'apiVersion: keda.sh/v1alpha1\nkind: ScaledJob\nmetadata: { name: a, namespace: b }\nspec: {}',
  );

  expect(job).toMatchObject({
    scaler: null,
    lost: ['ScaledJob b/a has no replicas: promscaler does not scale Jobs'],
  });
});
