import { describe, expect, it } from '@jest/globals';
import { World, buildScaler } from '../world.js';

const STABLE = { downscaleStabilizationSeconds: 300 };

describe('a cycle after a change of the document', () => {
  it('names the time of the change until no recommendation is older', async () => {
    const world = new World(STABLE);
    await world.cycle();
    world.scaler = buildScaler({ ...STABLE, maxReplicas: 19 });
    world.load = 20;

    const first = await world.nextCycle();
    const later = await world.nextCycle();
    for (let cycle = 3; cycle <= 20; cycle += 1) await world.nextCycle();
    const last = await world.nextCycle();

    const reason =
      '5 was recommended at 2026-01-01T00:00:00Z, before the document changed at 2026-01-01T00:00:15Z, which counts for 300 s';
    expect(first.record.decision?.reason).toContain(reason);
    expect(later.record.decision?.reason).toContain(reason);
    expect(last.record.decision?.reason).not.toContain('before the document changed');
    expect(world.memory.state.documentChangedAt).toBeUndefined();
  });

  it('does not take a document that was only read again for a changed one', async () => {
    const world = new World(STABLE);
    await world.cycle();
    world.scaler = { ...buildScaler(STABLE) };
    world.load = 20;

    const { record } = await world.nextCycle();

    expect(record.decision?.reason).not.toContain('before the document changed');
  });
});
