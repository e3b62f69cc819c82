import type { Scaler } from '../scaler/spec.js';
import type { Position } from '../scaler/problems/problem.js';
import type { Instant } from '../units/time.js';
import type { Series } from './parse-series.js';

/** One test of a document, checked. */
export interface DocumentTest {
  readonly name: string;
  readonly file: string;
  readonly scaler: Scaler;
  readonly start: Instant;
  /** Between two values of a series. */
  readonly intervalSeconds: number;
  /** Ready at the start. */
  readonly replicas: number;
  /** From the creation of a pod until it is ready. */
  readonly podStartSeconds: number;
  /** False: the replicas stay as they are. */
  readonly carryOut: boolean;
  /** By index of the metric in the document. */
  readonly inputs: readonly (readonly MetricInput[])[];
  /** Ascending by round. */
  readonly expectations: readonly Expectation[];
}

export interface MetricInput {
  /** Null: each ready pod, or a metric that is not per pod. */
  readonly pod: string | null;
  /** The values are divided among the ready pods. */
  readonly isShared: boolean;
  readonly values: Series;
}

export interface Expectation {
  readonly place: Position | null;
  /** After the start, as written and in seconds. */
  readonly at: string;
  readonly atSeconds: number;
  /** The last round at or before `at`. */
  readonly roundSeconds: number;
  readonly replicas: number | null;
  readonly recommendedReplicas: number | null;
  /** Names in the order in which they were applied. */
  readonly limits: readonly string[] | null;
  /** Reason by type. */
  readonly conditions: Readonly<Record<string, string>>;
}

/** A field of a decision that is not as expected. */
export interface Mismatch {
  readonly field: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

export interface Failure {
  readonly expectation: Expectation;
  readonly mismatches: readonly Mismatch[];
  /** Of the decision. */
  readonly reason: string;
}

export interface TestResult {
  readonly test: DocumentTest;
  readonly failures: readonly Failure[];
  /** Why the test could not run to its end; null: it could. */
  readonly error: string | null;
}
