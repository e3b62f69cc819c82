import { createHash } from 'node:crypto';
import { serialize } from 'node:v8';
import fc from 'fast-check';
import { decide } from '../../src/decision/decide.js';
import type { Decision } from '../../src/decision/result/decision.js';
import { decisionToJson, snapshotToJson } from '../../src/decision/result/write-json.js';
import { parseSnapshot } from '../../src/decision/snapshot/parse-snapshot.js';
import type { Snapshot } from '../../src/decision/snapshot/snapshot.js';
import { aDocument } from '../support/builders.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');

const time = fc
  .integer({ min: -900, max: 60 })
  .map((seconds) => new Date(NOW + seconds * 1000).toISOString());

const pod = fc.record({
  phase: fc.constantFrom('Pending', 'Running', 'Running', 'Running', 'Succeeded', 'Failed', 'Unknown'),
  deleting: fc.boolean(),
  startTime: fc.option(time),
  ready: fc.option(fc.boolean()),
  readyChangedAt: fc.option(time),
  requests: fc.constantFrom({ app: { cpu: '500m', memory: '1Gi' } }, { app: { cpu: '2' } }, { app: {} }, {}),
});

const value = fc.oneof(
  fc.double({ min: 0, max: 5000, noNaN: true }),
  fc.constantFrom(0, 0.0001, 1e18, 1e300, Infinity, -1),
);

const error = fc.record({
  error: fc.constant('gone'),
  kind: fc.constantFrom('missing', 'nan', 'invalid', 'failed'),
});

/** Metrics, each with a sample of its form or an error. */
function metricWithSample(name: string) {
  const partial = fc.option(fc.constant('warnings'), { nil: undefined });
  const byPod = fc.dictionary(fc.constantFrom('web-0', 'web-1', 'web-2', 'web-3', 'stranger'), value);
  const target = fc.constantFrom(
    { type: 'AverageValue', averageValue: '10' },
    { type: 'Value', value: '2500m' },
  );
  const policy = fc.constantFrom('error', 'zero');
  const windowSeconds = fc.constantFrom(0, 60);
  const podsSample = fc.record({ at: time, windowSeconds, pods: byPod, partial });
  const containers = byPod.map((pods) =>
    Object.fromEntries(Object.entries(pods).map(([key, usage]) => [key, { app: usage }])),
  );
  const containersSample = fc.record({ at: time, windowSeconds, containers, partial });
  const valuesSample = fc.record({ at: time, values: fc.array(value, { maxLength: 3 }), partial });
  const average = { type: 'AverageValue', averageValue: '700m' };
  const resourceTarget = fc.constantFrom<object>({ type: 'Utilization', averageUtilization: 60 }, average);
  const metric = { name };
  const query = 'sum(x)';
  return fc.oneof(
    fc.tuple(
      resourceTarget.map((t) => ({ type: 'Resource', resource: { name, target: t } })),
      fc.oneof(containersSample, error),
    ),
    fc.tuple(
      fc.constant({ type: 'Pods', pods: { metric, query, target: average } }),
      fc.oneof(podsSample, error),
    ),
    fc.tuple(
      fc.record({ t: target, onMissing: policy, onNaN: policy }).map(({ t, ...rest }) => ({
        type: 'External',
        external: { metric, query, target: t, ...rest },
      })),
      fc.oneof(valuesSample, error),
    ),
    fc.tuple(
      fc.record({ t: target, onMissing: policy }).map(({ t, ...rest }) => ({
        type: 'Object',
        object: { metric, query, target: t, ...rest },
      })),
      fc.oneof(valuesSample, error),
    ),
  );
}

const rules = fc.record(
  {
    stabilizationWindowSeconds: fc.constantFrom(0, 60, 300),
    selectPolicy: fc.constantFrom('Max', 'Min', 'Disabled'),
    policies: fc.array(
      fc.record({
        type: fc.constantFrom('Pods', 'Percent'),
        value: fc.integer({ min: 1, max: 300 }),
        periodSeconds: fc.integer({ min: 1, max: 1800 }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
    tolerance: fc.constantFrom(0, 0.05, 0.5),
  },
  { requiredKeys: [] },
);

const spec = fc.record(
  {
    preset: fc.constantFrom('hpa', 'chpa', 'hpa-1.11'),
    behavior: fc.record({ scaleUp: rules, scaleDown: rules }, { requiredKeys: [] }),
    scaleUpLimitFactor: fc.constantFrom(1, 1.5, 3),
    scaleUpLimitMinimum: fc.constantFrom(1, 6),
    upscaleForbiddenWindowSeconds: fc.constantFrom(0, 60),
    downscaleForbiddenWindowSeconds: fc.constantFrom(0, 600),
    downscaleConfirmation: fc.constantFrom<object>({}, { seconds: 0, decisions: 2 }),
    maxScaleDownPercentPerWindow: fc.constantFrom(1, 50, 100),
    podWarmupSeconds: fc.constantFrom(0, 60),
  },
  { requiredKeys: [] },
);

const state = fc.record(
  {
    recommendations: fc.array(fc.record({ at: time, replicas: fc.integer({ min: 0, max: 60 }) }), {
      maxLength: 5,
    }),
    scaleEvents: fc.array(fc.record({ at: time, change: fc.constantFrom(-9, -1, 1, 4, 30) }), {
      maxLength: 5,
    }),
    downscaleProposals: fc.array(fc.record({ at: time, replicas: fc.integer({ min: 0, max: 60 }) }), {
      maxLength: 4,
    }),
    lastScaleUp: time,
    lastScaleDown: time,
    holdScaleDownUntil: time,
    zeroedBySelf: fc.boolean(),
  },
  { requiredKeys: [] },
);

/** Schedules that are active or ramping at `NOW`. */
const schedules = fc
  .array(
    fc.record({
      minReplicas: fc.option(fc.integer({ min: 0, max: 70 }), { nil: undefined }),
      maxReplicas: fc.option(fc.integer({ min: 1, max: 70 }), { nil: undefined }),
      rampSeconds: fc.constantFrom(0, 7200),
      start: fc.constantFrom('0 23 * * *', '0 0 * * *', '0 1 * * *'),
    }),
    { minLength: 1, maxLength: 2 },
  )
  .map((list) =>
    list.map((schedule, index) => ({
      name: `schedule-${index}`,
      end: '0 5 * * *',
      ...schedule,
      ...(schedule.minReplicas === undefined && schedule.maxReplicas === undefined ? { maxReplicas: 9 } : {}),
    })),
  );

const inputs = fc.record({
  metrics: fc.tuple(metricWithSample('cpu'), metricWithSample('memory')),
  pods: fc.array(pod, { maxLength: 4 }),
  minReplicas: fc.integer({ min: 0, max: 20 }),
  range: fc.integer({ min: 0, max: 40 }),
  target: fc.record({
    specReplicas: fc.integer({ min: 0, max: 70 }),
    statusReplicas: fc.integer({ min: 0, max: 70 }),
  }),
  spec,
  state,
  schedules,
});

type Input = typeof inputs extends fc.Arbitrary<infer T> ? T : never;

function snapshotOf(
  { metrics, pods, minReplicas, range, target, spec: extra, state: before }: Omit<Input, 'schedules'>,
  more: object = {},
) {
  return {
    scaler: aDocument({
      scaleTargetRef: { name: 'web' },
      minReplicas,
      maxReplicas: Math.max(1, minReplicas + range),
      metrics: metrics.map(([metric]) => metric),
      ...extra,
      ...more,
    }),
    now: '2026-01-01T00:00:00Z',
    target,
    pods: pods.map((entry, index) => ({ name: `web-${index}`, ...entry })),
    samples: metrics.map(([, sample]) => sample),
    state: before,
  };
}

/** Two metrics, up to four pods, every limit of a document. */
export const snapshots = inputs.map((input) => snapshotOf(input));

/** Snapshots as above, with one or two schedules. */
export const scheduledSnapshots = inputs.map((input) => snapshotOf(input, { schedules: input.schedules }));

interface Decided {
  readonly snapshot: Snapshot;
  readonly decision: Decision;
}

/** By input: each property of a test file is checked on the same 500 snapshots. */
const decided = new Map<string, Decided>();

/** Checks `property` on 500 frozen snapshots, so that `decide` cannot change its input. */
export function checkAll(
  json: fc.Arbitrary<object>,
  property: (snapshot: Snapshot, decision: Decision) => void,
): void {
  fc.assert(
    fc.property(json, (input) => {
      const key = serialize(input).toString('latin1');
      const known = decided.get(key) ?? decideOn(input);
      decided.set(key, known);
      property(known.snapshot, known.decision);
    }),
    { numRuns: 500, seed: 20260101 },
  );
}

function decideOn(input: object): Decided {
  const snapshot = deepFreeze(parseSnapshot(input));
  return { snapshot, decision: deepFreeze(decide(snapshot)) };
}

function deepFreeze<T>(input: T): T {
  if (typeof input !== 'object' || input === null || Object.isFrozen(input)) return input;
  for (const inner of Object.values(input)) deepFreeze(inner);
  return Object.freeze(input);
}

/** Returns a hash of snapshots, decisions and states as they are recorded, without sentences for people. */
export function digestOf(runs: number): string {
  const hash = createHash('sha256');
  const add = (input: object): void => {
    const snapshot = parseSnapshot(input);
    // Only reasons read `firstCountAt`.
    const texts = ['reason', 'message', 'error', 'partial', 'podReasons', 'readAsZero', 'firstCountAt'];
    const write = (value: unknown): string =>
      JSON.stringify(value, (key, inner: unknown) => (texts.includes(key) ? undefined : inner));
    hash.update(write(snapshotToJson(snapshot))).update(write(decisionToJson(decide(snapshot))));
  };
  fc.assert(
    fc.property(scheduledSnapshots, snapshots, (one, other) => [one, other].forEach(add)),
    {
      numRuns: runs / 2,
      seed: 20260104,
    },
  );
  return hash.digest('hex');
}
