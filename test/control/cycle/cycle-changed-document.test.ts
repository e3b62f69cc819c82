import { describe, expect, it } from '@jest/globals';
import { createLedger } from '../../../src/telemetry/ledger.js';
import { answersFrom, at, Fixture, buildScaler } from '../fixture.js';

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
      '5 was recommended at 2026-01-01T00:00:00Z and counts for 300 s, although the document changed at 2026-01-01T00:00:15Z';
    expect(first.record.decision?.reason).toContain(reason);
    expect(later.record.decision?.reason).toContain(reason);
    expect(last.record.decision?.reason).not.toContain('the document changed');
    expect(fixture.memory.state.documentChangedAt).toBeUndefined();
  });

  it('has one answer for a partial value that recommends 2 of 5: calculated, kept, not compared with the bounds', async () => {
    const fixture = new Fixture();
    fixture.load = 50;
    const ledger = createLedger();
    ledger.add((await fixture.cycle()).record);
    fixture.scaler = buildScaler({ maxReplicas: 19 });
    const series = [{ labels: {}, value: 20 }];
    const evaluatedAt = at(15);
    fixture.answers = answersFrom([{ class: 'partial', why: 'a warning', series, evaluatedAt }]);

    const { record } = await fixture.nextCycle();

    expect(record.decision).toMatchObject({ recommendedReplicas: 2, desiredReplicas: 5 });
    const messages = ledger.add(record).after.conditions.map(({ type, message }) => [type, message]);
    expect(Object.fromEntries(messages)).toMatchObject({
      ScalingActive: 'the replica count was calculated from External metric load',
      ScalingLimited: 'a metric has no complete value, so no recommendation was compared with the bounds',
    });
  });

  it('does not take a document that was only read again for a changed one', async () => {
    const fixture = new Fixture(STABLE);
    await fixture.cycle();
    fixture.scaler = { ...buildScaler(STABLE) };
    fixture.load = 20;

    const { record } = await fixture.nextCycle();

    expect(record.decision?.reason).not.toContain('the document changed');
  });
});
