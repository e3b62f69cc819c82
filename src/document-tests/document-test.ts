import type { QueueInput } from '../backtest/simulation/queue.js';
import type { MetricModel } from '../backtest/simulation/samples.js';
import type { PodStart } from '../backtest/simulation/settings.js';
import type { Scaler } from '../scaler/spec.js';
import type { Position } from '../scaler/problems/problem.js';
import type { Instant } from '../units/time.js';
import type { Series } from './parse-series.js';

export interface DocumentTest {
  readonly name: string;
  readonly file: string;
  readonly scaler: Scaler;
  readonly start: Instant;
  /** Time between two values of a series. */
  readonly intervalSeconds: number;
  /** Ready pods at the start. */
  readonly replicas: number;
  readonly podStart: PodStart;
  /** Whether decisions change the replicas. */
  readonly carryOut: boolean;
  /** One entry for each metric of the document, in the same order. */
  readonly inputs: readonly (readonly MetricInput[])[];
  /** Values of the `maxReplicasFrom` query; null: none, only `maxReplicas` applies. */
  readonly ceiling: Series | null;
  /** Null: all metrics have a series, or no value. */
  readonly load: TestLoad | null;
  /** In ascending order of rounds. */
  readonly expectations: readonly Expectation[];
}

/** How the metrics without a series follow a load. */
export interface TestLoad {
  /** One for each metric of the document; null: the metric has a series. */
  readonly models: readonly (MetricModel | null)[];
  readonly queue: QueueInput | null;
}

export interface MetricInput {
  /** Null: all ready pods, or a metric that is not per pod. */
  readonly pod: string | null;
  /** Whether the values are divided among the ready pods. */
  readonly isShared: boolean;
  /** The additional query of the metric that returns the values; null: the query of the metric itself. */
  readonly part: 'backlog' | 'capacity' | null;
  readonly values: Series;
}

export interface Expectation {
  readonly place: Position | null;
  /** Time after the start, as written in the test. */
  readonly at: string;
  readonly atSeconds: number;
  /** The last round at or before `at`. */
  readonly roundSeconds: number;
  readonly replicas: number | null;
  readonly recommendedReplicas: number | null;
  /** Names in the order in which the limits were applied. */
  readonly limits: readonly string[] | null;
  /** Condition type -> reason. */
  readonly conditions: Readonly<Record<string, string>>;
  /** Maximum queue depth at the round. */
  readonly maxDepth: number | null;
  /** Maximum wait until the round. */
  readonly maxWaitSeconds: number | null;
  /** Maximum share of lost load until the round. */
  readonly maxLostPercent: number | null;
}

/** A field of a decision that differs from the expectation. */
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
  /** Why the test did not finish; null: it finished. */
  readonly error: string | null;
}
