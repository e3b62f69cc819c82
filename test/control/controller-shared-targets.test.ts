import { describe, expect, it } from '@jest/globals';
import { ControllerFixture } from './controller-fixture.js';
import { buildScaler } from './fixture.js';

const WEB = buildScaler();
const API = buildScaler({ scaleTargetRef: { name: 'api' } }, 'api');
/** Another document for the target of WEB, with its API version written differently. */
const WEB_2 = buildScaler(
  { scaleTargetRef: { apiVersion: 'apps/v1beta2', kind: 'Deployment', name: 'web' } },
  'web-2',
);

describe('two documents for one target', () => {
  it('hold each other, each naming the other, and patch nothing', async () => {
    const fixture = new ControllerFixture();
    fixture.fixture.load = 80;

    await fixture.start(WEB, WEB_2, API);

    expect(fixture.inputs.map(({ sharesTargetWith }) => sharesTargetWith?.name)).toEqual([
      'web-2',
      'web',
      undefined,
    ]);
    expect(fixture.outputs.slice(0, 2).map(({ record }) => record.outcome.kind)).toEqual(['held', 'held']);
  });

  it('are released when one is removed: the other acts within 3 s', async () => {
    const fixture = new ControllerFixture();
    fixture.fixture.load = 80;
    await fixture.start(WEB, WEB_2);
    expect(fixture.fixture.cluster.arrived).toEqual([]);

    fixture.controller.setScalers([WEB_2]);
    await fixture.clock.advanceAndSettle(3000);

    expect(fixture.inputs[2]?.sharesTargetWith).toBeNull();
    expect(fixture.outputs[2]?.record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
  });

  it('hold each other for at most 50 ms after one of them was removed', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB, WEB_2, API);

    fixture.controller.setScalers([WEB, API]);
    await fixture.clock.advanceAndSettle(50);

    const since = fixture.inputs.slice(3);
    expect(since.map(({ scaler, sharesTargetWith }) => [scaler.name, sharesTargetWith])).toEqual([
      ['web', null],
    ]);
  });

  it('hold each other as soon as the second one appears', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB);
    fixture.fixture.load = 80;

    fixture.controller.setScalers([WEB, WEB_2]);
    await fixture.clock.advanceAndSettle(15_000);

    const came = fixture.outputs.slice(1).map(({ record }) => `${record.scaler.name} ${record.outcome.kind}`);
    expect(came).toEqual(['web held', 'web-2 held', 'web held', 'web-2 held']);
    expect(fixture.fixture.cluster.arrived).toEqual([]);
  });
});

describe('a document in dry run for the target of another one', () => {
  const trial = buildScaler({ dryRun: true }, 'web-2');

  it('holds nothing: the other scales, and the dry run names it', async () => {
    const fixture = new ControllerFixture();
    fixture.fixture.load = 80;

    await fixture.start(WEB, trial);

    const recordOf = (name: string) =>
      fixture.outputs.find(({ record }) => record.scaler.name === name)?.record;
    expect(recordOf('web')?.outcome.kind).toBe('patched');
    expect(recordOf('web')?.otherScaler).toBeUndefined();
    expect(recordOf('web-2')?.outcome.kind).toBe('dry-run');
    expect(recordOf('web-2')?.otherScaler).toMatchObject({ kind: 'Scaler', name: 'web' });
    expect(recordOf('web-2')?.conditions).toContainEqual({
      type: 'Held',
      status: 'True',
      reason: 'DryRun',
      message: 'spec.dryRun is true; Scaler shop/web scales the target',
    });
  });

  it('is none that a second one in dry run names', async () => {
    const fixture = new ControllerFixture();

    await fixture.start(trial, buildScaler({ dryRun: true }, 'web-3'));

    expect(fixture.inputs.map(({ sharesTargetWith }) => sharesTargetWith)).toEqual([null, null]);
  });

  it('is a conflict of both within 50 ms after its dry run ends, and nothing is patched', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB, trial);
    fixture.fixture.load = 80;

    fixture.controller.setScalers([WEB, buildScaler({}, 'web-2')]);
    await fixture.clock.advanceAndSettle(50);

    const since = fixture.outputs.slice(2).map(({ record }) => [record.scaler.name, record.outcome.kind]);
    expect(since).toEqual([
      ['web', 'held'],
      ['web-2', 'held'],
    ]);
    expect(fixture.fixture.cluster.arrived).toEqual([]);
  });

  it('patches nothing in a cycle that runs while its dry run ends', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB, trial);
    const isWanted = fixture.inputs[0]?.isCurrent;
    expect(isWanted?.()).toBe(true);

    fixture.controller.setScalers([WEB, buildScaler({}, 'web-2')]);

    expect(isWanted?.()).toBe(false);
  });
});

describe('an HPA of the target that is deleted', () => {
  it('is followed by a decision within 50 ms, for the scalers of this target only', async () => {
    const fixture = new ControllerFixture();
    const minutely = buildScaler({ syncPeriodSeconds: 60 });
    await fixture.start(minutely, API);
    await fixture.clock.advanceAndSettle(20_000);

    fixture.controller.decideSoon('shop', { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' });
    fixture.controller.decideSoon('shop', { apiVersion: 'other.io/v1', kind: 'Deployment', name: 'api' });
    await fixture.clock.advanceAndSettle(50);

    expect(fixture.asked.at(-1)).toEqual(['shop/web']);
    expect(fixture.begunAt(20.05)).toEqual(['shop/web']);
  });
});
