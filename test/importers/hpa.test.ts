import { describe, expect, it } from '@jest/globals';
import { readScalers } from '../../src/scaler/read/read-scalers.js';
import { filledIn, HPA_TARGET, hpaHead, hpaWithMetric, hpaYaml, importOne } from './importing.js';

/** Each version of the API with the same meaning: 2 to 9 replicas at 75 % of the requested CPU. */
const VERSIONS: readonly (readonly [string, string])[] = [
  [
    'extensions/v1beta1',
    `spec:
  scaleRef: { apiVersion: extensions/v1beta1, kind: Deployment, name: web, subresource: scale }
  minReplicas: 2
  maxReplicas: 9
  cpuUtilization: { targetPercentage: 75 }`,
  ],
  [
    'autoscaling/v1',
    `spec:
  ${HPA_TARGET}
  minReplicas: 2
  maxReplicas: 9
  targetCPUUtilizationPercentage: 75`,
  ],
  [
    'autoscaling/v2beta1',
    `spec:
  ${HPA_TARGET}
  minReplicas: 2
  maxReplicas: 9
  metrics: [{ type: Resource, resource: { name: cpu, targetAverageUtilization: 75 } }]`,
  ],
  ...['autoscaling/v2beta2', 'autoscaling/v2'].map(
    (version) =>
      [
        version,
        `spec:
  ${HPA_TARGET}
  minReplicas: 2
  maxReplicas: 9
  metrics: [{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 75 } } }]`,
      ] as const,
  ),
];

describe('an HPA', () => {
  it.each(VERSIONS)('of %s has the same document as any other version', (version, spec) => {
    const { lost, spec: imported } = importOne(hpaHead(version) + spec);

    expect(lost).toEqual([]);
    expect(imported).toEqual({
      scaleTargetRef: { name: 'web' },
      minReplicas: 2,
      maxReplicas: 9,
      metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 75 } } }],
    });
  });

  it('is written with its origin, without defaults and without fields that the cluster has set', () => {
    const { text, lost } = importOne(`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: ingress-controller
  namespace: ingress
  uid: 6f1c
  resourceVersion: "81"
  generation: 3
  creationTimestamp: "2026-01-01T00:00:00Z"
  managedFields: [{ manager: helm }]
  labels: { team: edge, app.kubernetes.io/managed-by: Helm, helm.sh/chart: ingress-1 }
  annotations:
    meta.helm.sh/release-name: ingress
    kubectl.kubernetes.io/last-applied-configuration: "{}"
    example.com/owner: edge
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: ingress-controller }
  minReplicas: 1
  maxReplicas: 11
  metrics:
    - type: Resource
      resource: { name: memory, target: { type: Utilization, averageUtilization: 50 } }
status: { currentReplicas: 1, desiredReplicas: 1, conditions: [] }
`);

    expect(lost).toEqual([]);
    expect(text).toBe(`# Imported from HorizontalPodAutoscaler ingress/ingress-controller (autoscaling/v2)
apiVersion: promscaler.dev/v1
kind: Scaler
metadata:
  name: ingress-controller
  namespace: ingress
  labels:
    team: edge
  annotations:
    example.com/owner: edge
spec:
  scaleTargetRef:
    name: ingress-controller
  maxReplicas: 11
  metrics:
    - resource:
        name: memory
        target:
          averageUtilization: 50
`);
  });

  it.each([
    ['extensions/v1beta1', 'Deployment', { name: 'db' }],
    ['apps/v1beta2', 'StatefulSet', { kind: 'StatefulSet', name: 'db' }],
    ['', 'StatefulSet', { kind: 'StatefulSet', name: 'db' }],
    ['', 'ReplicationController', { apiVersion: 'v1', kind: 'ReplicationController', name: 'db' }],
    ['argoproj.io/v1alpha1', 'Rollout', { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', name: 'db' }],
  ])('of a target %s %s', (apiVersion, kind, expected) => {
    const version = apiVersion === '' ? '' : `apiVersion: ${apiVersion}, `;
    const { spec, lost } = importOne(
      `${hpaHead('autoscaling/v2')}spec: { maxReplicas: 3, scaleTargetRef: { ${version}kind: ${kind}, name: db } }`,
    );

    expect(lost).toEqual([]);
    expect(spec).toMatchObject({ scaleTargetRef: expected });
    expect(spec).not.toHaveProperty('metrics');
  });

  it('of autoscaling/v1 has metrics and behavior in annotations, with keys in any case', () => {
    const { spec, lost } = importOne(`
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata:
  name: web
  namespace: shop
  annotations:
    autoscaling.alpha.kubernetes.io/conditions: '[{"type":"AbleToScale"}]'
    autoscaling.alpha.kubernetes.io/current-metrics: '[]'
    autoscaling.alpha.kubernetes.io/metrics: '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"500Mi"}}]'
    autoscaling.alpha.kubernetes.io/behavior: '{"ScaleDown":{"StabilizationWindowSeconds":60,"SelectPolicy":"Min","Policies":[{"Type":"Pods","Value":2,"PeriodSeconds":60}]}}'
spec: { maxReplicas: 9, targetCPUUtilizationPercentage: 50, scaleTargetRef: { kind: Deployment, name: web } }
`);

    expect(lost).toEqual([]);
    expect(spec).toEqual({
      scaleTargetRef: { name: 'web' },
      maxReplicas: 9,
      metrics: [
        { resource: { name: 'cpu', target: { averageUtilization: 50 } } },
        { resource: { name: 'memory', target: { averageValue: '500Mi' } } },
      ],
      behavior: {
        scaleDown: {
          stabilizationWindowSeconds: 60,
          selectPolicy: 'Min',
          policies: [{ type: 'Pods', value: 2, periodSeconds: 60 }],
        },
      },
    });
  });

  it.each([
    [
      '{ type: ContainerResource, containerResource: { name: cpu, container: app, target: { averageUtilization: 60 } } }',
      { containerResource: { name: 'cpu', container: 'app', target: { averageUtilization: 60 } } },
    ],
    [
      '{ type: ContainerResource, containerResource: { name: memory, container: app, targetAverageValue: 2Gi } }',
      { containerResource: { name: 'memory', container: 'app', target: { averageValue: '2Gi' } } },
    ],
    [
      '{ type: Resource, resource: { name: cpu, target: { type: AverageValue, averageValue: "2" } } }',
      { resource: { name: 'cpu', target: { averageValue: 2 } } },
    ],
    [
      '{ resource: { name: cpu, target: { averageUtilization: 60 } } }',
      { resource: { name: 'cpu', target: { averageUtilization: 60 } } },
    ],
  ])('keeps the metric %s', (written, expected) => {
    const { spec, lost } = importOne(hpaWithMetric(written));

    expect(lost).toEqual([]);
    expect(spec).toMatchObject({ metrics: [expected] });
  });

  it('without behavior has none, and with {} has {}: they differ', () => {
    expect(importOne(hpaYaml('')).spec).not.toHaveProperty('behavior');
    expect(importOne(hpaYaml('behavior: {}')).spec).toMatchObject({ behavior: {} });
  });

  it.each([
    [
      'the defaults of both directions',
      '{ scaleUp: { stabilizationWindowSeconds: 0, selectPolicy: Max, policies: [{ type: Pods, value: 4, periodSeconds: 15 }, { type: Percent, value: 100, periodSeconds: 15 }] }, scaleDown: { stabilizationWindowSeconds: 300, selectPolicy: Max, policies: [{ type: Percent, value: 100, periodSeconds: 15 }] } }',
      {},
    ],
    [
      '5 pods for 4',
      '{ scaleUp: { policies: [{ type: Pods, value: 5, periodSeconds: 15 }, { type: Percent, value: 100, periodSeconds: 15 }] } }',
      {
        scaleUp: {
          policies: [
            { type: 'Pods', value: 5, periodSeconds: 15 },
            { type: 'Percent', value: 100, periodSeconds: 15 },
          ],
        },
      },
    ],
    [
      '301 s for 300 s',
      '{ scaleDown: { stabilizationWindowSeconds: 301, selectPolicy: Disabled } }',
      { scaleDown: { stabilizationWindowSeconds: 301, selectPolicy: 'Disabled' } },
    ],
    [
      'a tolerance',
      '{ scaleUp: { tolerance: 50m }, scaleDown: { tolerance: "0" } }',
      { scaleUp: { tolerance: '50m' }, scaleDown: { tolerance: 0 } },
    ],
  ])('keeps those settings of behavior %s that differ from the defaults', (_, behavior, expected) => {
    const { spec, lost } = importOne(hpaYaml(`behavior: ${behavior}`));

    expect(lost).toEqual([]);
    expect((spec as { behavior: unknown }).behavior).toEqual(expected);
  });
});

describe('a metric whose query is unknown', () => {
  const PODS =
    '{ type: Pods, pods: { metric: { name: http_requests, selector: { matchLabels: { verb: GET } } }, target: { averageValue: "10" } } }';

  it('has a placeholder in its place, with an example, and no part is commented out', () => {
    const { text, lost, spec } = importOne(
      hpaYaml(
        `metrics:\n  - ${PODS}\n  - { type: Resource, resource: { name: cpu, target: { averageUtilization: 60 } } }`,
      ),
    );

    expect(lost).toEqual([
      'HPA shop/web: spec.metrics[0]: FILL IN the query of this Pods metric "http_requests": pass the rules of prometheus-adapter with --adapter-config',
    ]);
    expect(spec).toMatchObject({ metrics: [{ resource: { name: 'cpu' } }] });
    expect(text).not.toContain('paused');
    expect(text).toContain(`  metrics:
    # spec.metrics[0]: FILL IN the query of this Pods metric "http_requests": pass the rules of prometheus-adapter
    # with --adapter-config
    # The query must return one series per pod, with the label pod, such as:
    #   sum by (pod) (http_requests{namespace="$namespace", pod=~"$pods", verb="GET"})
    - pods:
        metric:
          name: http_requests
        query: FILL IN
        target:
          averageValue: 10
    - resource:
`);
  });

  it('does not leave another metric, or the default metric, in effect if it is the only one', () => {
    const { text } = importOne(hpaWithMetric(PODS));

    expect(text).toContain('\n  metrics:\n');
    expect(readScalers(text, 'x').problems.map(({ code, place }) => [code, place?.line])).toEqual([
      ['placeholder', 19],
    ]);
  });

  it.each([
    ['only it', hpaWithMetric(PODS)],
    [
      'it and another',
      hpaYaml(`metrics:\n  - ${PODS}\n  - { resource: { name: cpu, target: { averageUtilization: 6 } } }`),
    ],
    [
      'an object',
      hpaWithMetric(
        '{ type: Object, object: { describedObject: { apiVersion: v1, kind: Service, name: api }, metric: { name: rps }, target: { type: Value, value: 2k } } }',
      ),
    ],
    [
      'an object of v2beta1',
      hpaWithMetric(
        '{ type: Object, object: { target: { kind: Service, name: api }, metricName: rps, targetValue: 2k } }',
      ),
    ],
    [
      'an external metric',
      hpaWithMetric(
        '{ type: External, external: { metricName: depth, metricSelector: { matchLabels: { queue: a } }, targetAverageValue: 30 } }',
      ),
    ],
  ])('is valid once it is filled in: %s', (_, text) => {
    const query = 'sum by (pod) (rate(x{namespace="$namespace", pod=~"$pods"}[1m]))';
    const { scalers, problems } = readScalers(filledIn(importOne(text).text, query), 'x');

    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(scalers[0]?.spec.metrics[0]).toMatchObject({ query });
  });

  it.each([
    ['s0-prometheus', 'the metric seems to come from KEDA'],
    ['pubsub.googleapis.com|subscription|num_undelivered_messages', 'Google Cloud Monitoring'],
    ['datadogmetric@shop:rps', 'the metric comes from Datadog, not from Prometheus'],
    ['depth', 'pass the rules of prometheus-adapter with --adapter-config'],
  ])('named %s has its own reason', (name, reason) => {
    const { lost } = importOne(
      hpaWithMetric(`{ type: External, external: { metric: { name: "${name}" }, target: { value: 1 } } }`),
    );

    expect(lost.join()).toContain(reason);
  });

  it.each([
    ['{ matchExpressions: [{ key: q, operator: In, values: [a, b.c] }] }', String.raw`q=~"a|b\\.c"`],
    ['{ matchExpressions: [{ key: q, operator: In, values: [a] }] }', 'q="a"'],
    ['{ matchExpressions: [{ key: q, operator: NotIn, values: [a] }] }', 'q!="a"'],
    ['{ matchExpressions: [{ key: q, operator: NotIn, values: [a, b] }] }', 'q!~"a|b"'],
    ['{ matchExpressions: [{ key: q, operator: Exists }] }', 'q!=""'],
    ['{ matchExpressions: [{ key: q, operator: DoesNotExist }] }', 'q=""'],
    ["{ matchLabels: { q: 'a$pods\"' } }", String.raw`q="a\u0024pods\""`],
  ])('has the selector %s as matchers in its example', (selector, matcher) => {
    const { text } = importOne(
      hpaWithMetric(
        `{ type: External, external: { metric: { name: depth, selector: ${selector} }, target: { value: 1 } } }`,
      ),
    );

    expect(text).toContain(`sum(depth{${matcher}})`);
  });

  it.each([
    ['networking.k8s.io/v1, kind: Ingress', 'hits{namespace="$namespace", ingress="$object", a="b"}'],
    ['apps/v1, kind: Deployment', 'hits{namespace="$namespace", deployment="$object", a="b"}'],
    ['v1, kind: Namespace', 'hits{namespace="$object", a="b"}'],
  ])('without rules suggests the series of the described object: %s', (reference, series) => {
    const { text } = importOne(
      hpaYaml(
        `metrics: [{ type: Object, object: { describedObject: { apiVersion: ${reference}, name: main }, metric: { name: hits, selector: { matchLabels: { a: b } } }, target: { type: Value, value: 7 } } }]`,
      ),
    );

    expect(text).toContain(`#   sum(${series})\n`);
  });
});
