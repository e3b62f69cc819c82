import * as z from 'zod';

/** A fleet is a list of pods, each of which a decision visits. */
export const MAX_PODS = 10_000;

const duration = z.union([z.string(), z.number()]).refine((value) => durationSeconds(value) !== null, {
  error: 'must be a duration such as 30s, 5m or 1h30m',
});

const count = z.int().min(0).max(MAX_PODS);
const name = z.string().min(1).max(500);

const series = z.strictObject({
  metric: name,
  pod: name.optional(),
  shared: z.boolean().optional(),
  values: z.union([z.string(), z.number()], {
    error: 'must be a number, or values in the notation of promtool, such as 80 90x10',
  }),
});

const expectation = z.strictObject({
  at: duration,
  replicas: z.int().min(0).optional(),
  recommendedReplicas: z.int().min(0).optional(),
  limits: z.array(name).max(100).optional(),
  conditions: z.record(z.string(), name).optional(),
});

const test = z.strictObject({
  name: name,
  scaler: name.optional(),
  start: z.string().optional(),
  interval: duration.optional(),
  replicas: count.optional(),
  podStart: duration.optional(),
  carryOut: z.boolean().optional(),
  series: z.array(series).max(1000).optional(),
  expect: z.array(expectation).min(1).max(10_000),
});

export const testFileSchema = z.strictObject({
  scalers: z.array(name).min(1).max(1000),
  tests: z.array(test).min(1).max(1000),
});

export type TestFileInput = z.infer<typeof testFileSchema>;
export type TestInput = TestFileInput['tests'][number];

const DURATION = /^(?:(\d{1,4})w)?(?:(\d{1,5})d)?(?:(\d{1,6})h)?(?:(\d{1,7})m)?(?:(\d{1,9})s)?$/;
const SECONDS = [604_800, 86_400, 3600, 60, 1];

/** Returns whole seconds of a duration of Prometheus; null if it is none. 0 needs no unit. */
export function durationSeconds(value: string | number): number | null {
  if (value === 0 || value === '0') return 0;
  const match = typeof value === 'string' && value !== '' ? DURATION.exec(value) : null;
  if (match === null) return null;
  return SECONDS.reduce((sum, seconds, index) => sum + seconds * Number(match[index + 1] ?? 0), 0);
}
