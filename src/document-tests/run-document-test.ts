import { podOrderOf } from '../backtest/simulation/fleet.js';
import type { QueueLog } from '../backtest/simulation/queue.js';
import { containersOf, traceCpuLimit } from '../backtest/simulation/trace-models.js';
import { createWorkload } from '../backtest/simulation/workload.js';
import { decide } from '../decision/decide.js';
import type { Decision } from '../decision/result/decision.js';
import {
  EMPTY_STATE,
  type Snapshot,
  type State,
  listUsage,
  type Pod,
  type Sample,
  type ValuesSample,
} from '../decision/snapshot/snapshot.js';
import { isOfResource, isOfTotal, type MetricSpec, type Scaler } from '../scaler/spec.js';
import { type Milli, milliToNumber } from '../units/quantity.js';
import { addSeconds, type Instant } from '../units/time.js';
import {
  type DocumentTest,
  type Expectation,
  type Failure,
  type Mismatch,
  type TestResult,
  type MetricInput,
  MAX_PODS,
} from './document-test.js';
import { SCRAPE_INTERVAL_SECONDS } from './check-load.js';
import { sameEachDay } from '../backtest/simulation/samples.js';
import { errorSample } from '../decision/snapshot/judge-sample.js';
import { countOf } from '../units/format.js';

/**
 * Runs a test with the function `decide` of the service: a round at the start, and a round in each sync period. Each
 * decision is applied before the next round, unless the test disables that. A pause or dry run of the document is
 * ignored. `pause` is awaited before each round, because many rounds with many pods take minutes. If `pause` rejects,
 * this function rejects, too.
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
    // A decision that is not applied is no rescale, so later windows and policies must not see it.
    state = test.carryOut ? decision.state : { ...decision.state, ...changesOf(state) };
    if (!test.carryOut) continue;
    if (desiredReplicas > MAX_PODS)
      return {
        test,
        failures,
        error: `${countOf(desiredReplicas, 'replica')} at ${seconds} s, must be at most ${MAX_PODS}`,
      };
    workload.scaleTo(desiredReplicas, now);
  }
  return { test, failures, error: null };
}

/** Returns the answer to the query of `maxReplicasFrom`. `index`: the index of its value in the series. */
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
  const compared = [
    ['maxDepth', maxDepth, depth],
    ['maxWait', maxWaitSeconds, wait],
    ['maxLostPercent', maxLostPercent, lostPercent],
  ] as const;
  return compared.flatMap(([field, most, actual]) => {
    if (most === null || actual <= most) return [];
    // Values are shown as in the test file: `maxWait` is a duration.
    const shown = (value: number): unknown => (field === 'maxWait' ? `${value}s` : value);
    return [{ field, expected: shown(most), actual: shown(Number(actual.toPrecision(4))) }];
  });
}

function changesOf(state: State): Partial<State> {
  const { lastScaleUp, lastScaleDown, scaleEvents, zeroedBySelf } = state;
  return { lastScaleUp, lastScaleDown, scaleEvents, zeroedBySelf };
}

/** The assumed requests of a pod: 1 core and 1 GiB. Only the ratio of usage and request matters. */
const REQUESTS: ReadonlyMap<string, Milli> = new Map([
  ['cpu', 1000n],
  ['memory', 1000n * 1024n ** 3n],
]);

function requestsOf(scaler: Scaler): ReadonlyMap<string, ReadonlyMap<string, Milli>> {
  const resources = scaler.spec.metrics.flatMap((metric) => (isOfResource(metric) ? [metric.name] : []));
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

/** Returns the answer to the query of a metric. `index`: the index of the value in each series. */
function sampleOf(
  metric: MetricSpec,
  inputs: readonly MetricInput[],
  { index, now, pods }: { readonly index: number; readonly now: Instant; readonly pods: readonly Pod[] },
): Sample {
  if (isOfTotal(metric)) {
    const valuesOf = (of: MetricInput['part']): readonly number[] =>
      inputs.flatMap(({ part, values: series }) => (part === of ? (series.at(index) ?? []) : []));
    const values = valuesOf(null);
    if (values.length === 0) return NO_SERIES;
    return {
      form: 'values',
      at: now,
      values,
      partial: null,
      ...partsOf(metric, inputs, { at: now, valuesOf }),
    };
  }
  const byPod = valuesByPod(inputs, index, pods);
  const values = [...byPod.values()];
  if (values.length === 0) return NO_SERIES;
  if (values.every(Number.isNaN)) return errorSample('nan', 'every value is NaN');
  if (metric.type === 'Pods')
    return { form: 'pods', at: now, windowSeconds: 0, pods: [...byPod.keys()], values, partial: null };
  const usage = new Map(
    pods.flatMap((pod) => {
      const value = byPod.get(pod.name);
      return value === undefined ? [] : [[pod.name, usageOf(metric, value, pod)] as const];
    }),
  );
  return { form: 'containers', at: now, windowSeconds: 0, ...listUsage(usage), partial: null };
}

/** Returns backlog and capacity. If the test has no series for the capacity, the target is used as the capacity. */
function partsOf(
  metric: Extract<MetricSpec, { readonly type: 'Object' | 'External' }>,
  inputs: readonly MetricInput[],
  {
    at,
    valuesOf,
  }: { readonly at: Instant; readonly valuesOf: (part: MetricInput['part']) => readonly number[] },
): Partial<ValuesSample> {
  const { backlog, capacityQuery, autoCapacity, target } = metric;
  const waiting = backlog === undefined ? [] : valuesOf('backlog');
  const ofBacklog = waiting.length === 0 ? {} : { backlog: waiting.reduce((sum, value) => sum + value, 0) };
  if ((capacityQuery ?? autoCapacity) === undefined || target.type === 'Utilization') return ofBacklog;
  const [given] = valuesOf('capacity');
  const capacity = inputs.some(({ part }) => part === 'capacity') ? given : milliToNumber(target.milli);
  if (capacity !== undefined)
    return capacityQuery === undefined
      ? { ...ofBacklog, measuredCapacity: sameEachDay(capacity, at) }
      : { ...ofBacklog, capacity };
  return autoCapacity?.mode === 'Observe'
    ? ofBacklog
    : { ...ofBacklog, partial: 'capacity: no series, so target.averageValue applies' };
}

const NO_SERIES = errorSample(
  'missing',
  'no series has a value at this time; 80x10 repeats a value 10 times',
);

/**
 * Returns the value of each pod. A series for a single pod takes precedence; a series for all pods counts for ready
 * pods only.
 */
function valuesByPod(
  inputs: readonly MetricInput[],
  index: number,
  pods: readonly Pod[],
): ReadonlyMap<string, number> {
  const ready = pods.filter((pod) => pod.ready === true);
  const values = new Map<string, number>();
  for (const input of inputs) {
    const value = input.values.at(index);
    if (value === null || input.pod !== null) continue;
    for (const { name } of ready) values.set(name, input.isShared ? value / ready.length : value);
  }
  for (const { pod, values: own } of inputs) {
    const value = own.at(index);
    if (pod === null || !pods.some(({ name }) => name === pod)) continue;
    if (value === null) values.delete(pod);
    else values.set(pod, value);
  }
  return values;
}

/**
 * Returns the usage of each container. `value` is in percent of the request if the target is a utilization. Otherwise,
 * it is the usage of the whole pod, which is assigned to the first container.
 */
function usageOf(
  metric: Extract<MetricSpec, { readonly type: 'Resource' | 'ContainerResource' }>,
  value: number,
  { requests }: Pod,
): ReadonlyMap<string, number> {
  const containers = metric.type === 'ContainerResource' ? [metric.container] : [...requests.keys()];
  return new Map(
    containers.map((name, index) => {
      if (metric.target.type !== 'Utilization') return [name, index === 0 ? value : 0];
      const request = requests.get(name)?.get(metric.name) ?? 0n;
      return [name, (value / 100) * milliToNumber(request)];
    }),
  );
}
