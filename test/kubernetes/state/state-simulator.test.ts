import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { demoStateMaps } from '../../../src/cli/demo/workloads.js';
import { connectTo } from '../../../src/kubernetes/access/connection.js';
import { SILENT_LOG } from '../../../src/units/log.js';
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

  it('names the ConfigMap that is missing in another namespace', async () => {
    const reading = await open('1/a', 'default').read(WEB);

    expect(reading).toMatchObject({ kind: 'unusable' });
    expect(reading).toHaveProperty(
      'message',
      expect.stringContaining(`ConfigMap ${WEB_MAP} does not exist in namespace default`),
    );
  });
});
