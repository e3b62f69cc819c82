import { describe, expect, it } from '@jest/globals';
import { kubernetesEvents } from '../../../src/control/cycle/kubernetes-events.js';
import type { TargetFailure } from '../../../src/decision/failing.js';
import { KubernetesError, MissingTargetError } from '../../../src/kubernetes/api/types.js';
import { freshMemory } from '../../../src/control/memory/memory.js';
import type { CycleRecord } from '../../../src/telemetry/cycle-record.js';
import { createLedger } from '../../../src/telemetry/ledger.js';
import { failure } from '../fake-cluster.js';
import { answersFrom, at, buildScaler, Fixture } from '../fixture.js';

describe('a target that does not exist', () => {
  const missing = (suggestion: TargetFailure['suggestion'] = null) =>
    new MissingTargetError('reading deployment shop/web', { suggestion });
  const unserved = new KubernetesError('not_found', 'finding kind Rollout: not served', {
    unusableKind: { group: 'argo.io', isGroupServed: false },
  });
  const messageOf = ({ conditions }: CycleRecord): string | undefined =>
    conditions.find(({ reason }) => reason === 'FailedGetScale')?.message;
  const rename = { kind: null, name: 'web-2' };
  const otherKind = { kind: 'StatefulSet', name: 'web' };
  const isDeleted = { absence: 'deleted', suggestion: null };

  it.each([
    [
      'with a similar one',
      missing(rename),
      'reading deployment shop/web: 404 Not Found: the object was deleted',
      isDeleted,
    ],
    [
      'with another kind of its name',
      missing(otherKind),
      'reading deployment shop/web: 404 Not Found: the object was deleted; did you mean StatefulSet "web"?',
      { absence: 'deleted', suggestion: otherKind },
    ],
    [
      'of which the API server said so',
      failure('not_found', 'rollouts "web" not found'),
      'rollouts "web" not found; the object was deleted',
      isDeleted,
    ],
    // The words of a message are no fact.
    [
      'with a misleading name',
      failure('forbidden', 'the object was deleted; did you mean "web-2"?'),
      'the object was deleted; did you mean "web-2"?',
      { absence: null, suggestion: null },
    ],
    [
      'whose kind is gone',
      unserved,
      'finding kind Rollout: not served',
      { absence: 'missing', unusableKind: { group: 'argo.io', isGroupServed: false } },
    ],
  ])('after it was read, was deleted, and is not renamed: one %s', async (_, error, expected, facts) => {
    const fixture = new Fixture();
    fixture.memory = freshMemory(at(0), null);
    fixture.scaler = buildScaler({}, 'shop-web');
    await fixture.cycle();
    fixture.cluster.targetFailure = error;

    const { record } = await fixture.nextCycle();

    expect(messageOf(record)).toBe(expected);
    expect(record.targetFailure).toMatchObject(facts);
  });

  it('has the most similar name, unless a stored state or the name of the scaler speaks against a typo', async () => {
    const messages: (string | undefined)[] = [];
    for (const [uid, name] of [
      [null, 'shop-web'],
      [null, 'web'],
      ['uid-1', 'shop-web'],
    ] as const) {
      const fixture = new Fixture();
      fixture.memory = freshMemory(at(0), uid);
      fixture.scaler = buildScaler({}, name);
      fixture.cluster.targetFailure = missing(rename);
      messages.push(messageOf((await fixture.cycle()).record));
    }

    expect(messages).toEqual([missing(rename).message, missing().message, missing().message]);
    expect(missing().message).toBe('reading deployment shop/web: 404 Not Found: the object does not exist');
  });

  it('has the most similar name if the document named another target before', async () => {
    const fixture = new Fixture();
    fixture.scaler = buildScaler({}, 'shop');
    await fixture.cycle();
    fixture.scaler = buildScaler({ scaleTargetRef: { name: 'wbe' } }, 'shop');
    const suggestion = { kind: null, name: 'web' };
    fixture.cluster.targetFailure = missing(suggestion);

    expect(messageOf((await fixture.nextCycle()).record)).toBe(missing(suggestion).message);
  });
});

describe('the conditions of a target that was starting and cannot be read anymore', () => {
  it.each([
    ['not_found', 'Unknown'],
    ['forbidden', 'False'],
    ['timeout', 'False'],
    ['connection', 'False'],
    ['invalid_selector', 'False'],
  ] as const)('at %s: TargetReached is %s', async (kind, status) => {
    const fixture = new Fixture();
    fixture.load = 50;
    const ledger = createLedger();
    ledger.add((await fixture.cycle()).record);
    fixture.cluster.targetFailure = failure(kind);

    const { conditions } = ledger.add((await fixture.nextCycle()).record).after;

    const statuses = new Map(conditions.map((one) => [one.type, one.status]));
    const isMissing = kind === 'not_found';
    expect([...statuses]).toEqual([
      ['AbleToScale', kind === 'invalid_selector' ? 'True' : 'False'],
      ['ScalingActive', isMissing ? 'Unknown' : kind === 'invalid_selector' ? 'False' : 'True'],
      ['ScalingLimited', isMissing ? 'Unknown' : 'False'],
      ['Held', isMissing ? 'Unknown' : 'False'],
      ['TargetReached', status],
    ]);
  });

  it('after an edit: TargetReached and the conditions of metrics and limits are Unknown at forbidden', async () => {
    const fixture = new Fixture();
    const ledger = createLedger();
    const before = ledger.add((await fixture.cycle()).record).after;
    fixture.scaler = buildScaler({ maxReplicas: 19 });
    fixture.cluster.targetFailure = failure('forbidden');

    const { conditions } = ledger.add((await fixture.nextCycle()).record).after;

    const reached = before.conditions.find(({ type }) => type === 'TargetReached');
    expect([reached?.status, reached?.reason]).toEqual(['False', 'Starting']);
    expect(conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`)).toEqual([
      'AbleToScale False FailedGetScale',
      'ScalingActive Unknown NotEvaluated',
      'ScalingLimited Unknown NotEvaluated',
      'Held False NotHeld',
      'TargetReached Unknown NotEvaluated',
    ]);
  });

  it('does not replace the failed query by NotEvaluated', async () => {
    const fixture = new Fixture();
    fixture.cluster.targetFailure = failure('not_found');
    fixture.answers = answersFrom([{ class: 'failed', reason: 'timeout', message: 'timeout after 5 s' }]);

    expect((await fixture.cycle()).record.conditions.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      'AbleToScale FailedGetScale',
      'ScalingActive FailedGetExternalMetric',
      'ScalingLimited NotEvaluated',
      'Held NotEvaluated',
      'TargetReached NotEvaluated',
    ]);
  });

  it.each([
    [{}, {}, 'Unknown', 'NotEvaluated'],
    [{}, { 'paused-replicas': '3' }, 'Unknown', 'NotEvaluated'],
    [{ paused: true }, {}, 'True', 'Paused'],
    [{ dryRun: true }, {}, 'True', 'DryRun'],
  ])(
    'keeps no hold of the last decision: with %j and %j, Held is %s',
    async (spec, annotations, status, reason) => {
      const fixture = new Fixture(spec);
      fixture.annotate(annotations);
      const ledger = createLedger();
      const first = (await fixture.cycle()).record;
      ledger.add(first);
      fixture.cluster.targetFailure = failure('not_found');

      const { record } = await fixture.nextCycle();

      const held = ledger.add(record).after.conditions.find(({ type }) => type === 'Held');
      expect(held).toMatchObject({ status, reason });
      // Whether a pause by annotation continues is unknown, so it has not ended.
      expect(kubernetesEvents(first, record).map((event) => event.reason)).not.toContain('ScalingResumed');
    },
  );
});
