import * as z from 'zod';
import { DURATION_FORM, parseDuration } from '../units/time.js';

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
