import { describe, expect, it } from '@jest/globals';
import { kubernetesEvents } from '../../../src/control/cycle/kubernetes-events.js';
import type { CycleRecord } from '../../../src/telemetry/cycle-record.js';
import { stateOf } from '../../../src/decision/state.js';
import type { PatchScript } from '../fake-cluster.js';
import { at, Fixture, SECOND_SCALER, heldOf, withAnnotations } from '../fixture.js';

/** An admission webhook that allows at most 6. */
function capAtSix(fixture: Fixture): PatchScript {
  return (apply) => {
    apply();
    fixture.cluster.specReplicas = Math.min(6, fixture.cluster.specReplicas);
    return {
      uid: fixture.cluster.uid,
      resourceVersion: String(fixture.cluster.version),
      specReplicas: fixture.cluster.specReplicas,
      statusReplicas: fixture.cluster.statusReplicas,
    };
  };
}

describe('a scaler that must not act', () => {
  const otherHpa = {
    kind: 'HorizontalPodAutoscaler',
    namespace: 'shop',
    name: 'web-hpa',
    target: { apiVersion: 'apps/v1beta1', kind: 'Deployment', name: 'web' },
  };

  it.each([
    ['dry run by its document', 'dry-run', 'DryRun', () => new Fixture({ dryRun: true })],
    [
      'dry run by the command line',
      'dry-run',
      'DryRun',
      () => {
        const fixture = new Fixture();
        fixture.dryRun = true;
        return fixture;
      },
    ],
    ['paused', 'paused', 'Paused', () => new Fixture({ paused: true })],
    [
      'an HPA on its target, by another version of its API',
      'held',
      'ConflictingScaler',
      () => {
        const fixture = new Fixture();
        fixture.cluster.others.push(otherHpa);
        return fixture;
      },
    ],
  ] as const)('%s: decides 5 -> 8, patches nothing', async (_, outcome, reason, build) => {
    const fixture = build();
    fixture.load = 80;

    const { record, memory } = await fixture.cycle();

    expect(record.decision).toMatchObject({ desiredReplicas: 8, action: 'scale-up' });
    expect(record.outcome).toMatchObject({ kind: outcome, from: 5, to: 8 });
    expect(heldOf(record)).toMatchObject({ status: 'True', reason });
    expect(memory.state).toMatchObject({
      lastScaleUp: null,
      scaleEvents: [],
      recommendations: [{ at: at(0), replicas: 8 }],
    });
    expect(fixture.cluster.scaleReads).toBe(0);
    expect(fixture.cluster.arrived).toEqual([]);
    expect(fixture.slotsTaken).toBe(0);
  });

  it('reports paused and dry run in the record', async () => {
    const paused = await new Fixture({ paused: true }).cycle();
    const dry = await new Fixture({ dryRun: true }).cycle();

    expect(paused.record).toMatchObject({ pause: { direction: 'both' }, dryRun: false });
    expect(dry.record).toMatchObject({ pause: null, dryRun: true });
  });

  it('is held in a cycle without a change as well', async () => {
    const { record } = await new Fixture({ paused: true }).cycle();

    expect(record.outcome.kind).toBe('none');
    expect(heldOf(record)).toMatchObject({ status: 'True', reason: 'Paused' });
  });

  it('names the other document for its target', async () => {
    const fixture = new Fixture();
    fixture.load = 80;

    const { record } = await fixture.cycle({ sharesTargetWith: SECOND_SCALER });

    expect(heldOf(record)).toEqual({
      type: 'Held',
      status: 'True',
      reason: 'ConflictingScaler',
      message:
        'Scaler shop/web-2 scales the same target; promscaler patches nothing until one of the two scalers is deleted or in dry run',
    });
    expect(fixture.cluster.arrived).toEqual([]);
  });

  describe('an annotation that promscaler does not read', () => {
    it('of the Scaler is named by Held, in the state and in one Event, and 5 -> 8 is applied', async () => {
      const fixture = new Fixture();
      const before = await fixture.cycle();
      fixture.load = 80;
      fixture.scaler = withAnnotations(fixture.scaler, { 'promscaler.dev/paused': 'true' });

      const { record } = await fixture.nextCycle();

      expect(record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
      expect(heldOf(record)).toEqual({
        type: 'Held',
        status: 'False',
        reason: 'AnnotationIgnored',
        message:
          'the decisions of the version in effect are applied; annotation promscaler.dev/paused of Scaler shop/web has no effect: promscaler reads a pause only from annotations of the workload. To pause the workload: promscaler pause shop/web',
      });
      expect(stateOf(record, null).cause).toBe(
        '0 of 8 pods are ready: 8 not created; annotation promscaler.dev/paused of Scaler shop/web has no effect',
      );
      expect(kubernetesEvents(before.record, record).map(({ reason }) => reason)).toEqual([
        'SuccessfulRescale',
        'AnnotationIgnored',
      ]);
    });

    it.each([
      [{ pause: 'true' }, 'promscaler.dev/pause', 'did you mean promscaler.dev/paused? To pause: '],
      [
        { 'pause-until': '2027-01-01T00:00:00Z' },
        'promscaler.dev/pause-until',
        'did you mean promscaler.dev/paused-until?',
      ],
      [
        { 'paused-reason': 'deploy' },
        'promscaler.dev/paused-reason',
        'the annotation promscaler.dev/paused is missing',
      ],
      [{ team: 'a' }, 'promscaler.dev/team', 'unknown annotation'],
    ] as const)('of the workload is named: %j', async (annotations, key, advice) => {
      const fixture = new Fixture();
      fixture.annotate(annotations);

      const { record } = await fixture.cycle();

      expect(heldOf(record)).toMatchObject({ status: 'False', reason: 'AnnotationIgnored' });
      expect(heldOf(record)?.message).toContain(
        `annotation ${key} of deployment shop/web has no effect: ${advice}`,
      );
    });

    it('is added to the message of a pause that is in effect', async () => {
      const fixture = new Fixture();
      fixture.annotate({ paused: 'true', 'paused-untill': '2027-01-01T00:00:00Z' });

      const { record } = await fixture.cycle();

      expect(heldOf(record)).toMatchObject({ status: 'True', reason: 'Paused' });
      expect(heldOf(record)?.message).toContain(
        'annotation promscaler.dev/paused-untill of deployment shop/web has no effect: did you mean promscaler.dev/paused-until?',
      );
    });
  });

  it('names the HPA, and acts in the first cycle after that is deleted', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.others.push(otherHpa);
    const before = await fixture.cycle();
    fixture.cluster.others.length = 0;

    const after = await fixture.nextCycle();

    expect(heldOf(before.record)?.message).toContain('HorizontalPodAutoscaler shop/web-hpa');
    expect(heldOf(after.record)).toMatchObject({ status: 'False', reason: 'NotHeld' });
    expect(after.record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
  });

  it('says that nothing scales the target next to an HPA without a count', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.others.push({ ...otherHpa, whyNoCount: 'the HPA controller has not set them yet' });

    const { record } = await fixture.cycle();

    const cause =
      'nothing scales deployment shop/web: HorizontalPodAutoscaler shop/web-hpa has the same target, but no desired replicas: the HPA controller has not set them yet';
    expect(heldOf(record)).toMatchObject({
      reason: 'ConflictingScaler',
      message: `${cause}; promscaler patches nothing until only one autoscaler has this target`,
    });
    expect(stateOf(record, null)).toMatchObject({ name: 'Conflict', cause });
    expect(fixture.cluster.arrived).toEqual([]);
  });

  it('says that the HPA is the one seen last while HPAs are forbidden, and patches nothing', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.others.push(otherHpa);
    Object.assign(fixture.cluster, { areOtherScalersOutdated: () => true });

    const { record } = await fixture.cycle();

    expect(heldOf(record)?.message).toBe(
      'HorizontalPodAutoscaler shop/web-hpa scales the same target; promscaler patches nothing until only one autoscaler has this target; the HPA may be deleted already, but promscaler is no longer allowed to list HPAs',
    );
    expect(fixture.cluster.arrived).toEqual([]);
  });

  it.each([
    ['another name', { ...otherHpa, target: { ...otherHpa.target, name: 'web2' } }],
    ['another kind', { ...otherHpa, target: { ...otherHpa.target, kind: 'StatefulSet' } }],
    ['another group', { ...otherHpa, target: { ...otherHpa.target, apiVersion: 'argoproj.io/v1' } }],
    ['another namespace', { ...otherHpa, namespace: 'other' }],
  ])('is not held by an HPA on a target with %s', async (_, other) => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.others.push(other);

    expect((await fixture.cycle()).record.outcome.kind).toBe('patched');
  });

  it('does not scale to its minimum, either', async () => {
    const fixture = new Fixture({ paused: true, minReplicas: 7 });

    const { record } = await fixture.cycle();

    expect(record.outcome).toMatchObject({ kind: 'paused', from: 5, to: 7 });
    expect(fixture.cluster.specReplicas).toBe(5);
  });
});

describe('a change to 8 that an admission webhook turns into 6', () => {
  async function overridden(): Promise<Fixture> {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.patchScripts.push(capAtSix(fixture));
    await fixture.cycle();
    fixture.cluster.statusReplicas = 6;
    return fixture;
  }

  it('is reported as replaced and counts with its result: 5 -> 6', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.patchScripts.push(capAtSix(fixture));

    const { record, memory } = await fixture.cycle();

    expect(record.outcome).toMatchObject({ kind: 'replaced', from: 5, to: 6 });
    expect(heldOf(record)).toMatchObject({ status: 'True', reason: 'ScaleOverridden' });
    expect(memory.state).toMatchObject({
      lastScaleUp: at(0),
      lastScaleDown: null,
      scaleEvents: [{ at: at(0), change: 1 }],
    });
  });

  it('is not repeated in 10 cycles that want the same 8', async () => {
    const fixture = await overridden();

    for (let count = 0; count < 10; count += 1) {
      const { record } = await fixture.nextCycle();
      expect(record.outcome).toMatchObject({ kind: 'held', from: 6, to: 8 });
      expect(heldOf(record)).toMatchObject({ status: 'True', reason: 'ScaleOverridden' });
    }

    expect(fixture.cluster.arrived).toHaveLength(1);
  });

  it('is repeated when 9 are wanted', async () => {
    const fixture = await overridden();
    fixture.load = 90;

    const { record, memory } = await fixture.nextCycle();

    expect(record.outcome).toMatchObject({ kind: 'patched', from: 6, to: 9 });
    expect(memory.override).toBeNull();
    expect(heldOf(record)).toMatchObject({ status: 'False', reason: 'NotHeld' });
  });

  it('is repeated when the base is different: another client has set 5', async () => {
    const fixture = await overridden();
    fixture.cluster.setReplicas(5);

    expect((await fixture.nextCycle()).record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
  });

  it('is repeated after 6 were sufficient for a while', async () => {
    const fixture = await overridden();
    fixture.load = 60;
    expect((await fixture.nextCycle()).memory.override).toBeNull();
    fixture.load = 80;

    expect((await fixture.nextCycle()).record.outcome).toMatchObject({ kind: 'patched', from: 6, to: 8 });
  });

  it('is not repeated if only the live read has the base 6', async () => {
    const fixture = await overridden();
    // The watch still has the 5 from before.
    fixture.cluster.watchedReplicas = 5;

    const { record } = await fixture.nextCycle();

    expect(record.outcome).toMatchObject({ kind: 'held', from: 6, to: 8 });
    expect(fixture.cluster.arrived).toHaveLength(1);
  });

  it('counts for nothing if the webhook keeps the 5', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.patchScripts.push((apply) => {
      const answer = apply();
      fixture.cluster.specReplicas = 5;
      return { ...answer, specReplicas: 5 };
    });

    const { record, memory } = await fixture.cycle();

    expect(record.outcome).toMatchObject({ kind: 'replaced', from: 5, to: 5 });
    expect(memory.state).toMatchObject({ lastScaleUp: null, scaleEvents: [] });
    expect((await fixture.nextCycle()).record.outcome.kind).toBe('held');
    expect(fixture.cluster.arrived).toHaveLength(1);
  });
});

describe('a count outside of the bounds that a hold keeps', () => {
  const conditionsOf = ({ conditions }: CycleRecord) =>
    conditions
      .filter(({ type }) => type === 'ScalingActive' || type === 'ScalingLimited')
      .map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`);

  it.each([
    [{ dryRun: true, maxReplicas: 4 }, 'TooManyReplicas', '5 replicas are above maxReplicas (4)'],
    [{ dryRun: true, minReplicas: 6 }, 'TooFewReplicas', '5 replicas are below minReplicas (6)'],
    [{ paused: true, maxReplicas: 4 }, 'TooManyReplicas', '5 replicas are above maxReplicas (4)'],
  ])('%j: the conditions claim no metric, and name the bound', async (spec, reason, why) => {
    const { record } = await new Fixture(spec).cycle();

    expect(conditionsOf(record)).toEqual([
      `ScalingLimited True ${reason}: ${why}`,
      'ScalingActive Unknown NotEvaluated: no metric is evaluated while the replica count is outside of the bounds',
    ]);
  });

  it('keeps the last conditions if the count moves to the bound at once', async () => {
    const { record } = await new Fixture({ maxReplicas: 4 }).cycle();

    expect(record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 4 });
    expect(conditionsOf(record)).toEqual([]);
  });

  it('names the bound if a pause keeps a count below it', async () => {
    const fixture = new Fixture({ minReplicas: 6 });
    fixture.annotate({ 'paused-replicas': '5' });

    const { record } = await fixture.cycle();

    expect(record.decision).toMatchObject({ desiredReplicas: 6 });
    expect(conditionsOf(record)[0]).toBe(
      'ScalingLimited True TooFewReplicas: 5 replicas are below minReplicas (6)',
    );
  });

  it('does not change the condition of 0 replicas that a person has set', async () => {
    const fixture = new Fixture({ dryRun: true });
    fixture.cluster.specReplicas = 0;

    expect(conditionsOf((await fixture.cycle()).record)).toEqual([
      expect.stringContaining('ScalingActive False ScalingDisabled'),
    ]);
  });
});
