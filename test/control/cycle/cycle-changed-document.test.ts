import { describe, expect, it } from '@jest/globals';
import { Fixture, buildScaler } from '../fixture.js';

const STABLE = { downscaleStabilizationSeconds: 300 };

describe('a cycle after a change of the document', () => {
  it('names the time of the change until no recommendation is older', async () => {
    const fixture = new Fixture(STABLE);
    await fixture.cycle();
    fixture.scaler = buildScaler({ ...STABLE, maxReplicas: 19 });
    fixture.load = 20;

    const first = await fixture.nextCycle();
    const later = await fixture.nextCycle();
    for (let cycle = 3; cycle <= 20; cycle += 1) await fixture.nextCycle();
    const last = await fixture.nextCycle();

    const reason =
      '5 was recommended at 2026-01-01T00:00:00Z, before the document changed at 2026-01-01T00:00:15Z, which counts for 300 s';
    expect(first.record.decision?.reason).toContain(reason);
    expect(later.record.decision?.reason).toContain(reason);
    expect(last.record.decision?.reason).not.toContain('before the document changed');
    expect(fixture.memory.state.documentChangedAt).toBeUndefined();
  });

  it('does not take a document that was only read again for a changed one', async () => {
    const fixture = new Fixture(STABLE);
    await fixture.cycle();
    fixture.scaler = { ...buildScaler(STABLE) };
    fixture.load = 20;

    const { record } = await fixture.nextCycle();

    expect(record.decision?.reason).not.toContain('before the document changed');
  });
});
