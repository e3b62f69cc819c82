import { describe, expect, it } from '@jest/globals';
import { settle } from '../support/manual-clock.js';
import { ControllerFixture, gate } from './controller-fixture.js';
import { at, buildScaler } from './fixture.js';

const WEB = buildScaler();
const API = buildScaler({ scaleTargetRef: { name: 'api' } }, 'api');
const DB = buildScaler({ scaleTargetRef: { name: 'db' } }, 'db');

describe('the rounds of a controller', () => {
  it('run all scalers of one period at the same instant, every 15 s, with one call for their queries', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB, API);

    await fixture.clock.advanceAndSettle(30_000);

    expect(fixture.asked).toEqual(Array.from({ length: 3 }, () => ['shop/web', 'shop/api']));
    expect(fixture.inputs.map(({ now }) => now)).toEqual([0, 0, 15, 15, 30, 30].map(at));
  });

  it('run a scaler of 5 s three times while one of 15 s runs once', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB, buildScaler({ scaleTargetRef: { name: 'api' }, syncPeriodSeconds: 5 }, 'api'));

    await fixture.clock.advanceAndSettle(14_999);

    expect(fixture.inputs.filter(({ scaler }) => scaler.name === 'api')).toHaveLength(3);
    expect(fixture.inputs.filter(({ scaler }) => scaler.name === 'web')).toHaveLength(1);
  });

  it('begin when the caches are synced, here after 300 ms', async () => {
    const fixture = new ControllerFixture();
    fixture.isSynced = false;
    await fixture.start(WEB);
    await fixture.clock.advanceAndSettle(300);
    expect(fixture.inputs).toEqual([]);

    fixture.isSynced = true;
    await fixture.clock.advanceAndSettle(20);

    expect(fixture.inputs).toHaveLength(1);
  });

  it('begin after 2 s with caches that are not synced, not after 1.9 s', async () => {
    const fixture = new ControllerFixture();
    fixture.isSynced = false;
    await fixture.start(WEB);

    await fixture.clock.advanceAndSettle(1900);
    expect(fixture.inputs).toEqual([]);
    await fixture.clock.advanceAndSettle(120);
    expect(fixture.inputs).toHaveLength(1);
  });

  it('wait up to 60 s for first lists whose pages arrive, and not after the last page', async () => {
    const fixture = new ControllerFixture();
    fixture.isSynced = false;
    fixture.isListing = true;
    await fixture.start(WEB);

    await fixture.clock.advanceAndSettle(30_000);
    expect(fixture.inputs).toEqual([]);
    fixture.isListing = false;
    await fixture.clock.advanceAndSettle(20);
    expect(fixture.inputs).toHaveLength(1);
  });

  it('begin after 60 s with endless first lists, not after 59.9 s', async () => {
    const fixture = new ControllerFixture();
    fixture.isSynced = false;
    fixture.isListing = true;
    await fixture.start(WEB);

    await fixture.clock.advanceAndSettle(59_900);
    expect(fixture.inputs).toEqual([]);
    await fixture.clock.advanceAndSettle(120);
    expect(fixture.inputs).toHaveLength(1);
  });

  it('pass the memory of one cycle to the next', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB);
    await fixture.clock.advanceAndSettle(15_000);

    expect(fixture.inputs[0]?.memory).toMatchObject({ uid: null, state: { lastScaleUp: at(0) } });
    expect(fixture.inputs[1]?.memory).toBe(fixture.outputs[0]?.memory);
  });
});

describe('a slow scaler', () => {
  it('skips rounds until its cycle ends; the other scaler continues', async () => {
    const fixture = new ControllerFixture();
    const letGo = fixture.holdCycles((input) => input.scaler.name === 'web' && input.now === at(0));
    await fixture.start(WEB, API);

    await fixture.clock.advanceAndSettle(30_000);
    letGo();
    await fixture.clock.advanceAndSettle(15_000);

    expect(fixture.asked).toEqual([
      ['shop/web', 'shop/api'],
      ['shop/api'],
      ['shop/api'],
      ['shop/web', 'shop/api'],
    ]);
    expect(fixture.begunAt(15)).toEqual(['shop/api']);
    expect(fixture.begunAt(45)).toEqual(['shop/web', 'shop/api']);
  });

  it('never runs twice at once', async () => {
    const fixture = new ControllerFixture();
    let running = 0;
    let most = 0;
    fixture.script = async (_input, run) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => fixture.clock.after(20_000, resolve));
      running -= 1;
      return run();
    };
    await fixture.start(WEB);

    await fixture.clock.advanceAndSettle(300_000);

    expect(most).toBe(1);
    expect(fixture.inputs).toHaveLength(11);
  });
});

describe('a cycle that throws', () => {
  it('is reported with its scaler, the others continue, and it runs again in the next round', async () => {
    const fixture = new ControllerFixture();
    const fault = new TypeError('our own fault');
    fixture.script = (input, run) =>
      input.scaler.name === 'api' && input.now === at(0) ? Promise.reject(fault) : run();

    await fixture.start(WEB, API, DB);
    await fixture.clock.advanceAndSettle(15_000);

    expect(fixture.faults).toEqual([['shop/api', fault]]);
    expect(fixture.outputs.map(({ record }) => record.scaler.name)).toEqual([
      'web',
      'db',
      'web',
      'api',
      'db',
    ]);
  });

  it('leaves the memory unchanged', async () => {
    const fixture = new ControllerFixture();
    fixture.script = (input, run) => (input.now === at(15) ? Promise.reject(new Error('fault')) : run());
    await fixture.start(WEB);

    await fixture.clock.advanceAndSettle(30_000);

    expect(fixture.inputs[2]?.memory).toBe(fixture.outputs[0]?.memory);
  });
});

describe('stopping the controller', () => {
  it('ends the rounds', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB);

    fixture.stop.abort();
    await fixture.ended;
    await fixture.clock.advanceAndSettle(60_000);

    expect(fixture.inputs).toHaveLength(1);
  });

  it('leaves no timer that would keep the process alive for 5 s', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB);

    fixture.stop.abort();
    await fixture.ended;

    expect(fixture.clock.pending).toBe(0);
  });

  it('waits for the PATCH in flight and keeps its result', async () => {
    const fixture = new ControllerFixture();
    const patch = gate();
    fixture.fixture.load = 80;
    fixture.fixture.cluster.patchScripts.push(async (apply) => {
      await patch.opened;
      return apply();
    });
    await fixture.start(WEB);
    let hasEnded = false;
    void fixture.ended.then(() => (hasEnded = true));

    fixture.stop.abort();
    await fixture.clock.advanceAndSettle(4900);
    expect(hasEnded).toBe(false);
    patch.open();
    await fixture.ended;

    expect(fixture.outputs[0]?.record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 8 });
  });

  it('waits for 5 s at most', async () => {
    const fixture = new ControllerFixture();
    fixture.script = () => new Promise(() => undefined);
    await fixture.start(WEB);
    let hasEnded = false;
    void fixture.ended.then(() => (hasEnded = true));

    fixture.stop.abort();
    await fixture.clock.advanceAndSettle(4999);
    expect(hasEnded).toBe(false);
    await fixture.clock.advanceAndSettle(1);
    expect(hasEnded).toBe(true);
  });

  it('before the caches are synced ends it without a round', async () => {
    const fixture = new ControllerFixture();
    fixture.isSynced = false;
    await fixture.start(WEB);

    fixture.stop.abort();
    await fixture.ended;

    expect(fixture.rounds).toEqual([]);
    expect(fixture.clock.pending).toBe(0);
  });

  it('is final: a reload with another period afterwards starts no round', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB);
    fixture.stop.abort();
    await fixture.ended;

    fixture.controller.setScalers([buildScaler({ syncPeriodSeconds: 5 })]);
    await settle();
    await fixture.clock.advanceAndSettle(20_000);

    expect(fixture.rounds).toHaveLength(1);
  });
});
