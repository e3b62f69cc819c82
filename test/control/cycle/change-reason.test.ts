import { describe, expect, it } from '@jest/globals';
import { UNKNOWN_AGE } from '../../../src/prometheus/source/age.js';
import { kubernetesEvents } from '../../../src/control/cycle/kubernetes-events.js';
import { reasonOf } from '../../../src/telemetry/cycle-record.js';
import type { CycleRecord } from '../../../src/telemetry/cycle-record.js';
import { Fixture } from '../fixture.js';

/** A fixture of 7 replicas whose load wants 9. */
function fixtureOf(annotations: Readonly<Record<string, string>>): Fixture {
  const fixture = new Fixture();
  fixture.cluster.setReplicas(7);
  fixture.load = 90;
  fixture.annotate(annotations);
  return fixture;
}

const rescaleOf = (record: CycleRecord): string | undefined =>
  kubernetesEvents(null, record).find(({ reason }) => reason === 'SuccessfulRescale')?.message;

describe('the reason of a change by a pause', () => {
  it('is the pause, not the count from the metrics', async () => {
    const { record } = await fixtureOf({ 'paused-replicas': '3' }).cycle();

    expect(reasonOf(record)).toBe('7 -> 3: paused by annotation, kept at 3 (9 recommended)');
    expect(record.outcome.message).toBe('paused by annotation, kept at 3 (9 recommended)');
    expect(rescaleOf(record)).toBe('New size: 3; reason: paused by annotation, kept at 3 (9 recommended)');
    expect(record.decision?.reason).toBe('load is at 18 per pod, 90 in total, target 10 per pod: 7 -> 9');
  });

  it("names the end, the user's reason, and the pause of the document", async () => {
    const fixture = fixtureOf({
      'paused-replicas': '3',
      'paused-until': '2026-01-01T02:00:00Z',
      'paused-reason': 'incident 4711',
    });

    expect(reasonOf((await fixture.cycle()).record)).toBe(
      '7 -> 3: paused by annotation until 2026-01-01T02:00:00Z, kept at 3, incident 4711 (9 recommended)',
    );
  });

  it("has the user's reason unchanged, although it contains the separator of the message", async () => {
    const fixture = fixtureOf({
      'paused-replicas': '3',
      'paused-reason': 'incident 4711; scaling is unsafe',
    });

    const { record } = await fixture.cycle();

    expect(reasonOf(record)).toBe(
      '7 -> 3: paused by annotation, kept at 3, incident 4711; scaling is unsafe (9 recommended)',
    );
  });

  it('is the pause while it keeps the count, too', async () => {
    const fixture = fixtureOf({ 'paused-replicas': '3' });
    await fixture.cycle();

    const { record } = await fixture.nextCycle();

    expect(reasonOf(record)).toBe('stays at 3: paused by annotation, kept at 3 (9 recommended)');
    expect(record.outcome).toMatchObject({ kind: 'paused', from: 3 });
  });

  it.each([
    [0, '1 without the pause'],
    [10, '1 recommended'],
    [200, '20 recommended'],
    // The scale-up limit doubles the count.
    [210, '14 without the pause'],
  ])(
    'has the count within the bounds if the load of %p recommends one outside of 1 to 20: %s',
    async (load, expected) => {
      const fixture = fixtureOf({ 'paused-replicas': '1' });
      fixture.load = load;

      expect(reasonOf((await fixture.cycle()).record)).toBe(
        `7 -> 1: paused by annotation, kept at 1 (${expected})`,
      );
    },
  );

  it('says that no metric has a value, or what the bounds would set', async () => {
    const blind = fixtureOf({ 'paused-replicas': '3' });
    blind.answers = { of: () => Promise.resolve([NO_SERIES]), ageOf: () => Promise.resolve(UNKNOWN_AGE) };
    const above = fixtureOf({ 'paused-replicas': '25' });
    await above.cycle();

    expect(reasonOf((await blind.cycle()).record)).toContain('kept at 3 (no metric has a value)');
    expect(reasonOf((await above.nextCycle()).record)).toBe(
      'stays at 25: paused by annotation, kept at 25 (20 without the pause)',
    );
  });

  it('is that of the decision under a pause that keeps no count', async () => {
    const { record } = await fixtureOf({ paused: 'scale-down' }).cycle();

    expect(reasonOf(record)).toBe('load is at 18 per pod, 90 in total, target 10 per pod: 7 -> 9');
  });
});

describe('the reason of the first change after a pause', () => {
  it.each([
    [{ 'paused-replicas': '3' }, 'load is at 12 per pod, 60 in total, target 10 per pod: 3 -> 6'],
    [{ paused: 'true' }, 'load is at 12 per pod, 60 in total, target 10 per pod: 7 -> 6'],
  ])('says that it was %j', async (annotations, reason) => {
    const fixture = fixtureOf(annotations);
    await fixture.cycle();
    fixture.annotate({});
    fixture.load = 60;

    const { record } = await fixture.nextCycle();

    expect(reasonOf(record)).toBe(`resumed: ${reason}`);
    expect(rescaleOf(record)).toMatch(/^New size: 6; reason: resumed: /);
  });

  it('is that of the decision from the second cycle on', async () => {
    const fixture = fixtureOf({ paused: 'true' });
    await fixture.cycle();
    fixture.annotate({});
    fixture.load = 70;
    const first = await fixture.nextCycle();
    fixture.load = 90;

    const second = await fixture.nextCycle();

    expect(reasonOf(first.record)).toBe('load is at 14 per pod, 70 in total, target 10 per pod: stays at 7');
    expect(reasonOf(second.record)).toBe('load is at 18 per pod, 90 in total, target 10 per pod: 7 -> 9');
    expect(rescaleOf(second.record)).toBe('New size: 9; reason: external metric load above target');
  });
});

const NO_SERIES = { class: 'missing', message: 'no series' } as const;
