import { describe, expect, it } from '@jest/globals';
import { kubernetesEvents } from '../../../src/control/cycle/report.js';
import { freshMemory } from '../../../src/control/memory/memory.js';
import type { CycleRecord } from '../../../src/telemetry/cycle-record.js';
import { createLedger } from '../../../src/telemetry/ledger.js';
import { failure } from '../fake-cluster.js';
import { answersFrom, at, buildScaler, Fixture } from '../fixture.js';

describe('a target that does not exist', () => {
  const missing = (guess: string) =>
    failure('not_found', `reading deployment shop/web: 404 Not Found: the object does not exist${guess}`);
  const messageOf = ({ conditions }: CycleRecord): string | undefined =>
    conditions.find(({ reason }) => reason === 'FailedGetScale')?.message;
  const [rename, otherKind] = ['; did you mean "web-2"?', '; did you mean StatefulSet "web"?'];

  it.each([
    [
      '404 Not Found: the object does not exist; did you mean "web-2"?',
      '404 Not Found: the object was deleted',
    ],
    [`the object does not exist${otherKind}`, `the object was deleted${otherKind}`],
    ['rollouts "web" not found', 'rollouts "web" not found; the object was deleted'],
    ['finding kind Rollout: not served', 'finding kind Rollout: not served'],
  ])('after it was read, was deleted, and is not renamed: %s', async (text, expected) => {
    const fixture = new Fixture();
    fixture.memory = freshMemory(at(0), null);
    fixture.scaler = buildScaler({}, 'shop-web');
    await fixture.cycle();
    fixture.cluster.targetFailure = failure('not_found', text);

    expect(messageOf((await fixture.nextCycle()).record)).toBe(expected);
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

    expect(messages).toEqual([missing(rename).message, missing('').message, missing('').message]);
  });

  it('has the most similar name if the document named another target before', async () => {
    const fixture = new Fixture();
    fixture.scaler = buildScaler({}, 'shop');
    await fixture.cycle();
    fixture.scaler = buildScaler({ scaleTargetRef: { name: 'wbe' } }, 'shop');
    fixture.cluster.targetFailure = missing('; did you mean "web"?');

    expect(messageOf((await fixture.nextCycle()).record)).toBe(missing('; did you mean "web"?').message);
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
