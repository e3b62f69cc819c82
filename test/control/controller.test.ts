import { describe, expect, it } from '@jest/globals';
import { settle } from '../support/manual-clock.js';
import { ControllerRig, gate } from './controller-rig.js';
import { at, buildScaler } from './world.js';

const WEB = buildScaler();
const API = buildScaler({ scaleTargetRef: { name: 'api' } }, 'api');
const DB = buildScaler({ scaleTargetRef: { name: 'db' } }, 'db');

describe('the rounds of a controller', () => {
  it('run all scalers of one period at the same instant, every 15 s, with one call for their queries', async () => {
    const rig = new ControllerRig();
    await rig.start(WEB, API);

    await rig.clock.advanceAndSettle(30_000);

    expect(rig.asked).toEqual(Array.from({ length: 3 }, () => ['shop/web', 'shop/api']));
    expect(rig.inputs.map(({ now }) => now)).toEqual([0, 0, 15, 15, 30, 30].map(at));
  });

  it('run a scaler of 5 s three times while one of 15 s runs once', async () => {
    const rig = new ControllerRig();
    await rig.start(WEB, buildScaler({ scaleTargetRef: { name: 'api' }, syncPeriodSeconds: 5 }, 'api'));

    await rig.clock.advanceAndSettle(14_999);

    expect(rig.inputs.filter(({ scaler }) => scaler.name === 'api')).toHaveLength(3);
    expect(rig.inputs.filter(({ scaler }) => scaler.name === 'web')).toHaveLength(1);
  });

  it('begin when the caches are synced, here after 300 ms', async () => {
    const rig = new ControllerRig();
    rig.isSynced = false;
    await rig.start(WEB);
    await rig.clock.advanceAndSettle(300);
    expect(rig.inputs).toEqual([]);

    rig.isSynced = true;
    await rig.clock.advanceAndSettle(20);

    expect(rig.inputs).toHaveLength(1);
  });

  it('begin after 2 s with caches that are not synced, not after 1.9 s', async () => {
    const rig = new ControllerRig();
    rig.isSynced = false;
    await rig.start(WEB);

    await rig.clock.advanceAndSettle(1900);
    expect(rig.inputs).toEqual([]);
    await rig.clock.advanceAndSettle(120);
    expect(rig.inputs).toHaveLength(1);
  });

  it('wait up to 60 s for first lists whose pages arrive, and not after the last page', async () => {
    const rig = new ControllerRig();
    rig.isSynced = false;
    rig.isListing = true;
    await rig.start(WEB);

    await rig.clock.advanceAndSettle(30_000);
    expect(rig.inputs).toEqual([]);
    rig.isListing = false;
    await rig.clock.advanceAndSettle(20);
    expect(rig.inputs).toHaveLength(1);
  });

  it('begin after 60 s with endless first lists, not after 59.9 s', async () => {
    const rig = new ControllerRig();
    rig.isSynced = false;
    rig.isListing = true;
    await rig.start(WEB);

    await rig.clock.advanceAndSettle(59_900);
    expect(rig.inputs).toEqual([]);
    await rig.clock.advanceAndSettle(120);
    expect(rig.inputs).toHaveLength(1);
  });

  it('pass the memory of one cycle to the next', async () => {
    const rig = new ControllerRig();
    await rig.start(WEB);
    await rig.clock.advanceAndSettle(15_000);

    expect(rig.inputs[0]?.memory).toMatchObject({ uid: null, state: { lastScaleUp: at(0) } });
    expect(rig.inputs[1]?.memory).toBe(rig.outputs[0]?.memory);
  });
});

describe('a slow scaler', () => {
  it('skips rounds until its cycle ends; the other scaler continues', async () => {
    const rig = new ControllerRig();
    const letGo = rig.holdCycles((input) => input.scaler.name === 'web' && input.now === at(0));
    await rig.start(WEB, API);

    await rig.clock.advanceAndSettle(30_000);
    letGo();
    await rig.clock.advanceAndSettle(15_000);

    expect(rig.asked).toEqual([
      ['shop/web', 'shop/api'],
      ['shop/api'],
      ['shop/api'],
      ['shop/web', 'shop/api'],
    ]);
    expect(rig.begunAt(15)).toEqual(['shop/api']);
    expect(rig.begunAt(45)).toEqual(['shop/web', 'shop/api']);
  });

  it('never runs twice at once', async () => {
    const rig = new ControllerRig();
    let running = 0;
    let most = 0;
    rig.script = async (_input, run) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => rig.clock.after(20_000, resolve));
      running -= 1;
      return run();
    };
    await rig.start(WEB);

    await rig.clock.advanceAndSettle(300_000);

    expect(most).toBe(1);
    expect(rig.inputs).toHaveLength(11);
  });
});

describe('a cycle that throws', () => {
  it('is reported with its scaler, the others continue, and it runs again in the next round', async () => {
    const rig = new ControllerRig();
    const fault = new TypeError('our own fault');
    rig.script = (input, run) =>
      input.scaler.name === 'api' && input.now === at(0) ? Promise.reject(fault) : run();

    await rig.start(WEB, API, DB);
    await rig.clock.advanceAndSettle(15_000);

    expect(rig.faults).toEqual([['shop/api', fault]]);
    expect(rig.outputs.map(({ record }) => record.scaler.name)).toEqual(['web', 'db', 'web', 'api', 'db']);
  });

  it('leaves the memory unchanged', async () => {
    const rig = new ControllerRig();
    rig.script = (input, run) => (input.now === at(15) ? Promise.reject(new Error('fault')) : run());
    await rig.start(WEB);

    await rig.clock.advanceAndSettle(30_000);

    expect(rig.inputs[2]?.memory).toBe(rig.outputs[0]?.memory);
  });
});

describe('stopping the controller', () => {
  it('ends the rounds', async () => {
    const rig = new ControllerRig();
    await rig.start(WEB);

    rig.stop.abort();
    await rig.ended;
    await rig.clock.advanceAndSettle(60_000);

    expect(rig.inputs).toHaveLength(1);
  });

  it('leaves no timer that would keep the process alive for 5 s', async () => {
    const rig = new ControllerRig();
    await rig.start(WEB);

    rig.stop.abort();
    await rig.ended;

    expect(rig.clock.pending).toBe(0);
  });

  it('waits for the PATCH in flight and keeps its result', async () => {
    const rig = new ControllerRig();
    const patch = gate();
    rig.world.load = 80;
    rig.world.cluster.patchScripts.push(async (apply) => {
      await patch.opened;
      return apply();
    });
    await rig.start(WEB);
    let hasEnded = false;
    void rig.ended.then(() => (hasEnded = true));

    rig.stop.abort();
    await rig.clock.advanceAndSettle(4900);
    expect(hasEnded).toBe(false);
    patch.open();
    await rig.ended;

    expect(rig.outputs[0]?.record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
  });

  it('waits for 5 s at most', async () => {
    const rig = new ControllerRig();
    rig.script = () => new Promise(() => undefined);
    await rig.start(WEB);
    let hasEnded = false;
    void rig.ended.then(() => (hasEnded = true));

    rig.stop.abort();
    await rig.clock.advanceAndSettle(4999);
    expect(hasEnded).toBe(false);
    await rig.clock.advanceAndSettle(1);
    expect(hasEnded).toBe(true);
  });

  it('before the caches are synced ends it without a round', async () => {
    const rig = new ControllerRig();
    rig.isSynced = false;
    await rig.start(WEB);

    rig.stop.abort();
    await rig.ended;

    expect(rig.rounds).toEqual([]);
    expect(rig.clock.pending).toBe(0);
  });

  it('is final: a reload with another period afterwards starts no round', async () => {
    const rig = new ControllerRig();
    await rig.start(WEB);
    rig.stop.abort();
    await rig.ended;

    rig.controller.setScalers([buildScaler({ syncPeriodSeconds: 5 })]);
    await settle();
    await rig.clock.advanceAndSettle(20_000);

    expect(rig.rounds).toHaveLength(1);
  });
});
