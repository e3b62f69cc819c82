import { describe, expect, it } from '@jest/globals';
import { stringAt } from '../../../../src/simulator/kinds/json.js';
import { eventually } from '../../../support/manual-clock.js';
import { DEPLOYMENTS, WEB, pass, send, startCluster, namesOfEvents, watch } from '../../cluster.js';

const CONFIG_MAPS = '/api/v1/namespaces/shop/configmaps';
const configMap = (name: string, labels: Record<string, string> = {}) => ({ metadata: { name, labels } });

async function shop() {
  return startCluster({ namespaces: ['shop'] });
}

describe('watching', () => {
  it('without a resourceVersion sends the existing objects first, then changes', async () => {
    const { simulator } = await shop();
    await send(simulator, 'POST', CONFIG_MAPS, { body: configMap('a') });

    const open = await watch(simulator, CONFIG_MAPS);
    await send(simulator, 'POST', CONFIG_MAPS, { body: configMap('b') });
    await send(simulator, 'PATCH', `${CONFIG_MAPS}/a`, { body: { data: { k: 'v' } } });
    await send(simulator, 'DELETE', `${CONFIG_MAPS}/b`);

    await eventually(() => open.events.length === 4);
    expect(namesOfEvents(open.events)).toEqual(['ADDED a', 'ADDED b', 'MODIFIED a', 'DELETED b']);
  });

  it('continues from a resourceVersion with the missed events', async () => {
    const { simulator } = await shop();
    const created = await send(simulator, 'POST', CONFIG_MAPS, { body: configMap('a') });
    await send(simulator, 'POST', CONFIG_MAPS, { body: configMap('b') });

    const version = stringAt(created.body, 'metadata', 'resourceVersion') ?? '';
    const open = await watch(simulator, CONFIG_MAPS, `resourceVersion=${version}`);

    await eventually(() => open.events.length === 1);
    expect(namesOfEvents(open.events)).toEqual(['ADDED b']);
  });

  it('sends an ERROR event with 410 and ends if the history is too short', async () => {
    const { simulator } = await shop();
    const created = await send(simulator, 'POST', CONFIG_MAPS, { body: configMap('a') });
    simulator.compact();

    const version = stringAt(created.body, 'metadata', 'resourceVersion') ?? '';
    const open = await watch(simulator, CONFIG_MAPS, `resourceVersion=${version}`);

    await eventually(open.hasEnded);
    expect(open.code).toBe(200);
    expect(namesOfEvents(open.events)).toEqual(['ERROR 410']);
  });

  it('drops history after 300 s, not after 299 s', async () => {
    const { simulator, clock } = await shop();
    const before = await send(simulator, 'GET', CONFIG_MAPS);
    const version = stringAt(before.body, 'metadata', 'resourceVersion') ?? '';
    await send(simulator, 'POST', CONFIG_MAPS, { body: configMap('a') });

    await pass(clock, 299);
    const early = await watch(simulator, CONFIG_MAPS, `resourceVersion=${version}`);
    await pass(clock, 2);
    const late = await watch(simulator, CONFIG_MAPS, `resourceVersion=${version}`);

    await eventually(() => early.events.length === 1 && late.events.length === 1);
    expect(namesOfEvents([...early.events, ...late.events])).toEqual(['ADDED a', 'ERROR 410']);
  });

  it('sends an object that starts or stops matching as added or deleted', async () => {
    const { simulator } = await shop();
    const open = await watch(simulator, CONFIG_MAPS, 'labelSelector=tier%3Dfront');

    await send(simulator, 'POST', CONFIG_MAPS, { body: configMap('a') });
    await send(simulator, 'PATCH', `${CONFIG_MAPS}/a`, { body: { metadata: { labels: { tier: 'front' } } } });
    await send(simulator, 'PATCH', `${CONFIG_MAPS}/a`, { body: { metadata: { labels: { tier: null } } } });

    await eventually(() => open.events.length === 2);
    expect(namesOfEvents(open.events)).toEqual(['ADDED a', 'DELETED a']);
  });

  it('sends a bookmark every 60 s if requested, with a version and no object', async () => {
    const { simulator, clock } = await shop();
    const open = await watch(simulator, CONFIG_MAPS, 'allowWatchBookmarks=true');
    const plain = await watch(simulator, CONFIG_MAPS);

    await pass(clock, 59);
    expect(open.events).toEqual([]);
    await pass(clock, 1);
    await eventually(() => open.events.length === 1);

    expect(namesOfEvents(open.events)).toEqual(['BOOKMARK']);
    expect(open.events[0]).toMatchObject({ object: { kind: 'ConfigMap', apiVersion: 'v1' } });
    expect(plain.events).toEqual([]);
  });

  it('ends after timeoutSeconds', async () => {
    const { simulator, clock } = await shop();
    const open = await watch(simulator, CONFIG_MAPS, 'timeoutSeconds=10');

    await pass(clock, 9);
    expect(open.hasEnded()).toBe(false);
    await pass(clock, 1);

    await eventually(open.hasEnded);
    expect(simulator.watches.count).toBe(0);
  });

  it('ends the initial state with an annotated bookmark if sendInitialEvents requests it', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });

    const open = await watch(
      simulator,
      DEPLOYMENTS,
      'sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan',
    );

    await eventually(() => open.events.length === 2);
    expect(namesOfEvents(open.events)).toEqual(['ADDED web', 'BOOKMARK']);
    expect(stringAt(open.events[1], 'object', 'metadata', 'annotations', 'k8s.io/initial-events-end')).toBe(
      'true',
    );
  });
});
