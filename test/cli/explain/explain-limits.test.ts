import { describe, expect, it } from '@jest/globals';
import { cpuSnapshot, explainSnapshot, scalerDocument } from '../live-service.js';

describe('the limits in explain --snapshot', () => {
  it('names one cause, the maximum of 8, where one scale-up from 4 may not exceed 8 either', async () => {
    const text = await explainSnapshot(cpuSnapshot(180, { scaler: scalerDocument({ maxReplicas: 8 }) }));

    expect(text).toContain(': 4 -> 8, 12 recommended, 8 by max_replicas (maxReplicas is 8)\n');
    expect(text).toContain(`Limits, in order: 12 recommended, 8 desired
  1. max_replicas  12 -> 8  maxReplicas is 8
`);
    expect(text).toContain('TooManyReplicas: 12 recommended, maxReplicas is 8\n');
    expect(text).not.toContain('scale_up_limit');
  });

  it.each([
    ['minimum', { minReplicas: 4 }],
    ['maximum', { maxReplicas: 4 }],
  ])('prints that a recommendation of 4 is the %s', async (bound, fields) => {
    expect(await explainSnapshot(cpuSnapshot(60, { scaler: scalerDocument(fields) }))).toContain(
      `Limits: none changed the recommendation of 4, the ${bound} in effect\n`,
    );
  });

  it('prints stabilization with the remaining time, 240 s of 300', async () => {
    const state = { recommendations: [{ at: '2025-12-31T23:59:00Z', replicas: 4 }] };

    const text = await explainSnapshot(cpuSnapshot(30, { state }));

    expect(text).toContain(`Limits, in order: 2 recommended, 4 desired
  1. stabilization  2 -> 4  4 was recommended at Dec 31, 23:59:00 and counts for 300 s
`);
    expect(text).toContain('stabilization  until 00:04:00, in 4m\n');
  });

  it.each([
    ['the count of the first decision', {}],
    ['a recommendation of 4, 60 s ago', { recommendations: [{ at: '2025-12-31T23:59:00Z', replicas: 4 }] }],
    ['a recovery hold', { holdScaleDownUntil: '2026-01-01T00:05:00Z', holdReason: 'cpu has just returned' }],
  ])(
    'names the minimum of 4 in headline, limits, restrictions and conditions despite %s',
    async (_what, state) => {
      const scaler = scalerDocument({ minReplicas: 4 });

      const text = await explainSnapshot(cpuSnapshot(30, { scaler, state }));

      expect(text).toContain('shop/web  stays at 4, not 2: minReplicas is 4  (');
      expect(text).toContain(`Limits, in order: 2 recommended, 4 desired
  1. min_replicas  2 -> 4  minReplicas is 4
`);
      expect(text).toContain('Restrictions\n  min_replicas');
      expect(text).toMatch(/ScalingLimited +True +TooFewReplicas: 2 recommended, minReplicas is 4\n/);
      expect(text).toMatch(/AbleToScale +True +ReadyForNewScale/);
      expect(text).not.toContain('stabilization  ');
    },
  );

  it('says that selectPolicy: Disabled holds the count until the document changes', async () => {
    const behavior = { scaleDown: { stabilizationWindowSeconds: 0, selectPolicy: 'Disabled' } };

    expect(await explainSnapshot(cpuSnapshot(30, { scaler: scalerDocument({ behavior }) }))).toContain(
      'Restrictions\n  policy  until behavior.scaleDown of the document has another selectPolicy\n',
    );
  });

  it('names in the restrictions the metric without series that keeps the count, and a 0 that a person has set', async () => {
    const queue = (name: string): object => ({
      external: { metric: { name }, query: 'sum(x)', onMissing: 'zero', target: { averageValue: 30 } },
    });
    const empty = { error: 'no series', kind: 'missing' };
    const scaler = scalerDocument({ minReplicas: 0, metrics: [queue('mails'), queue('jobs')] });
    const target = { specReplicas: 0 };
    const asleep = cpuSnapshot(0, {
      scaler,
      target,
      samples: [empty, { ...empty }],
      state: { zeroedBySelf: true },
    });

    expect(await explainSnapshot(asleep)).toContain(
      'Restrictions\n  no series  until mails, jobs have series: without series, the value is 0 (onMissing: zero)\n',
    );
    expect(await explainSnapshot(cpuSnapshot(30, { target }))).toContain(
      'Restrictions\n  ScalingDisabled  until another client sets at least 1 replica\n',
    );
  });

  it('names both schedules if the ceiling of one lowers the floor of the other', async () => {
    const [start, end] = ['0 0 * * *', '0 2 * * *'];
    const schedules = [
      { name: 'batch', start, end, minReplicas: 5 },
      { name: 'saving', start, end: '0 3 * * *', maxReplicas: 4 },
    ];
    const scaler = scalerDocument({ maxReplicas: 5, schedules });

    expect(await explainSnapshot(cpuSnapshot(30, { scaler, state: {} }))).toContain(
      'shop/web  stays at 4, not 2: minReplicas is 4 by schedule "batch" until 02:00:00 (lowered from 5, because maxReplicas is 4 by schedule "saving" until 03:00:00)  (',
    );
  });

  it('prints the confirmation of a scale-down and its end, and the maximum step', async () => {
    const external = { metric: { name: 'queue' }, query: 'sum(x)', target: { averageValue: 10 } };
    const brakes = { downscaleConfirmation: {}, maxScaleDownPercentPerWindow: 25 };
    const scaler = scalerDocument({ metrics: [{ external }], downscaleStabilizationSeconds: 0, ...brakes });
    const samples = [{ at: '2026-01-01T00:00:00Z', values: [10] }];
    const explainAfter = (...times: readonly string[]): Promise<string> => {
      const downscaleProposals = times.map((at) => ({ at, replicas: 1 }));
      return explainSnapshot(
        cpuSnapshot(0, { scaler, samples, state: { recommendations: [], downscaleProposals } }),
      );
    };

    const waiting = await explainAfter('2025-12-31T23:59:45Z');
    const confirmed = await explainAfter('2025-12-31T23:59:00Z', '2025-12-31T23:59:30Z');

    expect(waiting).toContain(
      '1. downscale_confirmation  1 -> 4  the scale-down waits for confirmation: 2 of 3 decisions in 15 of 60 s\n',
    );
    expect(waiting).toContain('downscale_confirmation  until 00:00:45, in 45s\n');
    expect(confirmed).toContain('1. step_limit  1 -> 3  at most 25 % of 4 in 300 s\n');
    expect(confirmed).toContain('step_limit  until 00:05:00, in 5m\n');
  });
});
