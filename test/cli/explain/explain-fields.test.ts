import { expect, it } from '@jest/globals';
import { documentJsonSchema } from '../../../src/cli/schema/json-schema.js';
import { schemaRows } from '../../docs/schema-rows.js';
import { runCli } from '../fake-io.js';
import { cpuSnapshot } from '../live-service.js';

const QUEUE = {
  metric: { name: 'jobs', selector: { matchLabels: { queue: 'a' } } },
  query: 'sum by (queue) (rate(jobs[1m]))',
  source: 'other',
  target: { type: 'AverageValue', averageValue: 8 },
  activation: { above: 3 },
  guard: 'up == 1',
  freshness: { query: 'max(timestamp(jobs))', maxAgeSeconds: 77 },
  backlog: { query: 'sum(waiting)', drainSeconds: 60 },
  capacity: { query: 'max(capacity)' },
};
const AUTO = { mode: 'Use', served: { query: 'sum(done)' }, errors: { query: 'sum(failed)' } };
const SPEC = {
  scaleTargetRef: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' },
  minReplicas: 0,
  maxReplicas: 40,
  maxReplicasFrom: { query: 'sum(free)', source: 'gpus' },
  podStart: { seconds: 120 },
  metrics: [
    {
      resource: {
        name: 'cpu',
        target: { type: 'Utilization', averageUtilization: 60 },
        saturation: { served: { query: 'sum(served)' }, factor: 3 },
      },
    },
    { containerResource: { name: 'memory', container: 'app', target: { averageValue: '900Mi' } } },
    { pods: { metric: { name: 'rps' }, query: 'rps', target: { averageValue: 5 } } },
    { object: { ...QUEUE, describedObject: { name: 'ingress' } } },
    { external: QUEUE },
    { external: { ...QUEUE, metric: { name: 'others' }, capacity: { auto: AUTO } } },
  ],
  forecast: {
    metric: 'cpu',
    mode: 'Raise',
    lookback: '9d',
    quantile: 0.7,
    fillPercent: 91,
    lead: '4m',
    timeZone: 'Europe/Paris',
    budgetPercent: 3,
  },
  dryRun: true,
};

/** Field of the document -> what `explain` prints of it for `SPEC`, or why it prints nothing. */
const TOTAL = {
  'metric.name': 'jobs (',
  'metric.selector': 'series with queue=a',
  query: 'query   sum by (queue) (rate(jobs[1m])), series with queue=a (source other)',
  source: '(source other)',
  target: 'target 8 per pod',
  'activation.above': 'above its activation threshold of 3',
  guard: 'check   up == 1 must be true',
  'freshness.query': 'check   max(timestamp(jobs)) must be at most 77 s in the past',
  'freshness.maxAgeSeconds': 'at most 77 s in the past',
  'backlog.query': 'backlog sum(waiting), to process in 60 s',
  'backlog.drainSeconds': '(60 s + 120 s of pod start)',
  'capacity.query': 'per pod max(capacity)',
  'capacity.auto.mode': 'per pod auto, mode Use: ',
  'capacity.auto.served.query': 'the highest value of sum(done) per ready pod in 3 days',
  'capacity.auto.errors.query': 'except while there are errors: sum(failed)',
};
const of = (member: string, texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(texts).map(([path, text]) => [`metrics[].${member}.${path}`, text]));
const PRINTED: Readonly<Record<string, string>> = {
  'scaleTargetRef.kind': '(StatefulSet web, bounds 0 to 40',
  'scaleTargetRef.name': 'StatefulSet web',
  minReplicas: 'bounds 0 to 40',
  maxReplicas: 'bounds 0 to 40',
  'maxReplicasFrom.query': 'Ceiling: 12 from sum(free) (source gpus)',
  'maxReplicasFrom.source': '(source gpus)',
  'podStart.seconds': 'Pod start: 120 s, set by the document',
  'forecast.metric': 'of cpu: lookback',
  'forecast.mode': 'Forecast (Raise)',
  'forecast.lookback': 'lookback 9d',
  'forecast.quantile': 'quantile 0.7',
  'forecast.fillPercent': 'pods at 91 %',
  'forecast.lead': 'lead 4m',
  'forecast.timeZone': 'time zone Europe/Paris',
  'forecast.budgetPercent': 'budget for additional replicas: 3 %',
  dryRun: 'spec.dryRun is true: nothing is patched',
  ...of('resource', {
    name: 'cpu (Resource)',
    target: 'target 60 %',
    'saturation.served.query': 'served  sum(served)',
    'saturation.factor': '3 x 4 ready pods',
  }),
  ...of('containerResource', {
    name: 'memory of container app',
    container: 'app/memory (ContainerResource)',
    target: 'target 900Mi',
  }),
  ...of('pods', { 'metric.name': 'rps (Pods)', query: 'query   rps', target: 'target 5' }),
  ...of('object', TOTAL),
  ...of('external', TOTAL),
};
/** Prefix of fields, and why nothing is printed. */
const OMITTED: Readonly<Record<string, string>> = {
  'scaleTargetRef.apiVersion': 'the kind identifies the target',
  preset: 'sets other fields',
  tolerance: 'is in the text of a metric that it keeps',
  behavior: 'is in the limits and conditions that it causes',
  scaleUpLimit: 'is in the limit that it causes',
  upscaleForbiddenWindowSeconds: 'is in the restriction that it causes',
  downscaleForbiddenWindowSeconds: 'is in the restriction that it causes',
  forbiddenWindowsSince: 'is in the restriction that it causes',
  downscaleStabilizationSeconds: 'is in the limit that it causes',
  downscaleConfirmation: 'is in the limit that it causes',
  maxScaleDownPercentPerWindow: 'is in the limit that it causes',
  cpuInitializationPeriodSeconds: 'is in the reasons of pods',
  initialReadinessDelaySeconds: 'is in the reasons of pods',
  podWarmupSeconds: 'is in the reasons of pods',
  cooldownSeconds: 'is in the restriction that it causes',
  fallback: 'is in the text of a metric without a value',
  schedules: 'is in the bounds and in the limit that it causes',
  podDeletionCost: 'changes which pods are deleted, not how many',
  syncPeriodSeconds: 'changes the time of the next decision, not this one',
  paused: 'is in the restriction that it causes',
  'metrics[].type': 'follows from the member',
  'metrics[].object.describedObject': 'is in the query',
};
const OMITTED_OF_METRICS =
  /\.(targetAverage\w+|maxSampleAgeSeconds|onMissing|onNaN|selector|source|target\.type)(\W|$)/;

it('explain prints each field of a document that changes its decision', async () => {
  const at = '2026-01-01T00:00:00Z';
  const total = { at, values: [64], backlog: 480, capacity: 8 };
  const cpu = cpuSnapshot(100) as { readonly pods: readonly object[]; readonly samples: readonly object[] };
  const document = {
    apiVersion: 'promscaler.dev/v1',
    kind: 'Scaler',
    metadata: { name: 'web', namespace: 'shop' },
  };
  const snapshot = {
    ...cpu,
    scaler: { ...document, spec: SPEC },
    pods: cpu.pods.map((pod) => ({ ...pod, cpuLimit: '1' })),
    samples: [
      { ...cpu.samples[0], served: 100 },
      { error: 'none', kind: 'missing' },
      { at, windowSeconds: 0, pods: { a: 5 } },
      total,
      total,
      { ...total, measuredCapacity: { value: 9, low: 8.5, high: 9, days: 3, at } },
    ],
    maxReplicasFrom: { at, values: [12] },
    state: {
      recommendations: [],
      saturation: { since: '2025-12-31T23:00:00Z', served: 50 },
    },
  };

  const { stdout, stderr } = await runCli(['explain', '--snapshot', '-'], {
    stdin: JSON.stringify(snapshot),
  });

  expect(stderr).toBe('');
  const missing = Object.entries(PRINTED).filter(([, text]) => !stdout.includes(text));
  expect([missing, missing.length > 0 ? stdout : '']).toEqual([[], '']);
  const leaves = schemaRows(documentJsonSchema())
    .filter(({ path, type }) => path.startsWith('spec.') && type !== 'object' && type !== 'list')
    .map(({ path }) => path.slice('spec.'.length));
  expect(leaves.length).toBeGreaterThan(80);
  const isBelow =
    (path: string) =>
    (prefix: string): boolean =>
      path.startsWith(prefix);
  const unexplained = leaves.filter(
    (path) =>
      ![...Object.keys(PRINTED), ...Object.keys(OMITTED)].some(isBelow(path)) &&
      !(path.startsWith('metrics[]') && OMITTED_OF_METRICS.test(path)),
  );
  expect(unexplained).toEqual([]);
});

it('explain says from when it measures a learned start of pods', async () => {
  const cpu = cpuSnapshot(100) as { readonly scaler: { readonly spec: object } };
  const spec = { ...cpu.scaler.spec, podStart: {} };
  const snapshot = { ...cpu, scaler: { ...cpu.scaler, spec }, podStartSeconds: 40 };

  const { stdout } = await runCli(['explain', '--snapshot', '-'], { stdin: JSON.stringify(snapshot) });

  expect(stdout).toContain(
    'Pod start: 40 s, in which 95 % of the pods became ready after their start on a node\n',
  );
});
