import { podOrderOf } from '../backtest/simulation/fleet.js';
import type { QueueLog } from '../backtest/simulation/queue.js';
import { containersOf, traceCpuLimit } from '../backtest/simulation/trace-models.js';
import { createWorkload } from '../backtest/simulation/workload.js';
import { decide } from '../decision/decide.js';
import type { Decision } from '../decision/result/decision.js';
import { EMPTY_STATE } from '../decision/snapshot/snapshot.js';
import type { Snapshot, State } from '../decision/snapshot/snapshot.js';
import type { Scaler } from '../scaler/spec.js';
import type { Milli } from '../units/quantity.js';
import { addSeconds, type Instant } from '../units/time.js';
import type { DocumentTest, Expectation, Failure, Mismatch, TestResult } from './document-test.js';
import { SCRAPE_INTERVAL_SECONDS } from './check-load.js';
import { NO_SERIES, sampleOf } from './sample-of.js';
import { MAX_PODS } from './test-schema.js';

/**
 * Runs a test with the `decide` that scales the cluster: one round at the start and one per sync period. Each decision
 * is carried out before the next round, unless the test disables that. Pause and dry run of the document are ignored.
 * Awaits `pause` before each round, because many rounds with many pods take minutes; rejects if `pause` rejects.
 */
export async function runDocumentTest(test: DocumentTest, pause: () => Promise<void>): Promise<TestResult> {
  const { scaler, start, inputs, load } = test;
  const { metrics } = scaler.spec;
  const lastRound = test.expectations.at(-1)?.roundSeconds ?? 0;
  const models = load?.models ?? metrics.map(() => null);
  const followers = metrics.filter((_, index) => (models[index] ?? null) !== null);
  const workload = createWorkload(
    { ...scaler, spec: { ...scaler.spec, metrics: followers } },
    {
      start,
      end: addSeconds(start, lastRound),
      models,
      initialReplicas: test.replicas,
      podStart: test.podStart,
      scrapeIntervalSeconds: SCRAPE_INTERVAL_SECONDS,
      requests: requestsOf(scaler),
      order: podOrderOf(scaler),
      ...(load === null ? {} : { cpuLimit: traceCpuLimit(scaler, 100) }),
      ...(load?.queue === undefined || load.queue === null ? {} : { queue: load.queue }),
    },
  );
  const failures: Failure[] = [];
  let state: State = EMPTY_STATE;
  for (let seconds = 0; seconds <= lastRound; seconds += scaler.spec.syncPeriodSeconds) {
    await pause();
    const now = addSeconds(start, seconds);
    workload.advanceTo(now);
    const { samples: followed, ...observed } = workload.observe(now);
    const { pods } = observed;
    const index = Math.floor(seconds / test.intervalSeconds);
    const samples = metrics.map(
      (metric, number) =>
        followed[followers.indexOf(metric)] ?? sampleOf(metric, inputs[number] ?? [], { index, now, pods }),
    );
    const ceiling = ceilingAt(test, index, now);
    const decision = decide({ scaler, now, ...observed, ...ceiling, samples, state });
    for (const expectation of test.expectations) {
      if (expectation.roundSeconds !== seconds) continue;
      const mismatches = [
        ...compare(expectation, decision),
        ...compareQueue(expectation, workload.queue?.log() ?? null, workload.queue?.depth() ?? 0),
      ];
      if (mismatches.length > 0) failures.push({ expectation, mismatches, reason: decision.reason });
    }
    const { desiredReplicas } = decision;
    // A decision that is not carried out must not count for windows and policies.
    state = test.carryOut ? decision.state : { ...decision.state, ...changesOf(state) };
    if (!test.carryOut) continue;
    if (desiredReplicas > MAX_PODS)
      return {
        test,
        failures,
        error: `${desiredReplicas} replicas at ${seconds} s, must be at most ${MAX_PODS}`,
      };
    workload.scaleTo(desiredReplicas, now);
  }
  return { test, failures, error: null };
}

/** Returns the answer to the query of `maxReplicasFrom`. */
function ceilingAt(
  { ceiling }: DocumentTest,
  index: number,
  now: Instant,
): Pick<Snapshot, 'maxReplicasFrom'> {
  if (ceiling === null) return {};
  const value = ceiling.at(index);
  return {
    maxReplicasFrom: value === null ? NO_SERIES : { form: 'values', at: now, values: [value], partial: null },
  };
}

/** Compares with the queue until the round. */
function compareQueue(
  { maxDepth, maxWaitSeconds, maxLostPercent }: Expectation,
  log: QueueLog | null,
  depth: number,
): readonly Mismatch[] {
  if (log === null) return [];
  const sum = (column: Float32Array): number => column.reduce((total, value) => total + value, 0);
  const arrived = sum(log.arrived);
  const wait = log.longestWait.reduce((longest, value) => Math.max(longest, value), 0);
  const lostPercent = arrived === 0 ? 0 : (100 * sum(log.lost)) / arrived;
  const mismatch = (field: string, most: number | null, actual: number): readonly Mismatch[] =>
    most === null || actual <= most ? [] : [{ field, expected: most, actual: Number(actual.toPrecision(4)) }];
  return [
    ...mismatch('maxDepth', maxDepth, depth),
    ...mismatch('maxWait', maxWaitSeconds, wait),
    ...mismatch('maxLostPercent', maxLostPercent, lostPercent),
  ];
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
