import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { connectTo } from '../../src/kubernetes/access/connection.js';
import { SILENT_LOG, type Facts } from '../../src/units/log.js';
import { createTransport, type Transport } from '../../src/kubernetes/requests/transport.js';
import {
  patchScalerStatus,
  createScalerStore,
  type ScalerStore,
  createScalerWatch,
  type ScalerWatch,
} from '../../src/kubernetes/scaler-objects.js';
import { startSimulator, type Simulator } from '../../src/simulator/simulator.js';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { send } from '../simulator/cluster.js';
import { eventually, ManualClock } from '../support/manual-clock.js';
import { scalerDefinition } from '../support/scaler-definition.js';

const WEB = '/apis/promscaler.dev/v1/namespaces/shop/scalers/web';
const MANIFEST = {
  apiVersion: 'promscaler.dev/v1',
  kind: 'Scaler',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { maxReplicas: 3 },
};

let simulator: Simulator;
let clock: ManualClock;
let store: ScalerStore;
let transport: Transport;
let warnings: Readonly<Record<string, unknown>>[];
let stop: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  simulator = await startSimulator({ clock: SYSTEM_CLOCK, namespaces: ['shop'] });
  clock = new ManualClock();
  store = createScalerStore([]);
  transport = createTransport({ connection: connectTo(simulator.url), clock });
  warnings = [];
  stop = new AbortController();
  running = Promise.resolve();
});

afterEach(async () => {
  stop.abort();
  await running;
  transport.close();
  await simulator.close();
});

function start(): ScalerWatch {
  const log = { ...SILENT_LOG, warn: (_message: string, facts: Facts = {}) => void warnings.push(facts) };
  const watch = createScalerWatch({ store, transport, clock, log });
  running = watch.run(stop.signal);
  return watch;
}

const specs = (): readonly string[] => [...store.list()].map(({ specText }) => specText);

describe('createScalerWatch', () => {
  it('reports existing objects, and added, changed and deleted ones', async () => {
    simulator.addObject(scalerDefinition());
    simulator.addObject(MANIFEST);
    const watch = start();
    await eventually(() => specs().length === 1, 'the list');
    expect(watch.isSettled()).toBe(true);

    await send(simulator, 'PATCH', WEB, { body: { spec: { maxReplicas: 4 } } });
    await eventually(() => specs()[0] === '{"maxReplicas":4}', 'the change');
    await send(simulator, 'DELETE', WEB);
    await eventually(() => specs().length === 0, 'the end');
  });

  it.each([
    [404, 'crd.enabled: true', 0],
    [403, 'rbac.create: true', 15_000],
  ])('at %d logs the fix once, retries after 30 s, and continues', async (status, fix, believedMs) => {
    simulator.addObject(scalerDefinition());
    simulator.addObject(MANIFEST);
    const heal = simulator.faults.add({ resource: 'scalers' }, { kind: 'refuse', status });
    const watch = start();
    await eventually(() => {
      if (warnings.length === 0) clock.advance(100);
      return warnings.length === 1 && clock.pending > 0;
    }, 'the warning');
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(believedMs);
    expect(warnings[0]?.['fix']).toContain(fix);
    expect([watch.isSettled(), store.isComplete()]).toEqual([true, false]);
    await clock.advanceAndSettle(30_000);
    await eventually(() => simulator.requests().length >= 2, 'the second attempt');

    heal();
    await eventually(() => {
      clock.advance(10_000);
      return specs().length === 1;
    }, 'the list');

    expect(warnings).toHaveLength(1);
  });

  it('keeps the last known objects while the server rejects the watch', async () => {
    simulator.addObject(scalerDefinition());
    simulator.addObject(MANIFEST);
    start();
    await eventually(() => specs().length === 1, 'the list');

    simulator.faults.add({ resource: 'scalers' }, { kind: 'refuse', status: 404 });
    simulator.watches.close({});
    await eventually(() => {
      // The first watch may have ended too soon, and the next one then starts later.
      clock.advance(100);
      return warnings.length > 0;
    }, 'the warning');

    expect(specs()).toHaveLength(1);
  });
});

describe('patchScalerStatus', () => {
  it('writes the status to the object version it was read from, and is rejected for another version', async () => {
    simulator.addObject(scalerDefinition());
    simulator.addObject(MANIFEST);
    start();
    await eventually(() => specs().length === 1, 'the list');
    const seen = store.get('shop', 'web');
    if (seen === null) throw new Error('the object was not seen');
    const write = (object: typeof seen, status: Readonly<Record<string, unknown>>) =>
      patchScalerStatus(transport, { object, status }, stop.signal);

    const written = await write(seen, { observedGeneration: 1, currentReplicas: 2 });
    const next = await write(written, { currentReplicas: null });

    expect(written).toMatchObject({ uid: seen.uid, generation: 1, status: { currentReplicas: 2 } });
    expect(next.status).toEqual({ observedGeneration: 1 });
    await expect(write(seen, {})).rejects.toMatchObject({ kind: 'conflict' });
    await expect(write({ ...next, uid: 'other' }, {})).rejects.toMatchObject({ kind: 'conflict' });
    await expect(write({ ...next, name: 'gone' }, {})).rejects.toMatchObject({ kind: 'not_found' });
  });
});
