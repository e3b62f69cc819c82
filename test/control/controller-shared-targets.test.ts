import { describe, expect, it } from '@jest/globals';
import { ControllerRig } from './controller-rig.js';
import { buildScaler } from './world.js';

const WEB = buildScaler();
const API = buildScaler({ scaleTargetRef: { name: 'api' } }, 'api');
/** Another document for the target of WEB, with its API version written differently. */
const WEB_2 = buildScaler(
  { scaleTargetRef: { apiVersion: 'apps/v1beta2', kind: 'Deployment', name: 'web' } },
  'web-2',
);

describe('two documents for one target', () => {
  it('hold each other, each naming the other, and patch nothing', async () => {
    const rig = new ControllerRig();
    rig.world.load = 80;

    await rig.start(WEB, WEB_2, API);

    expect(rig.inputs.map(({ sharesTargetWith }) => sharesTargetWith?.name)).toEqual([
      'web-2',
      'web',
      undefined,
    ]);
    expect(rig.outputs.slice(0, 2).map(({ record }) => record.outcome.kind)).toEqual(['held', 'held']);
  });

  it('are released when one is removed: the other acts within 3 s', async () => {
    const rig = new ControllerRig();
    rig.world.load = 80;
    await rig.start(WEB, WEB_2);
    expect(rig.world.cluster.arrived).toEqual([]);

    rig.controller.setScalers([WEB_2]);
    await rig.clock.advanceAndSettle(3000);

    expect(rig.inputs[2]?.sharesTargetWith).toBeNull();
    expect(rig.outputs[2]?.record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
  });

  it('hold each other for at most 50 ms after one of them was removed', async () => {
    const rig = new ControllerRig();
    await rig.start(WEB, WEB_2, API);

    rig.controller.setScalers([WEB, API]);
    await rig.clock.advanceAndSettle(50);

    const since = rig.inputs.slice(3);
    expect(since.map(({ scaler, sharesTargetWith }) => [scaler.name, sharesTargetWith])).toEqual([
      ['web', null],
    ]);
  });

  it('hold each other as soon as the second one appears', async () => {
    const rig = new ControllerRig();
    await rig.start(WEB);
    rig.world.load = 80;

    rig.controller.setScalers([WEB, WEB_2]);
    await rig.clock.advanceAndSettle(15_000);

    const came = rig.outputs.slice(1).map(({ record }) => `${record.scaler.name} ${record.outcome.kind}`);
    expect(came).toEqual(['web held', 'web-2 held', 'web held', 'web-2 held']);
    expect(rig.world.cluster.arrived).toEqual([]);
  });
});

describe('a document in dry run for the target of another one', () => {
  const trial = buildScaler({ dryRun: true }, 'web-2');

  it('holds nothing: the other scales, and the dry run names it', async () => {
    const rig = new ControllerRig();
    rig.world.load = 80;

    await rig.start(WEB, trial);

    const recordOf = (name: string) => rig.outputs.find(({ record }) => record.scaler.name === name)?.record;
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
    const rig = new ControllerRig();

    await rig.start(trial, buildScaler({ dryRun: true }, 'web-3'));

    expect(rig.inputs.map(({ sharesTargetWith }) => sharesTargetWith)).toEqual([null, null]);
  });

  it('is a conflict of both within 50 ms after its dry run ends, and nothing is patched', async () => {
    const rig = new ControllerRig();
    await rig.start(WEB, trial);
    rig.world.load = 80;

    rig.controller.setScalers([WEB, buildScaler({}, 'web-2')]);
    await rig.clock.advanceAndSettle(50);

    const since = rig.outputs.slice(2).map(({ record }) => [record.scaler.name, record.outcome.kind]);
    expect(since).toEqual([
      ['web', 'held'],
      ['web-2', 'held'],
    ]);
    expect(rig.world.cluster.arrived).toEqual([]);
  });

  it('patches nothing in a cycle that runs while its dry run ends', async () => {
    const rig = new ControllerRig();
    await rig.start(WEB, trial);
    const isWanted = rig.inputs[0]?.isCurrent;
    expect(isWanted?.()).toBe(true);

    rig.controller.setScalers([WEB, buildScaler({}, 'web-2')]);

    expect(isWanted?.()).toBe(false);
  });
});

describe('an HPA of the target that is deleted', () => {
  it('is followed by a decision within 50 ms, for the scalers of this target only', async () => {
    const rig = new ControllerRig();
    const minutely = buildScaler({ syncPeriodSeconds: 60 });
    await rig.start(minutely, API);
    await rig.clock.advanceAndSettle(20_000);

    rig.controller.decideSoon('shop', { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' });
    rig.controller.decideSoon('shop', { apiVersion: 'other.io/v1', kind: 'Deployment', name: 'api' });
    await rig.clock.advanceAndSettle(50);

    expect(rig.asked.at(-1)).toEqual(['shop/web']);
    expect(rig.begunAt(20.05)).toEqual(['shop/web']);
  });
});
