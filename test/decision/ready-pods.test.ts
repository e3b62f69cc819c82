import { describe, expect, it } from '@jest/globals';
import { decide } from '../../src/decision/decide.js';
import { parseSnapshot } from '../../src/decision/snapshot/parse-snapshot.js';
import { aDocument } from '../support/builders.js';

/** Seconds after 17:30:00. */
const clock = (seconds: number): string =>
  new Date(Date.UTC(2026, 0, 1, 17, 30) + seconds * 1000).toISOString();

interface YoungPod {
  readonly startedAt: number;
  /** Null: it is not ready. */
  readonly readyAt: number | null;
  readonly hasSample?: boolean;
}

/** Returns the condition ScalingActive at 17:33:00 for pods whose CPU is measured over 120 s. */
function scalingActive(
  pods: readonly YoungPod[],
  {
    now = 180,
    ageSeconds = 0,
    spec = {},
  }: {
    readonly now?: number;
    readonly ageSeconds?: number;
    readonly spec?: Readonly<Record<string, unknown>>;
  } = {},
): string {
  const measured = pods.flatMap(({ hasSample = true }, index) =>
    hasSample ? [[`web-${index}`, { app: 0.5 }] as const] : [],
  );
  const snapshot = {
    scaler: aDocument({ scaleTargetRef: { name: 'web' }, maxReplicas: 10, ...spec }),
    now: clock(now),
    target: { specReplicas: pods.length, statusReplicas: pods.length },
    pods: pods.map(({ startedAt, readyAt }, index) => ({
      name: `web-${index}`,
      phase: 'Running',
      startTime: clock(startedAt),
      ready: readyAt !== null,
      readyChangedAt: clock(readyAt ?? startedAt),
      requests: { app: { cpu: '1' } },
    })),
    samples: [{ at: clock(now - ageSeconds), windowSeconds: 120, containers: Object.fromEntries(measured) }],
  };
  const { conditions } = decide(parseSnapshot(snapshot));
  return conditions.find(({ type }) => type === 'ScalingActive')?.message ?? '';
}

describe('the condition ScalingActive without a pod that counts', () => {
  it('says from when on the first ready pod counts: a window after it became ready', () => {
    const message = scalingActive([
      { startedAt: 120, readyAt: 130 },
      { startedAt: 120, readyAt: 160 },
      { startedAt: 120, readyAt: null },
    ]);

    expect(message).toBe(
      'the replica count could not be calculated from Resource metric cpu: no pod that counts has a sample (pods that are not ready may be excluded); ready pods count from 2026-01-01T17:34:10Z on',
    );
  });

  it.each([
    ['1 s before it', 249, / count from 2026-01-01T17:34:10Z on$/],
    ['at it', 250, /^the replica count was calculated from Resource metric cpu$/],
    ['1 s after it', 251, /^the replica count was calculated from Resource metric cpu$/],
  ])('agrees with the pods that count %s', (_, now, message) => {
    expect(scalingActive([{ startedAt: 120, readyAt: 130 }], { now })).toMatch(message);
  });

  it('names the end of the initialization period if that is earlier than the window', () => {
    const spec = { cpuInitializationPeriodSeconds: 100 };

    expect(scalingActive([{ startedAt: 120, readyAt: 130 }], { spec })).toMatch(
      / count from 2026-01-01T17:33:40Z on$/,
    );
  });

  it('names podWarmupSeconds if that is longer than the window', () => {
    expect(scalingActive([{ startedAt: 120, readyAt: 130 }], { spec: { podWarmupSeconds: 150 } })).toMatch(
      / count from 2026-01-01T17:34:40Z on$/,
    );
  });

  it('names a time that is not past: the samples of a learned interval are 30 s older than the answer', () => {
    const pods = [{ startedAt: 120, readyAt: 130 }];

    expect(scalingActive(pods, { now: 270, ageSeconds: 30 })).toMatch(/ count from 2026-01-01T17:34:40Z on$/);
    expect(scalingActive(pods, { now: 279, ageSeconds: 30 })).toMatch(/ count from 2026-01-01T17:34:40Z on$/);
    expect(scalingActive(pods, { now: 280, ageSeconds: 30 })).toMatch(
      / calculated from Resource metric cpu$/,
    );
  });

  it('names a time for a ready pod without a sample, too, and none if no pod is ready', () => {
    const unsampled = { hasSample: false };

    expect(scalingActive([{ startedAt: 120, readyAt: 130, ...unsampled }])).toMatch(
      / count from 2026-01-01T17:34:10Z on$/,
    );
    expect(scalingActive([{ startedAt: 120, readyAt: null }])).toMatch(
      /\(pods that are not ready may be excluded\)$/,
    );
  });
});
