import { describe, expect, it } from '@jest/globals';
import { importOne } from './importing.js';

const TARGET = '  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: api }\n  maxReplicas: 9\n';

function chpa(spec: string, kind = 'CHPA', apiVersion = 'autoscalers.postmates.com/v1beta1'): string {
  return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: api, namespace: shop }\nspec:\n${TARGET}${spec.replace(/^/gm, '  ')}`;
}

describe('a CHPA', () => {
  it.each([
    ['CHPA', 'autoscalers.postmates.com/v1alpha1'],
    ['ConfigurableHorizontalPodAutoscaler', 'autoscalers.example.com/v1'],
  ])('%s has the preset chpa, and of its limits those that differ', (kind, apiVersion) => {
    const { spec, lost } = importOne(
      chpa(
        `minReplicas: 2
downscaleForbiddenWindowSeconds: 300
upscaleForbiddenWindowSeconds: 301
scaleUpLimitFactor: 2.5
scaleUpLimitMinimum: 4
tolerance: 0.05
metrics: [{ type: Resource, resource: { name: cpu, targetAverageUtilization: 50 } }]`,
        kind,
        apiVersion,
      ),
    );

    expect(lost).toEqual([]);
    expect(spec).toEqual({
      preset: 'chpa',
      scaleTargetRef: { name: 'api' },
      minReplicas: 2,
      maxReplicas: 9,
      metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 50 } } }],
      tolerance: 0.05,
      scaleUpLimitFactor: 2.5,
      upscaleForbiddenWindowSeconds: 301,
    });
  });

  it('can have a target of the CPU utilization and a reference without apiVersion', () => {
    const { spec, lost } = importOne(
      chpa('targetCPUUtilizationPercentage: 60').replace('apiVersion: apps/v1, ', ''),
    );

    expect(lost).toEqual([]);
    expect(spec).toMatchObject({
      metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 60 } } }],
    });
  });

  it.each([
    [
      'an unknown field',
      'scaleUpLimitFaktor: 2',
      'spec.scaleUpLimitFaktor is not a known field; did you mean "scaleUpLimitFactor"?',
    ],
    ['a factor below 1', 'scaleUpLimitFactor: 0.5', 'spec.scaleUpLimitFactor is not carried over'],
  ])('reports that %s is lost', (_, field, expected) => {
    const { lost } = importOne(chpa(`targetCPUUtilizationPercentage: 60\n${field}`));

    expect(lost).toEqual([expect.stringContaining(expected)]);
  });
});

function wpa(spec: string): string {
  return chpa(spec, 'WatermarkPodAutoscaler', 'datadoghq.com/v1alpha1');
}

const METRIC =
  'metrics: [{ type: External, external: { metricName: rps, metricSelector: { matchLabels: { app: api } }, highWatermark: 150, lowWatermark: 100 } }]';
const QUERIES = { queries: ({ name }: { readonly name: string }) => ({ query: `sum(${name})`, notes: [] }) };

describe('a WatermarkPodAutoscaler', () => {
  it('has the low watermark as target, and tolerates values up to the high one', () => {
    const { spec, lost } = importOne(
      wpa(`minReplicas: 2\nalgorithm: average\ntolerance: "0.02"\n${METRIC}`),
      QUERIES,
    );

    expect(lost).toEqual([
      expect.stringContaining('WPA shop/api: spec.metrics has only the low watermark as its target'),
    ]);
    expect(spec).toEqual({
      scaleTargetRef: { name: 'api' },
      minReplicas: 2,
      maxReplicas: 9,
      metrics: [
        { external: { query: 'sum(rps)', target: { averageValue: 100 }, guard: 'sum(sum(rps)) != 0' } },
      ],
      behavior: {
        scaleUp: { policies: [{ type: 'Percent', value: 50, periodSeconds: 15 }], tolerance: 0.53 },
        scaleDown: { policies: [{ type: 'Percent', value: 20, periodSeconds: 15 }], tolerance: 0.02 },
      },
      upscaleForbiddenWindowSeconds: 60,
      downscaleForbiddenWindowSeconds: 300,
      forbiddenWindowsSince: 'AnyRescale',
      downscaleStabilizationSeconds: 0,
    });
  });

  it('has its limits, and a direction without any as disabled', () => {
    const { spec } = importOne(
      wpa(
        `scaleUpLimitFactor: "30"\nscaleDownLimitFactor: 0\ndryRun: true\nreadinessDelaySeconds: 60\n${METRIC}`,
      ),
      QUERIES,
    );

    expect(spec).toMatchObject({
      dryRun: true,
      metrics: [{ external: { target: { value: 100 } } }],
      behavior: { scaleUp: { policies: [{ value: 30 }] }, scaleDown: { selectPolicy: 'Disabled' } },
      initialReadinessDelaySeconds: 60,
    });
  });

  it('needs a query for an external metric, and none for a resource', () => {
    const resource = METRIC.replace(
      'External, external: { metricName: rps, metricSelector: { matchLabels: { app: api } }',
      'Resource, resource: { name: cpu',
    )
      .replace('150', '800m')
      .replace('100', '500m');

    expect(importOne(wpa(METRIC)).text).toContain('        query: FILL IN\n');
    expect(importOne(wpa(`algorithm: average\n${resource}`)).spec).toMatchObject({
      metrics: [{ resource: { name: 'cpu', target: { averageValue: '500m' } } }],
    });
    // apis/datadoghq/v1alpha1/watermarkpodautoscaler_default.go: without an algorithm, the usage of all pods is added up.
    const { spec, lost } = importOne(wpa(resource));
    expect(spec).toMatchObject({ paused: true });
    expect(lost.join()).toContain('spec.metrics[0].resource is a total over all pods');
  });

  // Source of these facts: apis/datadoghq/v1alpha1/watermarkpodautoscaler_default.go
  it.each([
    ['no fields', ''],
    ['zeros', 'tolerance: 0\nupscaleForbiddenWindowSeconds: 0\ndownscaleForbiddenWindowSeconds: 0\n'],
    [
      'the defaults that its controller writes',
      'tolerance: 100m\nscaleUpLimitFactor: 50\nscaleDownLimitFactor: 20\nreplicaScalingAbsoluteModulo: 1\nminReplicas: 1\nalgorithm: absolute\nupscaleForbiddenWindowSeconds: 60\ndownscaleForbiddenWindowSeconds: 300\n',
    ],
  ])('with %s tolerates 10 %%, adds 50 %% after 60 s, and removes 20 %% after 300 s', (_, fields) => {
    const { spec, lost } = importOne(wpa(`${fields}${METRIC}`), QUERIES);

    expect(lost).toEqual([expect.stringContaining('has only the low watermark as its target')]);
    expect(spec).toMatchObject({
      metrics: [{ external: { target: { value: 100 } } }],
      behavior: {
        scaleUp: { policies: [{ type: 'Percent', value: 50, periodSeconds: 15 }], tolerance: 0.65 },
        scaleDown: { policies: [{ type: 'Percent', value: 20, periodSeconds: 15 }], tolerance: 0.1 },
      },
      upscaleForbiddenWindowSeconds: 60,
      downscaleForbiddenWindowSeconds: 300,
    });
  });

  // controllers/datadoghq/watermarkpodautoscaler_controller.go, fillMissingWatermark
  it.each([
    ['the low', 'highWatermark: 150, '],
    ['the high', ', lowWatermark: 100'],
  ])('without %s watermark has the other one for both', (_, missing) => {
    const { spec } = importOne(wpa(METRIC.replace(missing, '')), QUERIES);
    const value = missing.startsWith('high') ? 100 : 150;

    expect(spec).toMatchObject({
      metrics: [{ external: { target: { value } } }],
      behavior: { scaleUp: { tolerance: 0.1 }, scaleDown: { tolerance: 0.1 } },
    });
  });

  it('has no remarks on fields that are off, and one on a Datadog monitor that stops it', () => {
    const off = importOne(
      wpa(
        `upscaleDelayAboveWatermarkSeconds: 0\ndownscaleDelayBelowWatermarkSeconds: 0\nminAvailableReplicaPercentage: 0\nconvergeTowardsWatermark: ""\n${METRIC}`,
      ),
      QUERIES,
    );
    const annotated = wpa(METRIC).replace(
      'namespace: shop',
      'namespace: shop, annotations: { wpa.datadoghq.com/lifecycle-control.enabled: "true" }',
    );

    expect(off.lost).toEqual([expect.stringContaining('has only the low watermark as its target')]);
    expect(importOne(annotated, QUERIES).lost.join('\n')).toContain(
      'metadata.annotations["wpa.datadoghq.com/lifecycle-control.enabled"] is "true"',
    );
  });

  it('holds the replicas at a value of 0, unless it tolerates zero', () => {
    // controllers/datadoghq/replica_calculator.go, GetExternalMetricReplicas
    const tolerant = importOne(wpa(`tolerateZero: true\n${METRIC}`), QUERIES);
    const { text, spec } = importOne(wpa(METRIC), QUERIES);

    expect(spec).toMatchObject({ metrics: [{ external: { guard: 'sum(sum(rps)) != 0' } }] });
    expect(text).toContain('spec.tolerateZero is false');
    expect(tolerant.text).not.toContain('guard');
  });

  it.each([
    [
      'a band of more than 100 %',
      METRIC.replace('150', '201'),
      'scale-up starts 100 % above the low watermark',
    ],
    [
      'watermarks in the wrong order',
      METRIC.replace('150', '99'),
      'has no valid lowWatermark and highWatermark',
    ],
    [
      'a delay',
      `upscaleDelayAboveWatermarkSeconds: 30\n${METRIC}`,
      'spec.upscaleDelayAboveWatermarkSeconds is 30, which has no equivalent',
    ],
    ['an unknown field', `foo: 1\n${METRIC}`, 'spec.foo is not a known field'],
  ])('reports that %s is lost', (_, text, expected) => {
    expect(importOne(wpa(text), QUERIES).lost.join('\n')).toContain(expected);
  });
});
