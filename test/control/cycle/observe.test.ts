import { describe, expect, it } from '@jest/globals';
import type { ClusterPod, KubernetesErrorKind, OtherScaler } from '../../../src/kubernetes/api/types.js';
import { UNKNOWN_AGE } from '../../../src/prometheus/source/age.js';
import { WITHOUT_TARGET } from '../../../src/decision/conditions.js';
import { freshMemory } from '../../../src/control/memory/memory.js';
import { aPod } from '../../support/builders.js';
import { failure } from '../fake-cluster.js';
import { answerOf, answersFrom, at, buildScaler, settledMemory, Fixture } from '../fixture.js';

describe('a target that cannot be read', () => {
  const kinds: KubernetesErrorKind[] = ['not_found', 'forbidden', 'timeout', 'connection', 'server_error'];

  it.each(kinds)(
    'is FailedGetScale at %s, with the message of the failure, and nothing is thrown',
    async (kind) => {
      const fixture = new Fixture();
      fixture.load = 80;
      fixture.cluster.targetFailure = failure(kind, `reading Deployment shop/web: ${kind}`);

      const { record, target } = await fixture.cycle();

      expect(record).toMatchObject({
        snapshot: null,
        decision: null,
        outcome: { kind: 'none', from: null, to: null, message: '' },
      });
      expect(record.conditions).toEqual([
        {
          type: 'AbleToScale',
          status: 'False',
          reason: 'FailedGetScale',
          message: `reading Deployment shop/web: ${kind}`,
        },
        ...(kind === 'not_found' ? WITHOUT_TARGET : []),
      ]);
      expect(target).toBeNull();
      expect(fixture.cluster.arrived).toEqual([]);
    },
  );

  it('does not hide that a query fails, and names Prometheus as a failure of the query alone does', async () => {
    const fixture = new Fixture();
    fixture.cluster.targetFailure = failure('timeout');
    fixture.answers = answersFrom([{ class: 'failed', reason: 'server_error', message: 'HTTP 500' }]);
    const [, both] = (await fixture.cycle()).record.conditions;
    fixture.cluster.targetFailure = null;

    const alone = (await fixture.nextCycle()).record.conditions.find(({ type }) => type === 'ScalingActive');

    expect(both?.message).toMatch(
      /^the replica count could not be calculated from .*: Prometheus: HTTP 500$/,
    );
    expect(both).toEqual(alone);
  });

  it('is InvalidSelector if it has no selector', async () => {
    const fixture = new Fixture();
    fixture.cluster.targetFailure = failure('invalid_selector', 'selector is required');

    const { record } = await fixture.cycle();

    expect(record.conditions).toEqual([
      { type: 'ScalingActive', status: 'False', reason: 'InvalidSelector', message: 'selector is required' },
    ]);
  });

  it('keeps the memory unchanged, and continues automatically when the target is readable', async () => {
    const fixture = new Fixture();
    const before = settledMemory({ lastScaleUp: at(-100), scaleEvents: [{ at: at(-5), change: 2 }] });
    fixture.memory = before;
    fixture.load = 80;
    fixture.cluster.targetFailure = failure('not_found');
    expect((await fixture.cycle()).memory).toBe(before);
    fixture.cluster.targetFailure = null;

    expect((await fixture.nextCycle()).record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
  });

  it('rethrows an error that is not a failure of the API server', async () => {
    const fixture = new Fixture();
    fixture.answers = {
      of: () => Promise.reject(new TypeError('our own fault')),
      ageOf: () => Promise.resolve(UNKNOWN_AGE),
    };

    await expect(fixture.cycle()).rejects.toThrow('our own fault');
  });
});

describe('pods that cannot be read', () => {
  it('do not hide that the data source does not answer in the same round', async () => {
    const fixture = new Fixture();
    fixture.cluster.podsFailure = failure('forbidden', '403 Forbidden');
    fixture.answers = answersFrom([{ class: 'failed', reason: 'timeout', message: 'timeout after 5 s' }]);

    const { record } = await fixture.cycle();

    expect(record.conditions.map(({ reason, message }) => [reason, message])).toEqual([
      ['FailedGetScale', '403 Forbidden'],
      [
        'FailedGetExternalMetric',
        'the replica count could not be calculated from External metric load: Prometheus: timeout after 5 s',
      ],
    ]);
  });

  it('are FailedGetScale with verb, resource and namespace, and nothing is decided', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.podsFailure = failure('forbidden', 'listing pods of namespace shop: 403 Forbidden');

    const { record, target } = await fixture.cycle();

    // There is an object to report on.
    expect(target).toMatchObject({ uid: 'uid-1' });
    expect(record.decision).toBeNull();
    expect(record.conditions).toEqual([
      {
        type: 'AbleToScale',
        status: 'False',
        reason: 'FailedGetScale',
        message: 'listing pods of namespace shop: 403 Forbidden',
      },
    ]);
    expect(fixture.cluster.arrived).toEqual([]);
  });
});

describe('a stale watch', () => {
  it('allows a scale-down from 5 to 3 if its last news came 180 s ago', async () => {
    const fixture = new Fixture();
    fixture.load = 30;
    fixture.cluster.ageSeconds = 180;

    expect((await fixture.cycle()).record.outcome).toMatchObject({ kind: 'patched', to: 3 });
  });

  it('holds the 5 if its last news came 181 s ago, and reports that', async () => {
    const fixture = new Fixture();
    fixture.load = 30;
    fixture.cluster.ageSeconds = 181;

    const { record } = await fixture.cycle();

    expect(record.decision).toMatchObject({
      desiredReplicas: 5,
      recommendedReplicas: 3,
      limits: [
        {
          limit: 'recovery_hold',
          from: 3,
          to: 5,
          reason: 'the API server has sent nothing about the pods for 181 s',
          until: at(15),
        },
      ],
    });
    expect(record.outcome.kind).toBe('none');
    expect(fixture.cluster.arrived).toEqual([]);
  });

  it('does not prevent a scale-up from 5 to 8 after 181 s', async () => {
    const fixture = new Fixture();
    fixture.load = 80;
    fixture.cluster.ageSeconds = 181;

    expect((await fixture.cycle()).record.outcome).toMatchObject({ kind: 'patched', to: 8 });
  });

  it('holds only while it is stale', async () => {
    const fixture = new Fixture();
    fixture.load = 30;
    fixture.cluster.ageSeconds = 500;
    await fixture.cycle();
    fixture.cluster.ageSeconds = 0;
    fixture.clock.advance(1000);

    const { record } = await fixture.cycle();

    expect(record.snapshot?.state).toMatchObject({ holdScaleDownUntil: null, holdReason: null });
    expect(record.outcome).toMatchObject({ kind: 'patched', to: 3 });
  });
});

describe('metrics that have just recovered', () => {
  it('hold the scale-down by the snapshot: 300 s for a bare selector, from the first value', async () => {
    const fixture = new Fixture();
    fixture.recoveryHoldMaxSeconds = 900;
    fixture.load = 30;

    const { record } = await fixture.cycle();

    expect(record.snapshot?.state.holdScaleDownUntil).toBe(at(300));
    expect(record.snapshot?.state.holdReason).toContain('metric "load" must return values for 300 s');
    expect(record.decision).toMatchObject({ desiredReplicas: 5, limits: [{ limit: 'recovery_hold' }] });
  });

  it('release it after 300 s with an answer every 15 s, and not at 285 s', async () => {
    const fixture = new Fixture();
    fixture.recoveryHoldMaxSeconds = 900;
    fixture.load = 30;

    for (let seconds = 0; seconds <= 285; seconds += 15) {
      expect((await fixture.cycle()).record.decision?.action).toBe('none');
      fixture.clock.advance(15_000);
    }
    expect((await fixture.cycle()).record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 3 });
    expect(fixture.clock.now()).toBe(at(300));
  });

  it('release a gauge two scrape intervals (60 s) after a start of promscaler, and not at 45 s', async () => {
    const fixture = new Fixture();
    fixture.recoveryHoldMaxSeconds = 900;
    fixture.memory = freshMemory(fixture.clock.now(), null);

    for (let seconds = 0; seconds <= 45; seconds += 15) {
      fixture.answers = answersFrom([answerOf(30, at(seconds))], at(-300));
      expect((await fixture.cycle()).record.decision?.action).toBe('none');
      fixture.clock.advance(15_000);
    }
    expect((await fixture.cycle()).record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 3 });
    expect(fixture.clock.now()).toBe(at(60));
  });

  it('hold for recoveryHoldMaxSeconds at most: 60 s', async () => {
    const fixture = new Fixture();
    fixture.recoveryHoldMaxSeconds = 60;

    expect((await fixture.cycle()).record.snapshot?.state.holdScaleDownUntil).toBe(at(60));
  });

  it('hold again after a cycle without series', async () => {
    const fixture = new Fixture();
    fixture.recoveryHoldMaxSeconds = 60;
    for (let count = 0; count < 5; count += 1) await fixture.nextCycle();
    fixture.answers = answersFrom([{ class: 'missing', message: 'no series' }]);
    await fixture.nextCycle();
    fixture.answers = null;
    fixture.load = 30;

    const { record } = await fixture.nextCycle();

    expect(record.snapshot?.state.holdScaleDownUntil).toBe(at(105 + 60));
    expect(record.decision?.action).toBe('none');
  });

  it('hold after a restart of the server that no query detected: it started 10 s ago', async () => {
    const fixture = new Fixture();
    fixture.recoveryHoldMaxSeconds = 60;
    for (let count = 0; count < 5; count += 1) await fixture.nextCycle();
    fixture.answers = answersFrom([answerOf(30, at(90))], at(80));

    const { record } = await fixture.nextCycle();

    expect(record.snapshot?.now).toBe(at(90));
    expect(record.snapshot?.state.holdReason).toContain('the server started at 2026-01-01T00:01:20Z');
    expect(record.decision?.action).toBe('none');
  });

  it('and a stale watch hold until the later end of both, which is that of the metrics', async () => {
    const fixture = new Fixture();
    fixture.recoveryHoldMaxSeconds = 60;
    fixture.cluster.ageSeconds = 200;

    expect((await fixture.cycle()).record.snapshot?.state.holdScaleDownUntil).toBe(at(60));
  });

  it('do not hold a scale-up', async () => {
    const fixture = new Fixture();
    fixture.recoveryHoldMaxSeconds = 900;
    fixture.load = 80;

    expect((await fixture.cycle()).record.outcome).toMatchObject({ kind: 'patched', to: 8 });
  });
});

describe('the snapshot of a cycle', () => {
  it('has the instant of the round, the counts, the pods and the samples', async () => {
    const fixture = new Fixture();
    fixture.cluster.statusReplicas = 4;

    const { record } = await fixture.cycle();

    expect(record.snapshot).toMatchObject({
      now: at(0),
      target: { specReplicas: 5, statusReplicas: 4 },
      pods: [],
      samples: [{ form: 'values', values: [50], at: at(0), partial: null }],
    });
    expect(record.snapshot?.scaler).toBe(fixture.scaler);
  });

  it('has the pods as they are after the answers', async () => {
    const fixture = new Fixture();
    fixture.answers = {
      of: () => {
        fixture.cluster.pods.push(aPod());
        return Promise.resolve([answerOf(50, at(0))]);
      },
      ageOf: () => Promise.resolve(UNKNOWN_AGE),
    };

    expect((await fixture.cycle()).record.snapshot?.pods).toHaveLength(1);
  });
});

describe('HPAs that are not listed yet', () => {
  /** The target is in the cache, as in nearly every cycle. */
  const watchTarget = async (fixture: Fixture) => {
    const { scaler, cluster } = fixture;
    const signal = new AbortController().signal;
    const target = await cluster.readTarget(scaler.namespace, scaler.spec.scaleTargetRef, signal);
    const listings: Promise<readonly OtherScaler[]>[] = [];
    const error = failure('timeout', 'reading HPAs in namespace shop: the first list has not finished yet');
    const listOtherScalers = (): Promise<readonly OtherScaler[]> => {
      const listing = Promise.reject(error);
      listings.push(listing);
      return listing;
    };
    Object.assign(cluster, { readTarget: () => target, listOtherScalers });
    return listings;
  };

  it('are awaited once, and no rejection is left without a handler', async () => {
    const fixture = new Fixture();
    const listings = await watchTarget(fixture);

    const { record, target } = await fixture.cycle();

    expect(record.conditions).toMatchObject([
      {
        reason: 'FailedGetScale',
        message: 'reading HPAs in namespace shop: the first list has not finished yet',
      },
    ]);
    expect(target).not.toBeNull();
    expect(listings).toHaveLength(1);
  });
});

describe('the time in which pods start', () => {
  const started = (name: string, seconds: number): ClusterPod =>
    aPod(name, { startTime: at(-1000), readyChangedAt: at(seconds - 1000) });

  it('is learned from the pods of a document that uses it, and stays when they are gone', async () => {
    const fixture = new Fixture();
    fixture.scaler = buildScaler({ podStart: {} });
    fixture.cluster.pods.push(started('a', 90), started('b', 120));

    expect((await fixture.cycle()).record.snapshot).toMatchObject({ podStartSeconds: 120 });
    fixture.cluster.pods.splice(0, 2, started('c', 60));
    expect((await fixture.nextCycle()).record.snapshot).toMatchObject({ podStartSeconds: 120 });
  });

  it('is not part of other snapshots', async () => {
    for (const spec of [{}, { podStart: { seconds: 300 } }]) {
      const fixture = new Fixture();
      fixture.scaler = buildScaler(spec);
      fixture.cluster.pods.push(started('a', 90));

      expect((await fixture.cycle()).record.snapshot).not.toHaveProperty('podStartSeconds');
    }
  });
});
