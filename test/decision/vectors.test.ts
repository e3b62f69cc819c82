import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { decide } from '../../src/decision/decide.js';
import { parseSnapshot } from '../../src/decision/snapshot/parse-snapshot.js';
import { LIMIT_NAMES } from '../../src/decision/result/limit-names.js';
import { decisionToJson, snapshotToJson } from '../../src/decision/result/write-json.js';

/** A case of test/vectors: a field that `expect` omits or sets to null may have any value. */
interface Vector {
  readonly name: string;
  readonly origin: string;
  readonly snapshot: unknown;
  readonly expect: {
    readonly desiredReplicas?: number | null;
    readonly recommendedReplicas?: number | null;
    readonly reason?: string;
    readonly metrics?: readonly (ExpectedMetric | null)[] | null;
    readonly conditions?: Readonly<
      Record<string, { status: string; reason?: string } | 'absent' | null>
    > | null;
    readonly limits?: readonly Readonly<Record<string, unknown>>[];
    readonly state?: Readonly<Record<string, unknown>>;
  };
}

interface ExpectedMetric {
  readonly proposal?: number | null;
  readonly averageUtilization?: number | null;
  readonly averageValue?: number | null;
  readonly value?: number | null;
  readonly ratio?: number | null;
  readonly error?: true | string | null;
  readonly pods?: Readonly<Record<string, readonly string[]>> | null;
  readonly podReasons?: Readonly<Record<string, string>>;
}

const VECTORS = join(import.meta.dirname, '../vectors');
const FILES = readdirSync(VECTORS).filter((file) => file.endsWith('.json'));
const UPSTREAM = [
  'chpa.json',
  'derived.json',
  'normalization.json',
  'pod-grouping.json',
  'reconcile.json',
  'replica-calculation.json',
];

function readVectors(file: string): readonly Vector[] {
  return JSON.parse(readFileSync(join(VECTORS, file), 'utf8')) as readonly Vector[];
}

it('the vectors have 222 cases of HPA and CHPA', () => {
  const count = UPSTREAM.reduce((sum, file) => sum + readVectors(file).length, 0);

  expect(count).toBe(222);
});

it('every limit changes the count in a vector', () => {
  const limits = FILES.flatMap(readVectors).flatMap(({ expect: { limits: expected = [] } }) => expected);

  const seen = new Set(limits.map(({ limit }) => limit));
  expect(LIMIT_NAMES.filter((name) => !seen.has(name))).toEqual([]);
});

describe.each(FILES)('%s', (file) => {
  it.each(readVectors(file).map((vector) => [vector.name, vector] as const))('%s', (_name, vector) => {
    const snapshot = parseSnapshot(vector.snapshot);

    const decision = decide(snapshot);

    // The printed form is the contract, so it is compared.
    const printed = JSON.parse(JSON.stringify(decisionToJson(decision))) as Printed;
    expectCounts(printed, vector.expect);
    expectMetrics(printed, vector.expect.metrics ?? []);
    expectConditions(printed, vector.expect.conditions ?? {});
    expectLimitsAndState(printed, vector.expect);
    const again = decide(parseSnapshot(JSON.parse(JSON.stringify(snapshotToJson(snapshot)))));
    expect(again).toEqual(decision);
  });
});

const ACTION: Readonly<Record<string, string>> = { '-1': 'scale-down', '0': 'none', '1': 'scale-up' };

interface Printed {
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  readonly action: string;
  readonly reason: string;
  readonly recommendedReplicas: number | null;
  readonly metrics: readonly (Omit<ExpectedMetric, 'error'> & {
    readonly current: Readonly<Record<string, number>>;
    readonly error: string | null;
  })[];
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
  readonly limits: readonly unknown[];
  readonly state: Readonly<Record<string, unknown>>;
}

function expectCounts(printed: Printed, expected: Vector['expect']): void {
  const { currentReplicas, desiredReplicas, action } = printed;
  expect(action).toBe(ACTION[String(Math.sign(desiredReplicas - currentReplicas))]);
  if (typeof expected.desiredReplicas === 'number')
    expect(printed.desiredReplicas).toBe(expected.desiredReplicas);
  if (expected.recommendedReplicas !== undefined) {
    expect(printed.recommendedReplicas).toBe(expected.recommendedReplicas);
  }
  if (expected.reason !== undefined) expect(printed.reason).toBe(expected.reason);
}

function expectMetrics(printed: Printed, expected: readonly (ExpectedMetric | null)[]): void {
  for (const [index, entry] of expected.entries()) {
    const metric = printed.metrics[index];
    if (entry === null || metric === undefined) {
      expect(entry === null || metric !== undefined).toBe(true);
      continue;
    }
    if (typeof entry.error === 'string') expect(metric.error).toContain(entry.error);
    else expect(metric.error === null).toBe(entry.error !== true);
    expect(metric.proposal === null).toBe(metric.error !== null);
    if (typeof entry.proposal === 'number') expect(metric.proposal).toBe(entry.proposal);
    for (const name of ['averageUtilization', 'averageValue', 'value'] as const) {
      if (typeof entry[name] === 'number') expectClose(metric.current[name], entry[name]);
    }
    if (typeof entry.ratio === 'number') expectClose(metric.ratio ?? undefined, entry.ratio);
    if (entry.ratio === null) expect(metric.ratio).toBeNull();
    // By entries: toEqual ignores a pod named `__proto__`.
    if (entry.podReasons !== undefined) {
      expect(Object.entries(metric.podReasons ?? {})).toEqual(Object.entries(entry.podReasons));
    }
    for (const [group, names] of Object.entries(entry.pods ?? {})) {
      expect([...(metric.pods?.[group] ?? [])].sort()).toEqual([...names].sort());
    }
  }
}

/** Compares with a relative tolerance of 1e-9, see the README of the vectors. */
function expectClose(actual: number | undefined, expected: number): void {
  expect(actual).toBeDefined();
  expect(Math.abs((actual ?? NaN) - expected)).toBeLessThanOrEqual(1e-9 * Math.abs(expected));
}

function expectConditions(printed: Printed, expected: NonNullable<Vector['expect']['conditions']>): void {
  for (const [type, condition] of Object.entries(expected)) {
    const actual = printed.conditions.find((entry) => entry.type === type);
    if (condition === 'absent') expect(actual).toBeUndefined();
    else if (condition !== null) expect(actual).toMatchObject(condition);
  }
}

function expectLimitsAndState(printed: Printed, expected: Vector['expect']): void {
  if (expected.limits !== undefined) {
    expect(printed.limits).toHaveLength(expected.limits.length);
    expect(printed.limits).toMatchObject(expected.limits);
  }
  for (const [field, value] of Object.entries(expected.state ?? {})) {
    // 'absent' is a separate value: for recommendations it differs from an empty list.
    if (value === 'absent') expect(printed.state[field]).toBeUndefined();
    else expect(printed.state[field]).toEqual(value);
  }
}
