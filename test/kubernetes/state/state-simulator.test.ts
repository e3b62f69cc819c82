import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { demoStateMaps } from '../../../src/cli/demo/workloads.js';
import { connectTo } from '../../../src/kubernetes/access/connection.js';
import { SILENT_LOG } from '../../../src/units/log.js';
import { parseInstant, secondsBetween } from '../../../src/units/time.js';
import { type StoredState, writeEntry } from '../../../src/kubernetes/state/state-entry.js';
import { createStateStore } from '../../../src/kubernetes/state/state-store.js';
import type { StateStore } from '../../../src/kubernetes/state/state-store.js';
import { createTransport } from '../../../src/kubernetes/requests/transport.js';
import type { Transport } from '../../../src/kubernetes/requests/transport.js';
import { startSimulator } from '../../../src/simulator/simulator.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { at } from '../../control/fixture.js';
import { ManualClock } from '../../support/manual-clock.js';
import { stateOf, WEB, WEB_KEY, WEB_MAP } from './state-fixture.js';

const NAMESPACE = 'promscaler';
const EPOCH = '0/vm_acd7ffd9-2e35-4f9a-a66a-efe1c378a5c3';

/** Data of the ConfigMap promscaler-state-10 in the demo of 0.1.0, between an intent and its result. */
const RECORDED = {
  'shop.search':
    `{"v":1,"epoch":"${EPOCH}","uid":"d6cc79e3-b84c-4a5f-a733-570f373959c8",` +
    '"lastScaleUp":"2026-11-30T03:13:00.784Z","lastScaleDown":"2026-11-30T03:13:56.646Z",' +
    '"scaleEvents":[["2026-11-30T03:13:52.637Z",-1],["2026-11-30T03:13:56.646Z",-1]],' +
    `"intent":{"epoch":"${EPOCH}","from":6,"to":4,"resourceVersion":"349","generation":9,` +
    '"at":"2026-11-30T03:14:02.600Z"}}',
};

const instant = (text: string) => parseInstant(text)!;

describe('the state store on a Kubernetes API over HTTP', () => {
  const clock = new ManualClock();
  let simulator: Simulator;
  const transports: Transport[] = [];

  beforeEach(async () => {
    simulator = await startSimulator({ clock });
    for (const manifest of demoStateMaps(NAMESPACE)) simulator.addObject(manifest);
  });
  afterEach(async () => {
    for (const transport of transports.splice(0)) transport.close();
    await simulator.close();
  });

  function open(epoch: string, namespace = NAMESPACE): StateStore {
    const transport = createTransport({ connection: connectTo(simulator.url), clock });
    transports.push(transport);
    const leadership = { epoch: () => epoch, whyNoWrites: () => null };
    return createStateStore({ transport, namespace, clock, log: SILENT_LOG, leadership });
  }

  it('writes state that another process reads', async () => {
    const first = open('1/a');
    await first.reload();
    expect(await first.read(WEB)).toEqual({ kind: 'none', text: null, since: at(0) });

    await first.put({ scaler: WEB, base: null, state: stateOf({ lastScaleUp: at(7) }) });

    expect(await open('2/b').read(WEB)).toMatchObject({
      kind: 'entry',
      entry: { epoch: '1/a', lastScaleUp: at(7) },
    });
    const stored = simulator.getObject('/configmaps', NAMESPACE, WEB_MAP);
    expect(Object.keys((stored?.['data'] ?? {}) as object)).toEqual([WEB_KEY]);
  });

  it('lets only one of two writers that start from the same version succeed', async () => {
    const [first, second] = [open('1/a'), open('2/b')];
    await Promise.all([first.reload(), second.reload()]);

    const results = await Promise.all([
      first.put({ scaler: WEB, base: null, state: stateOf({ lastScaleUp: at(1) }) }),
      second.put({ scaler: WEB, base: null, state: stateOf({ lastScaleUp: at(2) }) }),
    ]);

    expect(results.map(({ kind }) => kind).sort()).toEqual(['refused', 'written']);
  });

  it('reads what promscaler 0.1.0 has written, and writes the same text', async () => {
    clock.jump(secondsBetween(clock.now(), instant('2026-11-30T03:14:03Z')));
    for (const manifest of demoStateMaps('recorded')) simulator.addObject({ ...manifest, data: RECORDED });

    const reading = await open('1/b', 'recorded').read({ namespace: 'shop', name: 'search' });

    const state: StoredState = {
      uid: 'd6cc79e3-b84c-4a5f-a733-570f373959c8',
      lastScaleUp: instant('2026-11-30T03:13:00.784Z'),
      lastScaleDown: instant('2026-11-30T03:13:56.646Z'),
      scaleEvents: [
        { at: instant('2026-11-30T03:13:52.637Z'), change: -1 },
        { at: instant('2026-11-30T03:13:56.646Z'), change: -1 },
      ],
      zeroedBySelf: false,
      failingSince: new Map(),
      intent: {
        epoch: EPOCH,
        from: 6,
        to: 4,
        earlier: [],
        resourceVersion: '349',
        generation: 9,
        at: instant('2026-11-30T03:14:02.600Z'),
      },
    };
    expect(reading).toMatchObject({ kind: 'entry', entry: { epoch: EPOCH, absentSince: null, ...state } });
    // 0.1.0 must be able to read it after a rollback.
    expect(writeEntry(EPOCH, state)).toBe(RECORDED['shop.search']);
  });

  it('names the ConfigMap that is missing in another namespace', async () => {
    const reading = await open('1/a', 'default').read(WEB);

    expect(reading).toMatchObject({ kind: 'unusable' });
    expect(reading).toHaveProperty(
      'message',
      expect.stringContaining(`ConfigMap ${WEB_MAP} does not exist in namespace default`),
    );
  });
});
