import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parseScaler } from '../../src/scaler/read/parse-scaler.js';
import type { ScalerSpec } from '../../src/scaler/spec.js';
import { aDocument } from '../support/builders.js';

function documentOf(spec: object): unknown {
  return aDocument({ scaleTargetRef: { name: 'web' }, maxReplicas: 10, ...spec });
}

function specOf(spec: object): ScalerSpec {
  const { scaler, problems } = parseScaler(documentOf(spec));
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  if (scaler === null) throw new Error('the document was refused');
  return scaler.spec;
}

function codesOf(spec: object): readonly string[] {
  return parseScaler(documentOf(spec)).problems.map(({ code }) => code);
}

const EXTERNAL = { metric: { name: 'depth' }, query: 'sum(depth)', target: { averageValue: 30 } };

describe('defaults', () => {
  it('are those of the HPA if a document has only a target and maxReplicas', () => {
    expect(specOf({})).toEqual({
      preset: 'hpa',
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 1,
      maxReplicas: 10,
      maxReplicasFrom: null,
      metrics: [
        {
          type: 'Resource',
          name: 'cpu',
          identity: 'cpu',
          source: 'default',
          target: { type: 'Utilization', percent: 80 },
        },
      ],
      behavior: null,
      tolerance: 0.1,
      scaleUpLimit: { factor: 2, minimum: 4, isExplicit: false },
      upscaleForbiddenWindowSeconds: 0,
      downscaleForbiddenWindowSeconds: 0,
      forbiddenWindowsSince: 'SameDirection',
      cpuInitializationPeriodSeconds: 300,
      initialReadinessDelaySeconds: 30,
      downscaleStabilizationSeconds: 300,
      downscaleConfirmation: null,
      maxScaleDownPercentPerWindow: null,
      podStart: null,
      forecast: null,
      podWarmupSeconds: 0,
      syncPeriodSeconds: 15,
      dryRun: false,
      paused: false,
      schedules: [],
      podDeletionCost: null,
      fallback: null,
      cooldownSeconds: 300,
    });
  });

  it('are one cpu metric at 80 % for an empty metrics list, as for none', () => {
    expect(specOf({ metrics: [] }).metrics).toEqual(specOf({}).metrics);
  });

  it('of preset chpa are factor 2, minimum 4, both windows 300 s, any rescale, no stabilization', () => {
    expect(specOf({ preset: 'chpa' })).toMatchObject({
      scaleUpLimit: { factor: 2, minimum: 4, isExplicit: true },
      upscaleForbiddenWindowSeconds: 300,
      downscaleForbiddenWindowSeconds: 300,
      forbiddenWindowsSince: 'AnyRescale',
      downscaleStabilizationSeconds: 0,
    });
  });

  it('of preset hpa-1.11 are windows of 180 s and 300 s, and no explicit scale-up limit', () => {
    expect(specOf({ preset: 'hpa-1.11' })).toMatchObject({
      scaleUpLimit: { factor: 2, minimum: 4, isExplicit: false },
      upscaleForbiddenWindowSeconds: 180,
      downscaleForbiddenWindowSeconds: 300,
      forbiddenWindowsSince: 'AnyRescale',
      downscaleStabilizationSeconds: 0,
    });
  });

  it('are overridden by the document, with a preset too', () => {
    const spec = specOf({ preset: 'chpa', downscaleStabilizationSeconds: 60, scaleUpLimitFactor: 1.5 });

    expect(spec.downscaleStabilizationSeconds).toBe(60);
    expect(spec.scaleUpLimit).toEqual({ factor: 1.5, minimum: 4, isExplicit: true });
  });

  it('of downscaleConfirmation are 60 s and 3 decisions if it is set, field by field', () => {
    const confirmationOf = (downscaleConfirmation: object) =>
      specOf({ downscaleConfirmation }).downscaleConfirmation;

    expect(confirmationOf({})).toEqual({ seconds: 60, decisions: 3 });
    expect(confirmationOf({ seconds: 0 })).toEqual({ seconds: 0, decisions: 3 });
    expect(confirmationOf({ decisions: 2 })).toEqual({ seconds: 60, decisions: 2 });
  });

  it('include a warning that stabilization is off, unless a confirmation replaces it', () => {
    const off = { downscaleStabilizationSeconds: 0 };

    expect(codesOf(off)).toEqual(['unconfirmed-scale-down']);
    expect(codesOf({ ...off, downscaleConfirmation: {} })).toEqual([]);
    expect(codesOf({ preset: 'chpa', downscaleConfirmation: {} })).toEqual([]);
    expect(codesOf({ preset: 'chpa', downscaleStabilizationSeconds: 60 })).toEqual([]);
  });

  it('apply to null, and an empty fallback, schedules or podDeletionCost is the same as none', () => {
    const nulls = { behavior: null, metrics: null, minReplicas: null };

    expect(specOf({ ...nulls, fallback: {}, schedules: [], podDeletionCost: {} })).toEqual(specOf({}));
  });
});

describe('the lead of a forecast', () => {
  it.each([
    ['auto', null],
    ['1s', 1],
    ['9999s', 9999],
    ['99m', 5940],
    ['120m', 7200],
    ['166m', 9960],
    ['1h', 3600],
    ['2h', 7200],
  ])('is the duration in seconds: %s', (lead, seconds) => {
    expect(specOf({ forecast: { lead } }).forecast?.leadSeconds).toBe(seconds);
  });

  it.each(['0s', '10000s', '167m', '200m', '3h', '1h30m'])(
    'is at most 9999s, in one unit: not %s',
    (lead) => {
      expect(codesOf({ forecast: { lead } })).toEqual(['wrong-format']);
    },
  );
});

describe('behavior', () => {
  it('has the defaults of both directions if it is {}, unlike an unset one', () => {
    expect(specOf({ behavior: {}, tolerance: 0.2, downscaleStabilizationSeconds: 120 }).behavior).toEqual({
      scaleUp: {
        stabilizationWindowSeconds: 0,
        selectPolicy: 'Max',
        policies: [
          { type: 'Pods', value: 4, periodSeconds: 15 },
          { type: 'Percent', value: 100, periodSeconds: 15 },
        ],
        tolerance: 0.2,
      },
      scaleDown: {
        stabilizationWindowSeconds: 120,
        selectPolicy: 'Max',
        policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
        tolerance: 0.2,
      },
    });
  });

  it('is defaulted field by field: policies replace the whole list, a tolerance of "0" is a value', () => {
    const policies = [{ type: 'Pods', value: 1, periodSeconds: 60 }];
    const behavior = specOf({ behavior: { scaleUp: { policies, tolerance: '0' } } }).behavior;

    expect(behavior?.scaleUp).toMatchObject({ policies, tolerance: 0, selectPolicy: 'Max' });
    expect(behavior?.scaleDown).toMatchObject({ tolerance: 0.1, stabilizationWindowSeconds: 300 });
  });

  it.each([
    ['0.0015', 0.0015],
    ['50m', 0.05],
    [0.25, 0.25],
  ])('with a tolerance of %p has a tolerance of %p', (written, tolerance) => {
    expect(specOf({ behavior: { scaleUp: { tolerance: written } } }).behavior?.scaleUp.tolerance).toBe(
      tolerance,
    );
  });

  it('is rejected with an empty list of policies', () => {
    expect(codesOf({ behavior: { scaleUp: { policies: [] } } })).toEqual(['out-of-range']);
  });
});

describe('metrics', () => {
  it('may omit type and target.type, and are named after their query', () => {
    const metrics = [
      { pods: { query: 'sum by (pod) (rate(hits_total[1m]))', target: { averageValue: 50 } } },
    ];

    expect(specOf({ metrics }).metrics).toEqual([
      {
        type: 'Pods',
        name: 'hits_total',
        identity: 'hits_total',
        query: 'sum by (pod) (rate(hits_total[1m]))',
        selector: [],
        source: 'default',
        target: { type: 'AverageValue', milli: 50_000n },
      },
    ]);
  });

  it('for a container are named CONTAINER/NAME', () => {
    const target = { averageValue: '900Mi' };
    const metrics = ['app', 'proxy'].map((container) => ({
      containerResource: { name: 'memory', container, target },
    }));

    expect(specOf({ metrics }).metrics.map(({ identity }) => identity)).toEqual([
      'app/memory',
      'proxy/memory',
    ]);
  });

  it('have their label selectors expanded into requirements', () => {
    const selector = {
      matchLabels: { queue: 'a' },
      matchExpressions: [{ key: 'zone', operator: 'Exists' }],
    };
    const metrics = [{ external: { ...EXTERNAL, metric: { name: 'depth', selector } } }];

    expect(specOf({ metrics }).metrics[0]).toMatchObject({
      onMissing: 'error',
      selector: [
        { key: 'queue', operator: 'In', values: ['a'] },
        { key: 'zone', operator: 'Exists', values: [] },
      ],
    });
  });

  it('accept the target of autoscaling/v2beta1, which CHPA documents use', () => {
    const metrics = [{ type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 70 } }];

    expect(specOf({ metrics }).metrics[0]?.target).toEqual({ type: 'Utilization', percent: 70 });
  });

  it.each([
    ['a type that contradicts the member', { type: 'Pods', external: EXTERNAL }, 'contradicting-type'],
    ['two members', { pods: EXTERNAL, external: EXTERNAL }, 'contradicting-type'],
    ['a type without its member', { type: 'Pods' }, 'missing-field'],
    ['no member', {}, 'missing-field'],
    [
      'a target that contradicts its type',
      { external: { ...EXTERNAL, target: { type: 'Value', averageValue: 1 } } },
      'contradicting-type',
    ],
    [
      'two targets',
      { external: { ...EXTERNAL, target: { value: 1, averageValue: 1 } } },
      'contradicting-type',
    ],
    ['a Pods metric with a Value', { pods: { ...EXTERNAL, target: { value: 1 } } }, 'target-type'],
    [
      'a utilization of no resource',
      { external: { ...EXTERNAL, target: { averageUtilization: 80 } } },
      'target-type',
    ],
    ['a Resource metric with a Value', { resource: { name: 'cpu', target: { value: 1 } } }, 'target-type'],
    ['no query', { external: { target: { value: 1 } } }, 'missing-query'],
    [
      'a query without a metric',
      { external: { ...EXTERNAL, metric: {}, query: '1' } },
      'missing-metric-name',
    ],
    ['a target of 0', { external: { ...EXTERNAL, target: { value: '0' } } }, 'wrong-quantity'],
    [
      'a target that loses digits',
      { external: { ...EXTERNAL, target: { value: 2 ** 53 } } },
      'wrong-quantity',
    ],
  ])('are rejected with %s', (_, metric, code) => {
    expect(codesOf({ metrics: [metric] })).toEqual([code]);
    expect(parseScaler(documentOf({ metrics: [metric] })).scaler).toBeNull();
  });
});

describe('parseScaler', () => {
  it.each([
    ['a minimum above the maximum', { minReplicas: 11 }, 'replica-bounds'],
    ['a tolerance of 1.01', { tolerance: 1.01 }, 'tolerance-above-one'],
    ['a minimum of 0 with cpu', { minReplicas: 0 }, 'scale-to-zero'],
    ['a DaemonSet', { scaleTargetRef: { kind: 'DaemonSet', name: 'web' } }, 'daemon-set'],
    [
      'the same metric twice',
      { metrics: [{ external: EXTERNAL }, { external: EXTERNAL }] },
      'duplicate-metric',
    ],
  ])('returns a scaler and the violated rule for %s', (_, spec, code) => {
    const { scaler, problems } = parseScaler(documentOf(spec));

    expect(problems.map((problem) => problem.code)).toEqual([code]);
    expect(scaler).not.toBeNull();
  });

  it('returns a scaler, which can be stored in a snapshot, for a query that is not PromQL and has no metric name', () => {
    const { scaler, problems } = parseScaler(
      documentOf({ metrics: [{ object: { query: 'sum(', target: { value: 1 } } }] }),
    );

    expect(problems.map(({ code }) => code)).toEqual(['query-syntax']);
    expect(scaler?.spec.metrics[0]?.name).toBe('unnamed');
  });

  it('returns no scaler for a value that is not a document', () => {
    expect(parseScaler('text')).toMatchObject({ scaler: null, problems: [{ code: 'wrong-type', path: '' }] });
  });

  it('survives a value nested 100,000 levels deep', () => {
    let value: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) value = [value];

    expect(parseScaler(documentOf({ metrics: value })).problems.map(({ code }) => code)).toContain(
      'too-deep',
    );
  });

  it('freezes scaler, document and spec at every level', () => {
    const { scaler } = parseScaler(documentOf({ metrics: [{ external: EXTERNAL }] }));

    expect(Object.isFrozen(scaler?.spec.metrics[0]?.target)).toBe(true);
    expect(Object.isFrozen(scaler?.document.spec['metrics'])).toBe(true);
  });

  const directory = new URL('../vectors/', import.meta.url);
  it.each(readdirSync(directory).filter((file) => file.endsWith('.json')))(
    'reads every scaler of %s',
    (file) => {
      const vectors = JSON.parse(readFileSync(new URL(file, directory), 'utf8')) as {
        snapshot: { scaler: unknown };
      }[];

      const refused = vectors.filter(({ snapshot }) => parseScaler(snapshot.scaler).scaler === null);

      expect(vectors.length).toBeGreaterThan(0);
      expect(refused).toEqual([]);
    },
  );
});
