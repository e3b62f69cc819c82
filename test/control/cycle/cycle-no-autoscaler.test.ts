import { describe, expect, it } from '@jest/globals';
import { kubernetesEvents } from '../../../src/control/cycle/kubernetes-events.js';
import { stateOf } from '../../../src/decision/state.js';
import type { CycleRecord } from '../../../src/telemetry/cycle-record.js';
import type { CycleOutput } from '../../../src/control/cycle/types.js';
import { Fixture, SECOND_SCALER, heldOf, withAnnotations } from '../fixture.js';

const otherHpa = {
  kind: 'HorizontalPodAutoscaler',
  namespace: 'shop',
  name: 'web-hpa',
  target: { apiVersion: 'apps/v1beta1', kind: 'Deployment', name: 'web' },
};

/** Returns a cycle 45 s after the first one without an autoscaler, when it may still be a hand-over. */
const inHandOver = async (fixture: Fixture): Promise<CycleOutput> => {
  await fixture.cycle();
  fixture.clock.advance(45_000);
  return fixture.cycle();
};

describe('a dry run that was made from an HPA', () => {
  const adopted = (spec: Readonly<Record<string, unknown>>): Fixture => {
    const fixture = new Fixture(spec);
    fixture.load = 80;
    fixture.scaler = withAnnotations(fixture.scaler, {
      'promscaler.dev/adopted-from': 'HorizontalPodAutoscaler/web-hpa',
    });
    return fixture;
  };

  it('says that nothing scales the target a minute after the HPA is gone, and begins an Event once', async () => {
    const fixture = adopted({ dryRun: true });
    fixture.cluster.others.push(otherHpa);
    await fixture.cycle();
    fixture.cluster.others.length = 0;
    const before = await inHandOver(fixture);

    const after = await fixture.nextCycle();
    const later = await fixture.nextCycle();

    expect(heldOf(before.record)?.message).toBe('spec.dryRun is true');
    expect(heldOf(after.record)).toEqual({
      type: 'Held',
      status: 'True',
      reason: 'NoAutoscaler',
      message:
        'nothing scales deployment shop/web: HorizontalPodAutoscaler shop/web-hpa no longer scales it; spec.dryRun is true',
    });
    expect(after.record.outcome).toMatchObject({ kind: 'dry-run', from: 5, to: 8 });
    expect(stateOf(after.record, null)).toMatchObject({
      name: 'NoAutoscaler',
      severity: 'cannot-follow',
      cause: 'nothing scales deployment shop/web: HorizontalPodAutoscaler shop/web-hpa no longer scales it',
    });
    const eventsOf = (last: CycleRecord, record: CycleRecord) =>
      kubernetesEvents(last, record).map(({ type, reason }) => `${type} ${reason}`);
    expect(eventsOf(before.record, after.record)).toEqual(['Warning NoAutoscaler']);
    expect(eventsOf(after.record, later.record)).toEqual([]);
  });

  it('counts the minute again after the HPA has returned', async () => {
    const fixture = adopted({ dryRun: true });
    await inHandOver(fixture);
    fixture.cluster.others.push(otherHpa);
    await fixture.nextCycle();
    fixture.cluster.others.length = 0;

    expect(heldOf((await inHandOver(fixture)).record)?.reason).toBe('DryRun');
    expect(heldOf((await fixture.nextCycle()).record)?.reason).toBe('NoAutoscaler');
  });

  it('says so of a dry run of the service, too, and not while HPAs are forbidden', async () => {
    const [ofService, unknown] = [adopted({}), adopted({ dryRun: true })];
    ofService.dryRun = true;
    Object.assign(unknown.cluster, { areOtherScalersOutdated: () => true });
    await inHandOver(ofService);
    await inHandOver(unknown);

    expect(heldOf((await ofService.nextCycle()).record)?.message).toMatch(
      /no longer scales it; the service runs with --dry-run$/,
    );
    expect(heldOf((await unknown.nextCycle()).record)?.reason).toBe('DryRun');
  });

  it('says that a ScaledObject was deleted or has no HPA, which look the same', async () => {
    const fixture = adopted({ dryRun: true });
    fixture.scaler = withAnnotations(fixture.scaler, {
      'promscaler.dev/adopted-from': 'ScaledObject/web',
    });
    await inHandOver(fixture);

    expect(heldOf((await fixture.nextCycle()).record)?.message).toBe(
      'nothing scales deployment shop/web: ScaledObject shop/web does not exist or has no HPA; spec.dryRun is true',
    );
  });

  it('names the HPA that goes on scaling a paused target, in the condition and in the state', async () => {
    const fixture = adopted({ dryRun: true, paused: true });
    fixture.cluster.others.push(otherHpa);

    const { record } = await fixture.cycle();

    const why = 'spec.paused is true; in dry run, HorizontalPodAutoscaler shop/web-hpa scales the target';
    expect(heldOf(record)?.message).toBe(why);
    expect(stateOf(record, null)).toMatchObject({ name: 'Paused', cause: why });
  });

  it('says in a pause, too, that nothing scales the target, whether or not the pause prevents a change', async () => {
    const fixture = adopted({ dryRun: true, paused: true });
    await inHandOver(fixture);

    const prevented = (await fixture.nextCycle()).record;
    fixture.load = 50;
    const unchanged = (await fixture.nextCycle()).record;

    const why =
      'nothing scales deployment shop/web: HorizontalPodAutoscaler shop/web-hpa no longer scales it';
    const cause = `spec.paused is true; in dry run, ${why}`;
    expect(stateOf(prevented, null)).toMatchObject({ name: 'Paused', cause });
    expect(stateOf(unchanged, null)).toMatchObject({ name: 'Paused', cause });
    expect([prevented, unchanged].map((record) => heldOf(record)?.message)).toEqual([
      cause,
      `spec.paused is true; ${why}; spec.dryRun is true`,
    ]);
    expect([prevented, unchanged].map(({ outcome }) => outcome.kind)).toEqual(['paused', 'none']);
  });

  it('scales after the dry run', async () => {
    expect((await adopted({}).cycle()).record.outcome.kind).toBe('patched');
  });

  it.each([
    ['which scales the target', false, 'DryRun'],
    ['which scales nothing in a dry run of the service', true, 'NoAutoscaler'],
  ])('is, a minute after the start next to another document %s: %s, %s', async (_what, ofService, reason) => {
    const fixture = adopted({ dryRun: true });
    fixture.dryRun = ofService;
    await fixture.cycle({ sharesTargetWith: SECOND_SCALER });
    fixture.clock.advance(60_000);

    const { record } = await fixture.cycle({ sharesTargetWith: SECOND_SCALER });

    expect(heldOf(record)?.reason).toBe(reason);
  });

  it('counts the minute from the time at which a second scaler stops scaling the target', async () => {
    const fixture = adopted({ dryRun: true });
    await fixture.cycle({ sharesTargetWith: SECOND_SCALER });
    fixture.clock.advance(60_000);

    expect(heldOf((await inHandOver(fixture)).record)?.reason).toBe('DryRun');
    expect(heldOf((await fixture.nextCycle()).record)?.reason).toBe('NoAutoscaler');
  });
});

describe('a dry run next to an HPA without a count', () => {
  const whyNoCount = 'FailedGetResourceMetric: no metrics';
  const nextTo = (
    fields: Readonly<Record<string, unknown>>,
    spec: Readonly<Record<string, unknown>> = {},
  ) => {
    const fixture = new Fixture({ dryRun: true, ...spec });
    fixture.load = 80;
    fixture.cluster.others.push({ ...otherHpa, ...fields });
    return fixture;
  };

  it.each([
    [otherHpa.kind, 'HorizontalPodAutoscaler shop/web-hpa'],
    ['ScaledObject', 'the HPA of ScaledObject shop/web-hpa'],
  ])('says after a minute that nothing scales the target: %s', async (kind, name) => {
    const fixture = nextTo({ kind, whyNoCount });

    const before = (await inHandOver(fixture)).record;
    const after = (await fixture.nextCycle()).record;

    const why = `nothing scales deployment shop/web: ${name} has no desired replicas: ${whyNoCount}`;
    expect(heldOf(before)).toMatchObject({
      reason: 'DryRun',
      message: `spec.dryRun is true; ${kind} shop/web-hpa has the same target, but no desired replicas: ${whyNoCount}`,
    });
    expect(heldOf(after)).toMatchObject({ reason: 'NoAutoscaler', message: `${why}; spec.dryRun is true` });
    expect(stateOf(after, null)).toMatchObject({ name: 'NoAutoscaler', cause: why });
    expect(kubernetesEvents(before, after).map(({ reason }) => reason)).toEqual(['NoAutoscaler']);
  });

  it('says so also if a second scaler has the target, which patches nothing', async () => {
    const fixture = nextTo({ whyNoCount });
    const next = { sharesTargetWith: SECOND_SCALER };
    const before = (await fixture.cycle(next)).record;
    fixture.clock.advance(60_000);

    const { record } = await fixture.cycle(next);

    expect(heldOf(before)?.reason).toBe('DryRun');
    expect(heldOf(record)).toMatchObject({
      reason: 'NoAutoscaler',
      message: `nothing scales deployment shop/web: HorizontalPodAutoscaler shop/web-hpa has no desired replicas: ${whyNoCount}; spec.dryRun is true`,
    });
  });

  it('counts the minute again after the HPA had a count', async () => {
    const fixture = nextTo({ whyNoCount });
    await inHandOver(fixture);
    fixture.cluster.others.splice(0, 1, { ...otherHpa, desiredReplicas: 5 });
    const counted = (await fixture.nextCycle()).record;
    fixture.cluster.others.splice(0, 1, { ...otherHpa, whyNoCount });

    expect(heldOf(counted)?.message).toBe(
      'spec.dryRun is true; HorizontalPodAutoscaler shop/web-hpa scales the target',
    );
    expect(heldOf((await inHandOver(fixture)).record)?.reason).toBe('DryRun');
    expect(heldOf((await fixture.nextCycle()).record)?.reason).toBe('NoAutoscaler');
  });

  it('says so in a pause, too', async () => {
    const fixture = nextTo({ whyNoCount }, { paused: true });
    const { record } = await fixture.cycle();

    const why = `spec.paused is true; in dry run, HorizontalPodAutoscaler shop/web-hpa has the same target, but no desired replicas: ${whyNoCount}`;
    expect(heldOf(record)?.message).toBe(why);
    expect(stateOf(record, null)).toMatchObject({ name: 'Paused', cause: why });
    fixture.clock.advance(45_000);
    expect(stateOf((await fixture.nextCycle()).record, null).cause).toBe(
      `spec.paused is true; in dry run, nothing scales deployment shop/web: HorizontalPodAutoscaler shop/web-hpa has no desired replicas: ${whyNoCount}`,
    );
  });

  it.each([
    ['at 0 replicas, where an HPA calculates nothing', { whyNoCount }, 0, false],
    ['while the known HPAs may be outdated', { whyNoCount }, 5, true],
  ])('is a dry run like any other %s', async (_what, fields, specReplicas, isOutdated) => {
    const fixture = nextTo(fields);
    fixture.cluster.specReplicas = specReplicas;
    Object.assign(fixture.cluster, { areOtherScalersOutdated: () => isOutdated });
    await inHandOver(fixture);

    const { record } = await fixture.nextCycle();

    expect(heldOf(record)?.reason).toBe('DryRun');
  });
});
