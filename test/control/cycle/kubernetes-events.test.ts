import { describe, expect, it } from '@jest/globals';
import { kubernetesEvents } from '../../../src/control/cycle/kubernetes-events.js';
import type { TargetEvent } from '../../../src/kubernetes/api/types.js';
import type { CycleRecord } from '../../../src/telemetry/cycle-record.js';
import { failure } from '../fake-cluster.js';
import { answersFrom, Fixture } from '../fixture.js';

const NO_SERIES = answersFrom([{ class: 'missing', message: 'no series' }]);

/** Runs a cycle after each step and returns the events of each. */
async function eventsAfter(
  fixture: Fixture,
  ...steps: readonly (() => void)[]
): Promise<readonly TargetEvent[][]> {
  const events: TargetEvent[][] = [];
  let before: CycleRecord | null = null;
  for (const step of steps) {
    step();
    const { record } = await fixture.nextCycle();
    events.push([...kubernetesEvents(before, record)]);
    before = record;
  }
  return events;
}

const nothing = (): void => undefined;

describe('kubernetesEvents', () => {
  it('reports nothing for two cycles without a change', async () => {
    expect(await eventsAfter(new Fixture(), nothing, nothing)).toEqual([[], []]);
  });

  it('reports a change from 5 to 8 once, in the wording of the HPA', async () => {
    const fixture = new Fixture();

    const events = await eventsAfter(
      fixture,
      () => (fixture.load = 80),
      () => (fixture.cluster.statusReplicas = 8),
    );

    expect(events).toEqual([
      [
        {
          type: 'Normal',
          reason: 'SuccessfulRescale',
          message: 'New size: 8; reason: external metric load above target',
        },
      ],
      [],
    ]);
  });

  it('reports the size that an admission webhook set: 6', async () => {
    const fixture = new Fixture();

    const [events] = await eventsAfter(fixture, () => {
      fixture.load = 80;
      fixture.cluster.patchScripts.push((apply) => ({ ...apply(), specReplicas: 6 }));
    });

    expect(events).toMatchObject([
      { reason: 'SuccessfulRescale', message: expect.stringContaining('New size: 6;') },
    ]);
  });

  it('reports two successive changes, 5 to 10 and 10 to 12', async () => {
    const fixture = new Fixture();
    fixture.load = 120;

    const events = await eventsAfter(fixture, nothing, () => (fixture.cluster.statusReplicas = 10));

    expect(events.flat().map(({ message }) => message.slice(0, 12))).toEqual([
      'New size: 10',
      'New size: 12',
    ]);
  });

  it('reports a change that fails in the same way three times once', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    for (let count = 0; count < 3; count += 1) {
      fixture.cluster.patchScripts.push(() => Promise.reject(failure('forbidden', '403 Forbidden')));
    }

    const events = await eventsAfter(fixture, nothing, nothing, nothing);

    expect(events).toEqual([
      [
        {
          type: 'Warning',
          reason: 'FailedRescale',
          message: 'New size: 8; reason: external metric load above target; error: 403 Forbidden',
        },
      ],
      [],
      [],
    ]);
  });

  it('reports a failed change to 9 after one to 8', async () => {
    const fixture = new Fixture();
    for (let count = 0; count < 2; count += 1) {
      fixture.cluster.patchScripts.push(() => Promise.reject(failure('forbidden')));
    }

    const events = await eventsAfter(
      fixture,
      () => (fixture.load = 80),
      () => (fixture.load = 90),
    );

    expect(events.map((all) => all.length)).toEqual([1, 1]);
  });

  it('reports a metric when it fails, again after it had recovered, and not in between', async () => {
    const fixture = new Fixture();

    const events = await eventsAfter(
      fixture,
      () => (fixture.answers = NO_SERIES),
      nothing,
      () => (fixture.answers = null),
      () => (fixture.answers = NO_SERIES),
    );

    expect(events.map((all) => all.map(({ reason }) => reason))).toEqual([
      ['FailedGetExternalMetric'],
      [],
      [],
      ['FailedGetExternalMetric'],
    ]);
  });

  it('does not report a failing metric again after a cycle without queries, by the conditions in effect', async () => {
    const fixture = new Fixture();
    fixture.answers = NO_SERIES;
    const first = (await fixture.cycle()).record;
    fixture.cluster.setReplicas(25);
    const shortCut = (await fixture.nextCycle()).record;
    const again = (await fixture.nextCycle()).record;
    // As in the ledger: a type that a cycle omits keeps its last condition.
    const inForce = [
      ...shortCut.conditions,
      ...first.conditions.filter(({ type }) => type === 'ScalingActive'),
    ];

    expect(shortCut.conditions.some(({ type }) => type === 'ScalingActive')).toBe(false);
    expect(kubernetesEvents({ conditions: inForce, outcome: shortCut.outcome }, again)).toEqual([]);
  });

  it('reports nothing for a 0 that a user has set', async () => {
    const fixture = new Fixture();

    expect(await eventsAfter(fixture, () => fixture.cluster.setReplicas(0), nothing)).toEqual([[], []]);
  });

  it('reports pods that cannot be listed once', async () => {
    const fixture = new Fixture();

    const events = await eventsAfter(
      fixture,
      () => (fixture.cluster.podsFailure = failure('forbidden', 'listing pods of shop: 403 Forbidden')),
      nothing,
    );

    expect(events).toEqual([
      [{ type: 'Warning', reason: 'FailedGetScale', message: 'listing pods of shop: 403 Forbidden' }],
      [],
    ]);
  });

  it('reports an invalid selector', async () => {
    const fixture = new Fixture();

    const events = await eventsAfter(
      fixture,
      () => (fixture.cluster.targetFailure = failure('invalid_selector', 'selector is required')),
      nothing,
    );

    expect(events).toEqual([
      [{ type: 'Warning', reason: 'InvalidSelector', message: 'selector is required' }],
      [],
    ]);
  });

  it('reports another autoscaler when it appears, not while it exists', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    const hpa = {
      kind: 'HorizontalPodAutoscaler',
      namespace: 'shop',
      name: 'web',
      target: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    };

    const events = await eventsAfter(fixture, () => fixture.cluster.others.push(hpa), nothing);

    expect(events).toMatchObject([[{ type: 'Warning', reason: 'ConflictingScaler' }], []]);
  });

  it('reports another writer once, at the third reversal', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    const revert = (): void => fixture.cluster.setReplicas(5, 'argocd-controller');

    const events = await eventsAfter(fixture, nothing, revert, revert, revert, revert);

    expect(events.map((list) => list.filter(({ reason }) => reason === 'ConflictingWriter'))).toEqual([
      [],
      [],
      [],
      [
        {
          type: 'Warning',
          reason: 'ConflictingWriter',
          message: expect.stringMatching(
            /^argocd-controller changed spec\.replicas after promscaler 3 times since 2026-\S+Z, last at 2026-\S+Z: allow only one client to set spec\.replicas$/,
          ),
        },
      ],
      [],
    ]);
  });

  it('reports nothing for the changes of a dry run', async () => {
    const fixture = new Fixture({ dryRun: true });
    fixture.load = 80;

    expect(await eventsAfter(fixture, nothing)).toEqual([[]]);
  });

  it('reports a pause once when it begins, once when it ends, and nothing in between', async () => {
    const fixture = new Fixture();

    const events = await eventsAfter(
      fixture,
      nothing,
      () => (fixture.cluster.annotations = { 'promscaler.dev/paused': 'scale-up' }),
      () => (fixture.load = 80),
      () => (fixture.cluster.annotations = {}),
    );

    expect(events).toMatchObject([
      [],
      [{ type: 'Normal', reason: 'ScalingPaused', message: 'scale-up is paused by annotation' }],
      [],
      [{ reason: 'SuccessfulRescale' }, { type: 'Normal', reason: 'ScalingResumed' }],
    ]);
  });

  it('says once that a dry run has ended', async () => {
    const fixture = new Fixture({ dryRun: true });

    const events = await eventsAfter(
      fixture,
      nothing,
      () => (fixture.scaler = new Fixture().scaler),
      nothing,
    );

    expect(events).toMatchObject([[], [{ type: 'Normal', reason: 'DryRunEnded' }], []]);
  });

  it('names paused-replicas as the reason of its change', async () => {
    const fixture = new Fixture();

    const [events] = await eventsAfter(fixture, () => {
      fixture.load = 80;
      fixture.cluster.annotations = { 'promscaler.dev/paused-replicas': '3' };
    });

    expect(events?.[0]).toMatchObject({
      reason: 'SuccessfulRescale',
      message: 'New size: 3; reason: paused by annotation, kept at 3 (8 recommended)',
    });
  });
});
