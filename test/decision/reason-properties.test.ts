import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decide } from '../../src/decision/decide.js';
import type { Decision } from '../../src/decision/result/decision.js';
import { parseSnapshot } from '../../src/decision/snapshot/parse-snapshot.js';
import { aDocument } from '../support/builders.js';
import { checkAll, scheduledSnapshots, snapshots } from './random-snapshots.js';
import { readReason } from './read-reason.js';

const NOW = '2026-01-01T12:00:00Z';

const pod = fc.record({
  phase: fc.constantFrom('Running', 'Running', 'Running', 'Running', 'Pending', 'Failed'),
  deleting: fc.constantFrom(false, false, false, true),
  ready: fc.constantFrom(true, true, true, false),
  startTime: fc.constantFrom('2026-01-01T11:00:00Z', '2026-01-01T11:59:00Z'),
  readyChangedAt: fc.constantFrom('2026-01-01T11:00:20Z', '2026-01-01T11:59:30Z'),
  isMeasured: fc.constantFrom(true, true, true, false),
  usage: fc.integer({ min: 0, max: 3000 }).map((milli) => milli / 1000),
});

const target = fc.record({
  kind: fc.constantFrom('Utilization', 'Average', 'Memory', 'Pods', 'PerPod', 'Value'),
  size: fc.constantFrom(1, 7, 30, 60, 80, 100, 150, 1000),
});

/** One metric with a full value, up to eight pods in every state, at about as many replicas. */
const inputs = fc.record({
  pods: fc.array(pod, { minLength: 1, maxLength: 8 }),
  target,
  total: fc.oneof(fc.integer({ min: 0, max: 500 }), fc.double({ min: 0, max: 1e6, noNaN: true })),
  specReplicas: fc.integer({ min: 0, max: 9 }),
  surge: fc.integer({ min: -1, max: 2 }),
  tolerance: fc.constantFrom(0, 0.1, 0.3),
  podWarmupSeconds: fc.constantFrom(0, 60),
  activation: fc.constantFrom(undefined, undefined, { above: 100 }),
  inactiveSince: fc.constantFrom(undefined, '2026-01-01T11:58:00Z', '2026-01-01T11:00:00Z'),
  behavior: fc.constantFrom(undefined, {}, { scaleUp: { tolerance: 0.05 } }),
});

type Input = typeof inputs extends fc.Arbitrary<infer T> ? T : never;

function decisionOn(input: Input): Decision {
  const { pods, specReplicas, surge, tolerance, podWarmupSeconds, behavior } = input;
  const measured = pods.flatMap(({ isMeasured, usage }, index) =>
    isMeasured ? [[`web-${index}`, usage] as const] : [],
  );
  const snapshot = {
    scaler: aDocument({
      scaleTargetRef: { name: 'web' },
      minReplicas: 0,
      maxReplicas: 1000,
      tolerance,
      podWarmupSeconds,
      ...(behavior === undefined ? {} : { behavior }),
      metrics: [metricOf(input)],
    }),
    now: NOW,
    target: { specReplicas, statusReplicas: Math.max(0, specReplicas + surge) },
    pods: pods.map(({ phase, deleting, ready, startTime, readyChangedAt }, index) => ({
      name: `web-${index}`,
      ...{ phase, deleting, ready, startTime, readyChangedAt },
      requests: { app: { cpu: '1' } },
    })),
    samples: [sampleOf(input, measured)],
    state: { recommendations: [], inactiveSince: input.inactiveSince },
  };
  return decide(parseSnapshot(snapshot));
}

function metricOf({ target: { kind, size }, activation }: Input): object {
  const metric = { name: 'load' };
  switch (kind) {
    case 'Utilization':
      return { resource: { name: 'cpu', target: { averageUtilization: size } } };
    case 'Average':
      return { resource: { name: 'cpu', target: { averageValue: `${size * 10}m` } } };
    case 'Memory':
      return { resource: { name: 'memory', target: { averageValue: size * 1_000_001 } } };
    case 'Pods':
      return { pods: { metric, query: 'load', target: { averageValue: `${size * 10}m` } } };
    case 'PerPod':
      return { external: { metric, query: 'load', target: { averageValue: size }, activation } };
    default:
      return { external: { metric, query: 'load', target: { value: size }, activation } };
  }
}

function sampleOf(
  { target: { kind }, total }: Input,
  measured: readonly (readonly [string, number])[],
): object {
  if (kind === 'PerPod' || kind === 'Value') return { at: NOW, values: [total] };
  if (kind === 'Pods') return { at: NOW, windowSeconds: 30, pods: Object.fromEntries(measured) };
  const unit = kind === 'Memory' ? 100_000_007 : 1;
  const containers = Object.fromEntries(measured.map(([name, app]) => [name, { app: app * unit }]));
  return { at: NOW, windowSeconds: 30, containers };
}

/** Counts how often each clause explained a count, and how many reasons needed none. */
const CLAUSES = {
  idle: /counted as idle/,
  full: /counted at /,
  'not counted': /not counted/,
  pods: / over \d+ ready pods?/,
  tolerance: /within the tolerance/,
  direction: /must not reverse the direction/,
  activation: /; (?:not )?active/,
  asleep: /over 1 pod because the target has 0 replicas/,
} as const;

describe('the reason of a decision', () => {
  it('is consistent in 2,000 snapshots: value and target result in the count, or a clause explains the difference', () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(inputs, (input) => {
        const { reason, recommendedReplicas } = decisionOn(input);
        if (recommendedReplicas === null) return;
        const stated = readReason(reason);
        expect([reason, stated?.recommended]).toEqual([reason, BigInt(recommendedReplicas)]);
        // The change by activation follows the value.
        if (!/; (?:not )?active|; at least 1/.test(reason))
          expect([reason, stated?.count]).toEqual([reason, BigInt(recommendedReplicas)]);
        for (const [name, clause] of Object.entries(CLAUSES))
          if (clause.test(reason)) seen.set(name, (seen.get(name) ?? 0) + 1);
      }),
      { numRuns: 2000, seed: 20260101 },
    );
    expect([...seen.keys()].sort()).toEqual(Object.keys(CLAUSES).sort());
  });

  it.each([
    ['without schedules', snapshots],
    ['with schedules', scheduledSnapshots],
  ])('is consistent in 500 arbitrary snapshots, %s', (_, json) => {
    checkAll(json, (_snapshot, { reason, recommendedReplicas }) => {
      const stated = readReason(reason);
      if (stated === null || recommendedReplicas === null) return;
      expect([reason, stated.count]).toEqual([reason, BigInt(recommendedReplicas)]);
    });
  });
});
