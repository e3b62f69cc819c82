import { describe, expect, it } from '@jest/globals';
import { settle } from '../support/manual-clock.js';
import { ControllerFixture, gate } from './controller-fixture.js';
import { at, buildScaler } from './fixture.js';

const WEB = buildScaler();
const API = buildScaler({ scaleTargetRef: { name: 'api' } }, 'api');
/** Builds the same document as a new object at each call. */
const slowApi = (syncPeriodSeconds: number) => ({
  ...buildScaler({ scaleTargetRef: { name: 'api' }, syncPeriodSeconds }, 'api'),
});
/** Another document for the target of WEB, with its API version written differently. */
const WEB_2 = buildScaler(
  { scaleTargetRef: { apiVersion: 'apps/v1beta2', kind: 'Deployment', name: 'web' } },
  'web-2',
);

describe('a removed scaler', () => {
  it('runs no more, is reported once, and its target keeps its 5 replicas', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB, API);
    fixture.fixture.load = 80;

    fixture.controller.setScalers([API]);
    await fixture.clock.advanceAndSettle(30_000);

    expect(fixture.removed).toEqual(['shop/web']);
    expect(fixture.inputs.filter(({ scaler }) => scaler.name === 'web')).toHaveLength(1);
    expect(fixture.followed).toEqual([['shop/web', 'shop/api'], ['shop/api']]);
  });

  it('patches nothing even in a running cycle, and is reported again when that has ended', async () => {
    const fixture = new ControllerFixture();
    fixture.fixture.load = 80;
    const letGo = fixture.holdCycles();
    await fixture.start(WEB);

    fixture.controller.setScalers([]);
    letGo();
    await settle();

    expect(fixture.outputs[0]?.record.outcome).toMatchObject({ kind: 'conflict', from: 5, to: 8 });
    expect(fixture.fixture.cluster.arrived).toEqual([]);
    expect(fixture.fixture.cluster.scaleReads).toBe(0);
    // The records of the ended cycle are forgotten, too.
    expect(fixture.removed).toEqual(['shop/web', 'shop/web']);
  });

  it('runs no cycle for answers that arrive after its removal', async () => {
    const fixture = new ControllerFixture();
    const { opened, open } = gate();
    fixture.arrival = opened;
    await fixture.start(WEB, API);

    fixture.controller.setScalers([API]);
    open();
    await settle();

    expect(fixture.begunAt(0)).toEqual(['shop/api']);
    expect(fixture.removed).toEqual(['shop/web']);
  });

  it('that returns while its old cycle waits for answers is a new one, and only that runs', async () => {
    const fixture = new ControllerFixture();
    const { opened, open } = gate();
    fixture.arrival = opened;
    await fixture.start(WEB);

    fixture.controller.setScalers([]);
    fixture.arrival = Promise.resolve();
    fixture.controller.setScalers([WEB]);
    await settle();
    expect(fixture.inputs).toHaveLength(1);
    open();
    await settle();

    expect(fixture.inputs).toHaveLength(1);
    fixture.stop.abort();
    await fixture.ended;
  });

  it('that returns while its old cycle is running is a new one, and only the new one patches', async () => {
    const fixture = new ControllerFixture();
    fixture.fixture.load = 80;
    const letGo = fixture.holdCycles((input) => input === fixture.inputs[0]);
    await fixture.start(WEB);
    fixture.controller.setScalers([]);
    fixture.fixture.load = 60;
    fixture.controller.setScalers([WEB]);
    await fixture.clock.advanceAndSettle(50);

    letGo();
    await settle();

    expect(fixture.inputs[1]?.memory).toMatchObject({ uid: null, state: { recommendations: null } });
    expect(fixture.outputs.map(({ record }) => record.outcome)).toMatchObject([
      { kind: 'patched', from: 5, to: 6 },
      { kind: 'conflict', from: 6, to: 8 },
    ]);
    // The records of the new one remain.
    expect(fixture.removed).toEqual(['shop/web']);
  });
});

describe('a new or edited document', () => {
  const SLOW = { syncPeriodSeconds: 300 };
  const slow = (maxReplicas: number) => buildScaler({ ...SLOW, maxReplicas });

  it('is evaluated at once, and then with the period of the others', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB, slowApi(300));
    await fixture.clock.advanceAndSettle(5000);

    fixture.controller.setScalers([
      buildScaler({ maxReplicas: 6 }),
      slowApi(300),
      buildScaler({ maxReplicas: 9 }, 'new'),
    ]);
    await fixture.clock.advanceAndSettle(1000);
    const early = fixture.inputs.slice(2).map(({ scaler }) => `${scaler.name} ${scaler.spec.maxReplicas}`);
    await fixture.clock.advanceAndSettle(25_000);

    expect(early).toEqual(['web 6', 'new 9', 'api 20']);
    expect([fixture.begunAt(15), fixture.begunAt(30)]).toEqual([
      ['shop/web', 'shop/new'],
      ['shop/web', 'shop/new'],
    ]);
    // This is not a late or missed slot.
    expect(fixture.rounds.map(({ latenessSeconds, missed }) => [latenessSeconds, missed])).toEqual(
      fixture.rounds.map(() => [0, 0]),
    );
  });

  it('is not evaluated again within half a period, so that two scale-ups never follow each other at once', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB, API);
    await fixture.clock.advanceAndSettle(14_000);

    fixture.controller.setScalers([buildScaler({ maxReplicas: 6 }), API]);
    await fixture.clock.advanceAndSettle(16_000);

    expect(fixture.inputs.slice(2, 3).map(({ scaler }) => scaler.spec.maxReplicas)).toEqual([6]);
    expect([fixture.begunAt(15), fixture.begunAt(30)]).toEqual([['shop/api'], ['shop/web', 'shop/api']]);
  });

  it('is evaluated at the next regular round if it is edited once more', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB);
    await fixture.clock.advanceAndSettle(14_000);
    fixture.controller.setScalers([buildScaler({ maxReplicas: 6 })]);
    await fixture.clock.advanceAndSettle(900);

    fixture.controller.setScalers([buildScaler({ maxReplicas: 7 })]);
    await fixture.clock.advanceAndSettle(200);

    expect(fixture.inputs.map(({ scaler }) => scaler.spec.maxReplicas)).toEqual([20, 6, 7]);
    expect(fixture.begunAt(15)).toEqual(['shop/web']);
  });

  it('is evaluated every 3 s while it is edited every 0.2 s, and within 3 s of the last edit', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(slow(5));
    for (let edit = 0; edit < 100; edit += 1) {
      fixture.controller.setScalers([slow(6 + edit)]);
      await fixture.clock.advanceAndSettle(200);
    }
    await fixture.clock.advanceAndSettle(3000);

    const seen = fixture.inputs.slice(1);
    expect(seen.length).toBeGreaterThan(5);
    expect(seen.length).toBeLessThan(10);
    expect(seen.at(-1)?.scaler.spec.maxReplicas).toBe(105);
  });

  it('that is read again unchanged causes no round', async () => {
    const fixture = new ControllerFixture();
    const scaler = slow(5);
    await fixture.start(scaler);

    fixture.controller.setScalers([scaler]);
    await fixture.clock.advanceAndSettle(60_000);

    expect(fixture.inputs).toHaveLength(1);
  });

  it('waits for the running cycle of the old document, and is evaluated then', async () => {
    const fixture = new ControllerFixture();
    const letGo = fixture.holdCycles((input) => input.now === at(0));
    await fixture.start(slow(5));
    fixture.controller.setScalers([slow(6)]);
    await fixture.clock.advanceAndSettle(20_000);
    const whileHeld = fixture.inputs.length;

    letGo();
    await fixture.clock.advanceAndSettle(4000);

    expect([whileHeld, fixture.inputs.length]).toEqual([1, 2]);
    expect(fixture.inputs[1]?.scaler.spec.maxReplicas).toBe(6);
  });

  it('causes nothing after the end of the term', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(slow(5));
    fixture.controller.setScalers([slow(6)]);
    fixture.stop.abort();
    await fixture.ended;

    fixture.controller.setScalers([slow(7)]);
    await fixture.clock.advanceAndSettle(60_000);

    expect(fixture.inputs).toHaveLength(1);
  });
});

describe('a reload', () => {
  it('keeps the memory of a scaler whose bounds change, and uses the new ones', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB);
    const changed = buildScaler({ maxReplicas: 6 });
    fixture.fixture.load = 80;

    fixture.controller.setScalers([changed]);
    await fixture.clock.advanceAndSettle(15_000);

    expect(fixture.inputs[1]?.scaler).toBe(changed);
    expect(fixture.inputs[1]?.memory).toBe(fixture.outputs[0]?.memory);
    expect(fixture.outputs[1]?.record.outcome).toMatchObject({ kind: 'patched', from: 5, to: 6 });
    expect(fixture.removed).toEqual([]);
  });

  it('keeps the results of a running cycle', async () => {
    const fixture = new ControllerFixture();
    const letGo = fixture.holdCycles((input) => input.now === at(0));
    await fixture.start(WEB);
    fixture.controller.setScalers([buildScaler({ maxReplicas: 6 })]);
    letGo();
    await settle();

    await fixture.clock.advanceAndSettle(15_000);

    expect(fixture.inputs[1]?.memory).toBe(fixture.outputs[0]?.memory);
    expect(fixture.inputs[1]?.memory.uid).toBe('uid-1');
  });

  it('patches nothing for the old document in a running cycle: the new one may be paused', async () => {
    const fixture = new ControllerFixture();
    fixture.fixture.load = 80;
    const letGo = fixture.holdCycles();
    await fixture.start(WEB);

    fixture.controller.setScalers([buildScaler({ paused: true })]);
    letGo();
    await settle();

    expect(fixture.outputs[0]?.record.outcome).toMatchObject({ kind: 'conflict', from: 5, to: 8 });
    expect(fixture.fixture.cluster.arrived).toEqual([]);
  });

  it('keeps the memory if only the API version of the target is written differently', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB_2);

    fixture.controller.setScalers([buildScaler({ scaleTargetRef: { name: 'web' } }, 'web-2')]);
    await fixture.clock.advanceAndSettle(15_000);

    expect(fixture.inputs[1]?.memory).toBe(fixture.outputs[0]?.memory);
  });

  it('restarts a scaler if the target is a different one: both windows from the reload on', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB);
    await fixture.clock.advanceAndSettle(10_000);

    fixture.controller.setScalers([buildScaler({ scaleTargetRef: { name: 'api' } })]);
    await fixture.clock.advanceAndSettle(5000);

    expect(fixture.inputs[1]?.memory).toMatchObject({
      uid: null,
      state: { lastScaleUp: at(10), lastScaleDown: at(10), recommendations: null, scaleEvents: [] },
    });
  });

  it('prevents patches by a running cycle for the old target', async () => {
    const fixture = new ControllerFixture();
    fixture.fixture.load = 80;
    const letGo = fixture.holdCycles((input) => input.now === at(0));
    await fixture.start(WEB);

    fixture.controller.setScalers([buildScaler({ scaleTargetRef: { name: 'api' } })]);
    letGo();
    await settle();

    expect(fixture.fixture.cluster.arrived).toEqual([]);
  });

  it('does not affect other scalers: they keep memory and period', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB, API);
    await fixture.clock.advanceAndSettle(7000);

    fixture.controller.setScalers([buildScaler({ maxReplicas: 6 }), API]);
    await fixture.clock.advanceAndSettle(8000);

    const cycles = fixture.inputs.filter(({ scaler }) => scaler.name === 'api');
    expect(cycles.map(({ now }) => now)).toEqual([at(0), at(15)]);
    expect(cycles[1]?.memory.uid).toBe('uid-1');
  });

  it('runs a new scaler in the next round of its period', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB);
    await fixture.clock.advanceAndSettle(7000);

    fixture.controller.setScalers([WEB, API]);
    await fixture.clock.advanceAndSettle(8000);

    expect(fixture.begunAt(15)).toEqual(['shop/web', 'shop/api']);
  });

  it('changes the period from 15 to 5 s and leaves no rounds of 15 s', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB);
    await fixture.clock.advanceAndSettle(7000);

    fixture.controller.setScalers([buildScaler({ syncPeriodSeconds: 5 })]);
    await fixture.clock.advanceAndSettle(23_000);

    expect(fixture.rounds.map(({ at: instant }) => instant)).toEqual([0, 10, 15, 20, 25, 30].map(at));
    // And one cycle at once.
    expect(fixture.inputs).toHaveLength(7);
  });

  it('with periods of 15 and 30 s starts one round for both after 50 ms, so that they share queries', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB);
    await fixture.clock.advanceAndSettle(7000);

    fixture.controller.setScalers([
      WEB,
      slowApi(30),
      buildScaler({ scaleTargetRef: { name: 'new' } }, 'new'),
    ]);
    await settle();
    const atOnce = fixture.asked.length;
    await fixture.clock.advanceAndSettle(50);

    expect(atOnce).toBe(1);
    expect(fixture.asked.slice(1)).toEqual([['shop/new'], ['shop/api']]);
  });

  it('with a new period runs it in the same slots as those that are there: 15 s and 30 s meet every 30 s', async () => {
    const fixture = new ControllerFixture();
    await fixture.start(WEB);
    await fixture.clock.advanceAndSettle(7000);

    fixture.controller.setScalers([WEB, slowApi(30)]);
    await fixture.clock.advanceAndSettle(60_000);

    expect(fixture.begunAt(30)).toEqual(['shop/api', 'shop/web']);
    expect(fixture.begunAt(60)).toEqual(['shop/api', 'shop/web']);
    expect(fixture.inputs.filter(({ scaler }) => scaler.name === 'api')).toHaveLength(3);
  });

  it('before the first round takes effect in it', async () => {
    const fixture = new ControllerFixture();
    fixture.isSynced = false;
    await fixture.start(WEB);
    fixture.controller.setScalers([API]);
    fixture.isSynced = true;

    await fixture.clock.advanceAndSettle(20);

    expect(fixture.asked).toEqual([['shop/api']]);
  });
});
