import { errorSample } from '../../../src/decision/snapshot/judge-sample.js';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  measureCapacities,
  measureCapacity,
  withCapacities,
} from '../../../src/control/memory/measured-capacity.js';
import type { MeasuredCapacity, Pod } from '../../../src/decision/snapshot/snapshot.js';
import type { CapacityReading } from '../../../src/prometheus/queries/capacity-watch.js';
import { addSeconds, type Instant } from '../../../src/units/time.js';
import { scalerOf, T0 } from '../../support/builders.js';

const HOUR = 3600;
const hour = (hours: number): Instant => addSeconds(T0, hours * HOUR);
/** Pods that started at an hour. */
const podsOf = (...starts: readonly number[]): readonly Pod[] =>
  starts.map((start, index) => ({
    name: `pod-${index}`,
    phase: 'Running',
    deleting: false,
    startTime: hour(start),
    ready: true,
    readyChangedAt: hour(start),
    requests: new Map(),
    podRequests: null,
  }));
const OLD = podsOf(-500, -2);
const reading = (at: number, values: Partial<CapacityReading> = {}): CapacityReading => ({
  at: hour(at),
  days: [9.5, 9, 8.8],
  recent: 7,
  limit: null,
  ...values,
});

describe('the measured capacity of a pod', () => {
  it('is the highest of three days, with their spread', () => {
    expect(measureCapacity(undefined, reading(0), OLD)).toEqual({
      value: 9.5,
      low: 8.8,
      high: 9.5,
      days: 3,
      at: T0,
    });
  });

  it('is that of the last hour if there is no other, and unknown if nothing was served: never 0', () => {
    const days = [null, null, null];

    expect(measureCapacity(undefined, reading(0, { days }), OLD)).toMatchObject({ value: 7, days: 0 });
    expect(measureCapacity(undefined, reading(0, { days, recent: null }), OLD)).toBeNull();
  });

  it('rises without a drift while some pods are old: they were not that busy before', () => {
    const measured = measureCapacity(undefined, reading(0, { recent: 12 }), OLD);

    expect(measured).toMatchObject({ value: 12, high: 9.5 });
    expect(measured).not.toHaveProperty('drift');
  });

  it.each([
    [10.45, false],
    [10.46, true],
  ])('after a release, %d in an hour is a drift to more: %p', (recent, isDrift) => {
    const measured = measureCapacity(undefined, reading(2, { recent }), podsOf(0.5, 1));

    expect(measured?.drift).toEqual(
      isDrift ? { since: hour(2), before: 9.5, oldestPod: hour(0.5) } : undefined,
    );
  });

  it.each([
    [7.93, undefined],
    [7.91, 7.91],
    [4.4, 4.4],
    [4.39, undefined],
  ])(
    'pods at their limit that served %d carry that: below 90 %% of the lowest day, not below half',
    (limit, value) => {
      const measured = measureCapacity(undefined, reading(2, { limit, recent: 3 }), podsOf(0.5, 1));

      expect(measured?.value).toBe(value ?? 9.5);
      expect(measured?.drift?.oldestPod).toEqual(value === undefined ? undefined : hour(0.5));
    },
  );

  it('a release at any minute is noticed with the second reading after it, within 2 hours', () => {
    for (let minute = 1; minute <= 60; minute += 1) {
      const release = minute / 60;
      // The hour of the first reading has both, that of the second one only the new pods.
      const mixed = measureCapacity(undefined, reading(1, { limit: 9.4 }), podsOf(release));
      const clean = measureCapacity(mixed ?? undefined, reading(2, { limit: 7 }), podsOf(release));

      expect(mixed).not.toHaveProperty('drift');
      expect(clean?.drift).toEqual({ since: hour(2), before: 9.5, oldestPod: hour(release) });
      expect(2 - release).toBeLessThan(2);
    }
  });

  it('stays at less through quiet hours, and ends when pods serve as much as before, or after 3 days', () => {
    const pods = podsOf(0.5);
    const lower = measureCapacity(undefined, reading(1, { limit: 7 }), pods) ?? undefined;
    const quiet = measureCapacity(lower, reading(2, { recent: 2 }), pods) ?? undefined;

    expect(quiet).toMatchObject({ value: 7, drift: { since: hour(1) } });
    expect(measureCapacity(quiet, reading(3, { recent: 7.5 }), pods)).toMatchObject({ value: 7.5 });
    expect(measureCapacity(quiet, reading(3, { limit: 6 }), pods)?.value).toBe(7);
    expect(measureCapacity(quiet, reading(3, { limit: 6, recent: 2 }), pods)?.value).toBe(6);
    expect(measureCapacity(quiet, reading(3, { recent: 8.56 }), pods)).not.toHaveProperty('drift');
    const days = [7, 7, 7];
    expect(measureCapacity(quiet, reading(72, { recent: 2, days }), pods)).toHaveProperty('drift');
    expect(measureCapacity(quiet, reading(73, { recent: 2, days }), pods)).toEqual({
      ...{ value: 7, low: 7, high: 7, days: 3 },
      at: hour(73),
    });
  });

  it('is judged once for each reading', () => {
    const first = measureCapacity(undefined, reading(0), OLD) ?? undefined;

    expect(measureCapacity(first, reading(0, { limit: 5 }), podsOf(0))).toBe(first);
  });

  it('is above 0, finite, and has a drift of less only with a limit, for any readings', () => {
    const amount = fc.option(fc.double({ min: 1e-6, max: 1e9, noNaN: true }));
    const readings = fc.array(
      fc.record({ days: fc.tuple(amount, amount, amount), recent: amount, limit: amount }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(readings, fc.array(fc.integer({ min: -100, max: 10 })), (all, starts) => {
        let before: MeasuredCapacity | undefined;
        let hadLimit = false;
        for (const [at, values] of all.entries()) {
          const measured = measureCapacity(before, { at: hour(at), ...values }, podsOf(...starts));
          hadLimit ||= values.limit !== null;
          if (measured !== null) {
            expect(measured.value > 0 && Number.isFinite(measured.value)).toBe(true);
            expect(measured.low).toBeLessThanOrEqual(measured.high);
            const { drift } = measured;
            if (drift !== undefined && measured.value < drift.before) expect(hadLimit).toBe(true);
          } else expect([...values.days, values.recent]).toEqual([null, null, null, null]);
          before = measured ?? undefined;
        }
      }),
      { seed: 33, numRuns: 300 },
    );
  });
});

describe('the samples of a document', () => {
  const NONE = { capacities: undefined, now: T0 };
  const scaler = (mode?: string) =>
    scalerOf({
      scaleTargetRef: { name: 'web' },
      maxReplicas: 20,
      metrics: [
        { resource: { name: 'cpu', target: { averageUtilization: 60 } } },
        {
          external: {
            metric: { name: 'rps' },
            query: 'sum(rps)',
            target: { averageValue: 8 },
            capacity: { auto: { ...(mode === undefined ? {} : { mode }), served: { query: 'sum(served)' } } },
          },
        },
      ],
    });
  const cpu = errorSample('missing', 'none');
  const sample = { form: 'values', at: T0, values: [40], partial: null } as const;

  it('have what was measured, also if it is only observed', () => {
    const web = scaler();
    const given = { readingOf: () => reading(0), pods: OLD, now: T0 };
    const capacities = measureCapacities(undefined, web, given);

    const [measured] = [...(capacities?.values() ?? [])];
    expect(withCapacities([cpu, sample], web, { capacities, now: T0 })).toEqual([
      cpu,
      { ...sample, measuredCapacity: measured },
    ]);
  });

  it('without a reading are partial for a document that uses it, and unchanged for one that observes it', () => {
    const given = { readingOf: () => null, pods: OLD, now: T0 };

    expect(measureCapacities(undefined, scaler(), given)).toBeUndefined();
    expect(withCapacities([cpu, sample], scaler('Observe'), NONE)).toEqual([cpu, sample]);
    expect(withCapacities([cpu, sample], scaler('Use'), NONE)[1]).toMatchObject({
      partial: 'the capacity is not known yet, so target.averageValue applies',
    });
  });
});
