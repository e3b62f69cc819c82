import { createFleet, podOrderOf } from '../backtest/simulation/fleet.js';
import { containersOf } from '../backtest/simulation/trace-models.js';
import { decide } from '../decision/decide.js';
import type { Decision } from '../decision/result/decision.js';
import { EMPTY_STATE } from '../decision/snapshot/snapshot.js';
import type { State } from '../decision/snapshot/snapshot.js';
import type { Scaler } from '../scaler/spec.js';
import type { Milli } from '../units/quantity.js';
import { addSeconds } from '../units/time.js';
import type { DocumentTest, Expectation, Failure, Mismatch, TestResult } from './document-test.js';
import { sampleOf } from './sample-of.js';
import { MAX_PODS } from './test-schema.js';

/**
 * Runs a test with the `decide` that scales the cluster: one round at the start and one per sync period. Each decision
 * is carried out before the next round, unless the test disables that. Pause and dry run of the document are ignored.
 * Awaits `pause` before each round, because many rounds with many pods take minutes; rejects if `pause` rejects.
 */
export async function runDocumentTest(test: DocumentTest, pause: () => Promise<void>): Promise<TestResult> {
  const { scaler, start, inputs } = test;
  const fleet = createFleet({
    replicas: test.replicas,
    start,
    podStartSeconds: test.podStartSeconds,
    requests: requestsOf(scaler),
    order: podOrderOf(scaler),
  });
  const failures: Failure[] = [];
  const lastRound = test.expectations.at(-1)?.roundSeconds ?? 0;
  let state: State = EMPTY_STATE;
  for (let seconds = 0; seconds <= lastRound; seconds += scaler.spec.syncPeriodSeconds) {
    await pause();
    const now = addSeconds(start, seconds);
    fleet.advanceTo(now);
    const pods = fleet.pods();
    const index = Math.floor(seconds / test.intervalSeconds);
    const samples = scaler.spec.metrics.map((metric, number) =>
      sampleOf(metric, inputs[number] ?? [], { index, now, pods }),
    );
    const target = { specReplicas: fleet.replicas(), statusReplicas: pods.length };
    const decision = decide({ scaler, now, target, pods, samples, state });
    for (const expectation of test.expectations) {
      const mismatches = expectation.roundSeconds === seconds ? compare(expectation, decision) : [];
      if (mismatches.length > 0) failures.push({ expectation, mismatches, reason: decision.reason });
    }
    const { desiredReplicas } = decision;
    // A decision that is not carried out must not count for windows and policies.
    state = test.carryOut ? decision.state : { ...decision.state, ...changesOf(state) };
    if (!test.carryOut || desiredReplicas === fleet.replicas()) continue;
    if (desiredReplicas > MAX_PODS)
      return {
        test,
        failures,
        error: `${desiredReplicas} replicas at ${seconds} s, must be at most ${MAX_PODS}`,
      };
    fleet.scaleTo(desiredReplicas, now);
  }
  return { test, failures, error: null };
}

function changesOf(state: State): Partial<State> {
  const { lastScaleUp, lastScaleDown, scaleEvents, zeroedBySelf } = state;
  return { lastScaleUp, lastScaleDown, scaleEvents, zeroedBySelf };
}

/** 1 core and 1 GiB. Only the ratio of usage and request matters. */
const REQUESTS: ReadonlyMap<string, Milli> = new Map([
  ['cpu', 1000n],
  ['memory', 1000n * 1024n ** 3n],
]);

function requestsOf(scaler: Scaler): ReadonlyMap<string, ReadonlyMap<string, Milli>> {
  const resources = scaler.spec.metrics.flatMap((metric) =>
    metric.type === 'Resource' || metric.type === 'ContainerResource' ? [metric.name] : [],
  );
  const requests = new Map([...resources.map((name) => [name, 1000n] as const), ...REQUESTS]);
  return new Map(containersOf(scaler).map((name) => [name, requests]));
}

function compare(expectation: Expectation, decision: Decision): readonly Mismatch[] {
  const { replicas, recommendedReplicas, limits, conditions } = expectation;
  const applied = decision.limits.map(({ limit }) => limit);
  const found: (Mismatch | null)[] = [
    replicas === null || replicas === decision.desiredReplicas
      ? null
      : { field: 'replicas', expected: replicas, actual: decision.desiredReplicas },
    recommendedReplicas === null || recommendedReplicas === decision.recommendedReplicas
      ? null
      : {
          field: 'recommendedReplicas',
          expected: recommendedReplicas,
          actual: decision.recommendedReplicas,
        },
    limits === null || limits.join(' ') === applied.join(' ')
      ? null
      : { field: 'limits', expected: limits, actual: applied },
    ...Object.entries(conditions).map(([type, reason]) => {
      const actual = decision.conditions.find((condition) => condition.type === type)?.reason ?? null;
      return actual === reason ? null : { field: `conditions.${type}`, expected: reason, actual };
    }),
  ];
  return found.filter((mismatch) => mismatch !== null);
}
