import { describe, expect, it } from '@jest/globals';
import { cpuSnapshot, explainSnapshot, scalerDocument } from '../live-service.js';

describe('explain, with minReplicas 0', () => {
  const queue = {
    external: {
      metric: { name: 'queue' },
      query: 'sum(x)',
      target: { averageValue: 30 },
      activation: { above: 5 },
    },
  };
  const scaler = scalerDocument({ minReplicas: 0, cooldownSeconds: 300, metrics: [queue] });
  const explainAt = (specReplicas: number, value: number, state: object = {}): Promise<string> =>
    explainSnapshot(
      cpuSnapshot(0, {
        scaler,
        target: { specReplicas },
        samples: [{ at: '2026-01-01T00:00:00Z', values: [value] }],
        state: { recommendations: [], zeroedBySelf: specReplicas === 0, ...state },
      }),
    );

  it('prints that 6 messages start 0 replicas, and that 3 do not', async () => {
    expect(await explainAt(0, 6)).toContain(
      'Activation: active: queue is 6, above its activation threshold of 5\n\nLimits: ',
    );
    expect(await explainAt(0, 3)).toContain(
      'Activation: 1 -> 0, not active: queue is 3, not above its activation threshold of 5\n',
    );
  });

  it('prints the cooldown of 1 replica with its end, and that it is over', async () => {
    const during = await explainAt(1, 3, { inactiveSince: '2025-12-31T23:57:00Z' });
    const after = await explainAt(1, 3, { inactiveSince: '2025-12-31T23:55:00Z' });

    expect(during).toContain(
      'Activation: not active since Dec 31, 23:57:00 (queue is 3, not above its activation threshold of 5); at least 1 until 00:02:00 (cooldownSeconds is 300)\n',
    );
    expect(during).toContain('Restrictions\n  cooldownSeconds  until 00:02:00, in 2m: at least 1 replica\n');
    expect(after).toContain('Activation: 1 -> 0, not active since Dec 31, 23:55:00 ');
    expect(after).not.toContain('cooldownSeconds');
  });
});
