import { afterEach, describe, expect, it } from '@jest/globals';
import type { SimulatorOptions } from '../../../src/simulator/simulator.js';
import { SECOND_SCALER } from '../fixture.js';
import { COST, CostFixture, OWN, RANKED, rankingOf, WEB } from './cost-fixture.js';

const fixtures: CostFixture[] = [];

afterEach(async () => {
  await Promise.all(fixtures.splice(0).map((fixture) => fixture.close()));
});

async function start(
  options: Partial<SimulatorOptions> = {},
  token: string | null = null,
): Promise<CostFixture> {
  const fixture = await CostFixture.create(options, token);
  fixtures.push(fixture);
  return fixture;
}

/** Values 0 to 4 for the five pods, not in the order of their names. */
function valued(fixture: CostFixture): {
  readonly order: readonly string[];
  readonly ranking: ReturnType<typeof rankingOf>;
} {
  const pods = fixture.pods();
  const order = [3, 0, 4, 2, 1].map((index) => pods[index] ?? '');
  return { order, ranking: rankingOf(Object.fromEntries(order.map((pod, value) => [pod, value]))) };
}

const RULES = {
  admin: { user: 'admin', rules: [{ apiGroups: ['*'], resources: ['*', '*/scale'], verbs: ['*'] }] },
  scaler: {
    user: 'scaler',
    rules: [
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['apps'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['apps'], resources: ['*/scale'], verbs: ['get', 'patch'] },
      { apiGroups: ['autoscaling'], resources: ['*'], verbs: ['list', 'watch'] },
    ],
  },
};

describe('a scale-down from 5 to 3 of a Deployment with podDeletionCost', () => {
  it('removes the two pods with the smallest values, whose costs are -2 and -1', async () => {
    const fixture = await start();
    const { order, ranking } = valued(fixture);

    const { record } = await fixture.cycle(3, { ranking });
    const written = fixture.annotations();
    await fixture.pass(5);

    expect(record.outcome.kind).toBe('patched');
    expect(written).toEqual({
      [order[0] ?? '']: { [COST]: '-2', [OWN]: '-2' },
      [order[1] ?? '']: { [COST]: '-1', [OWN]: '-1' },
    });
    expect([...fixture.pods()].sort()).toEqual(order.slice(2).sort());
    expect(fixture.annotations()).toEqual({});
    expect(fixture.podPatches()).toBe(2);
  });

  it('removes those with the largest values with order descending', async () => {
    const fixture = await start();
    const { order, ranking } = valued(fixture);

    await fixture.cycle(3, { ranking, spec: { podDeletionCost: { query: 'load', order: 'descending' } } });
    await fixture.pass(5);

    expect([...fixture.pods()].sort()).toEqual(order.slice(0, 3).sort());
  });

  it('does not rank a pod that is not ready: it is removed first, and only one other gets a cost', async () => {
    const fixture = await start();
    const { order, ranking } = valued(fixture);
    fixture.simulator.breakPod('shop', order[4] ?? '');
    await fixture.pass(1);

    await fixture.cycle(3, { ranking });
    const written = Object.keys(fixture.annotations());
    await fixture.pass(5);

    expect(written).toEqual([order[0]]);
    expect([...fixture.pods()].sort()).toEqual(order.slice(1, 4).sort());
  });

  it('keeps the cost of another client, and includes it in the order', async () => {
    const fixture = await start();
    const { order, ranking } = valued(fixture);
    await fixture.annotate(order[4] ?? '', { [COST]: '-7' });
    await fixture.annotate(order[0] ?? '', { [COST]: '12' });

    await fixture.cycle(3, { ranking });
    const written = fixture.annotations();
    await fixture.pass(5);

    expect(written).toEqual({
      [order[4] ?? '']: { [COST]: '-7' },
      [order[0] ?? '']: { [COST]: '12' },
      [order[1] ?? '']: { [COST]: '-1', [OWN]: '-1' },
    });
    expect([...fixture.pods()].sort()).toEqual([order[0], order[2], order[3]].sort());
  });

  it('overwrites nothing that changed after the last event of the watch', async () => {
    const fixture = await start();
    const { order, ranking } = valued(fixture);
    fixture.simulator.faults.addEventFault({ resource: 'pods', name: order[0] ?? '' }, 'swallow');
    await fixture.annotate(order[0] ?? '', { [COST]: '12' }, false);

    const { record } = await fixture.cycle(3, { ranking });

    expect(record.outcome.kind).toBe('patched');
    expect(fixture.annotations()[order[0] ?? '']).toEqual({ [COST]: '12' });
    expect(fixture.warnings).toEqual([]);
  });

  it('continues without the permission, with one warning that names the chart value', async () => {
    const fixture = await start({ rbac: RULES }, 'scaler');
    const { ranking } = valued(fixture);

    const first = await fixture.cycle(4, { ranking });
    await fixture.pass(15);
    const second = await fixture.cycle(3, { ranking });

    expect([first.record.outcome.kind, second.record.outcome.kind]).toEqual(['patched', 'patched']);
    expect(fixture.warnings).toHaveLength(1);
    expect(fixture.warnings[0]?.facts?.['error']).toMatch(
      /setting the deletion cost of pod shop\/web-.*403 .*cannot patch resource "pods".*podDeletionCost\.enabled: true/,
    );
  });

  it('continues after 1000 ms if the API server does not answer, and sends no cost after that', async () => {
    const fixture = await start();
    const { ranking } = valued(fixture);
    const removeFault = fixture.simulator.faults.add(
      { verbs: ['patch'], resource: 'pods' },
      { kind: 'stall' },
    );
    const cycle = fixture.cycle(3, { ranking });
    await fixture.clock.advanceAndSettle(999);
    const before = fixture.simulator.describe(WEB).replicas;

    fixture.clock.advance(1);
    const { record } = await cycle;
    removeFault();
    await fixture.pass(5);

    expect(before).toBe(5);
    expect(record.outcome.kind).toBe('patched');
    expect(fixture.pods()).toHaveLength(3);
    expect(fixture.annotations()).toEqual({});
    expect(fixture.warnings.map(({ facts }) => facts?.['error'])).toEqual([
      'the deletion costs were not set within 1000 ms',
    ]);
  });

  it('continues if the API server fails', async () => {
    const fixture = await start();
    const { ranking } = valued(fixture);
    fixture.simulator.faults.add({ verbs: ['patch'], resource: 'pods' }, { kind: 'refuse', status: 500 });

    const { record } = await fixture.cycle(3, { ranking });

    expect(record.outcome.kind).toBe('patched');
    expect(fixture.warnings).toHaveLength(1);
  });
});

describe('a cost that promscaler set on a pod that was not removed', () => {
  /** Sets the costs, and then the change of replicas fails. */
  async function interrupted(): Promise<CostFixture> {
    const fixture = await start();
    const { ranking } = valued(fixture);
    const removeFault = fixture.simulator.faults.add(
      { verbs: ['patch'], resource: 'deployments' },
      { kind: 'refuse', status: 500 },
    );
    await fixture.cycle(3, { ranking });
    removeFault();
    await fixture.watched();
    expect(Object.keys(fixture.annotations())).toHaveLength(2);
    return fixture;
  }

  it('is removed in the next cycle that does not scale down', async () => {
    const fixture = await interrupted();

    await fixture.cycle(5);

    expect(fixture.annotations()).toEqual({});
    expect(fixture.pods()).toHaveLength(5);
  });

  it('is removed with a scale-up', async () => {
    const fixture = await interrupted();

    const { record } = await fixture.cycle(7);

    expect(record.outcome.to).toBe(7);
    expect(fixture.annotations()).toEqual({});
  });

  it('is removed by another process after a crash, also if the document no longer ranks pods', async () => {
    const fixture = await interrupted();
    fixture.crash();

    await fixture.cycle(5, { spec: {} });

    expect(fixture.annotations()).toEqual({});
  });

  it('is changed by the next scale-down if that removes other pods', async () => {
    const fixture = await interrupted();
    const [last = ''] = valued(fixture).order.slice(-1);

    await fixture.cycle(4, {
      ranking: rankingOf(Object.fromEntries(fixture.pods().map((pod) => [pod, pod === last ? 0 : 1]))),
    });

    expect(fixture.annotations()).toEqual({ [last]: { [COST]: '-1', [OWN]: '-1' } });
  });

  it('stays while there are more pods than the Deployment wants: they are still to be removed', async () => {
    const fixture = await start();
    const { ranking } = valued(fixture);
    await fixture.cycle(3, { ranking });
    await fixture.watched();

    await fixture.cycle(3);

    expect(Object.keys(fixture.annotations())).toHaveLength(2);
  });

  it('stays if a user has changed it', async () => {
    const fixture = await interrupted();
    const [first = ''] = Object.keys(fixture.annotations());
    await fixture.annotate(first, { [COST]: '-50' });

    await fixture.cycle(5);

    expect(fixture.annotations()).toEqual({ [first]: { [COST]: '-50', [OWN]: expect.any(String) } });
  });

  it('stays in a dry run, which writes nothing', async () => {
    const fixture = await interrupted();
    const before = fixture.podPatches();

    await fixture.cycle(5, { spec: { ...RANKED, dryRun: true } });

    expect(fixture.podPatches()).toBe(before);
  });
});

describe('no pod is ever written to', () => {
  it.each([
    ['without the field', { spec: {} }],
    ['with an empty one', { spec: { podDeletionCost: {} } }],
    ['in a dry run', { spec: { ...RANKED, dryRun: true } }],
    ['if the scaler was removed meanwhile', { input: { isCurrent: () => false } }],
    ['with another document on the same target', { input: { sharesTargetWith: SECOND_SCALER } }],
  ])('%s', async (_, options) => {
    const fixture = await start();
    const { ranking } = valued(fixture);

    await fixture.cycle(3, { ranking, ...options });
    await fixture.pass(5);
    await fixture.cycle(4, { ranking, ...options });

    expect(fixture.podPatches()).toBe(0);
  });

  it('by a scale-up, a scale-down to 0 or a decision that changes nothing', async () => {
    const fixture = await start();
    const { ranking } = valued(fixture);

    await fixture.cycle(5, { ranking });
    await fixture.cycle(6, { ranking });
    await fixture.cycle(0, { ranking, spec: { ...RANKED, minReplicas: 0 } });

    expect(fixture.podPatches()).toBe(0);
  });
});
