import type { QueueInput } from '../backtest/simulation/queue.js';
import type { MetricModel } from '../backtest/simulation/samples.js';
import type { PodStart } from '../backtest/simulation/settings.js';
import type { Scaler } from '../scaler/spec.js';
import type { Position } from '../scaler/problems/problem.js';
import { type Instant, DURATION_FORM, parseDuration } from '../units/time.js';
import type { Series } from './parse-series.js';
import * as z from 'zod';

export interface DocumentTest {
  readonly name: string;
  readonly file: string;
  readonly scaler: Scaler;
  readonly start: Instant;
  /** Seconds between two values of a series. */
  readonly intervalSeconds: number;
  /** Number of ready pods at the start. */
  readonly replicas: number;
  readonly podStart: PodStart;
  /** Whether the decisions are applied and change the replicas. */
  readonly carryOut: boolean;
  /** The series of each metric of the document, in the order of the metrics. */
  readonly inputs: readonly (readonly MetricInput[])[];
  /** The values of the query of `maxReplicasFrom`; null: there are none, and only `maxReplicas` applies. */
  readonly ceiling: Series | null;
  /** Null: the test has no load, so a metric without a series has no value. */
  readonly load: TestLoad | null;
  /** Sorted by round. */
  readonly expectations: readonly Expectation[];
}

/** How the metrics that have no series follow the load. */
export interface TestLoad {
  /** A model for each metric of the document; null: the metric has a series. */
  readonly models: readonly (MetricModel | null)[];
  readonly queue: QueueInput | null;
}

export interface MetricInput {
  /** The pod of the series; null: all ready pods, or the metric is not per pod. */
  readonly pod: string | null;
  /** Whether the values are divided among the ready pods. */
  readonly isShared: boolean;
  /** The additional query that returns the values; null: it is the metric's own query. */
  readonly part: 'backlog' | 'capacity' | null;
  readonly values: Series;
}

export interface Expectation {
  readonly place: Position | null;
  /** Time since the start, as the test file states it. */
  readonly at: string;
  readonly atSeconds: number;
  /** Seconds from the start to the last round at or before `at`. */
  readonly roundSeconds: number;
  readonly replicas: number | null;
  readonly recommendedReplicas: number | null;
  /** Names of the limits, in the order in which they were applied. */
  readonly limits: readonly string[] | null;
  /** Maps the type of a condition to its reason. */
  readonly conditions: Readonly<Record<string, string>>;
  /** Maximum depth of the queue in the round; null: it is not checked. */
  readonly maxDepth: number | null;
  /** Maximum wait until the round, in seconds; null: it is not checked. */
  readonly maxWaitSeconds: number | null;
  /** Maximum share of the load that was lost until the round, in percent; null: it is not checked. */
  readonly maxLostPercent: number | null;
}

/** A field of the decision that does not have the expected value. */
export interface Mismatch {
  readonly field: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

export interface Failure {
  readonly expectation: Expectation;
  readonly mismatches: readonly Mismatch[];
  readonly reason: string;
}

export interface TestResult {
  readonly test: DocumentTest;
  readonly failures: readonly Failure[];
  /** Why the test could not be finished; null: the test was finished. */
  readonly error: string | null;
}

/** Limits the pods, because each decision iterates over all of them. */
export const MAX_PODS = 10_000;

const duration = z.union([z.string(), z.number()]).refine((value) => durationSeconds(value) !== null, {
  error: `must be ${DURATION_FORM}`,
});

const count = z.int().min(0).max(MAX_PODS);
const name = z.string().min(1).max(500);

const seriesValues = z.union([z.string(), z.number()], {
  error: 'must be a number, or values in the notation of promtool, such as 80 90x10',
});

const series = z.strictObject({
  metric: name,
  pod: name.optional(),
  shared: z.boolean().optional(),
  part: z.enum(['backlog', 'capacity']).optional(),
  values: seriesValues,
});

const expectation = z.strictObject({
  at: duration,
  replicas: z.int().min(0).optional(),
  recommendedReplicas: z.int().min(0).optional(),
  limits: z.array(name).max(100).optional(),
  conditions: z.record(z.string(), name).optional(),
  maxDepth: z.number().min(0).optional(),
  maxWait: duration.optional(),
  maxLostPercent: z.number().min(0).max(100).optional(),
});

const load = z.strictObject({
  values: z.union([z.string(), z.number()]),
  capacity: z.number().min(0.000001).max(1e15),
  queue: z.string().optional(),
  metrics: z.record(z.string(), z.string()).optional(),
});

const test = z.strictObject({
  name: name,
  scaler: name.optional(),
  start: z.string().optional(),
  interval: duration.optional(),
  replicas: count.optional(),
  podStart: z.union([z.string(), z.number()]).optional(),
  carryOut: z.boolean().optional(),
  series: z.array(series).max(1000).optional(),
  maxReplicasFrom: seriesValues.optional(),
  load: load.optional(),
  expect: z.array(expectation).min(1).max(10_000),
});

export const testFileSchema = z.strictObject({
  scalers: z.array(name).min(1).max(1000),
  tests: z.array(test).min(1).max(1000),
});

export type TestFileInput = z.infer<typeof testFileSchema>;
export type TestInput = TestFileInput['tests'][number];

/** Returns whole seconds; null: the value is not a duration. Accepts numbers, because YAML reads 0 as a number. */
export function durationSeconds(value: string | number): number | null {
  return parseDuration(String(value));
}
