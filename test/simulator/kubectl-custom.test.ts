import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import type { JsonObject } from '../../src/simulator/kinds/json.js';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { type KubectlResult, kubectlFile, runKubectl } from '../support/kubectl.js';
import { send } from './cluster.js';
import { FLEETS, fleet, fleetDefinition } from './validation/fleet.js';

jest.setTimeout(300_000);

/** Real kubectl is the reference for custom resources, too. */
describe('kubectl with a custom resource of the simulator', () => {
  let simulator: Simulator;
  let home: string;

  beforeAll(async () => {
    await kubectlFile();
    home = mkdtempSync(join(tmpdir(), 'kubectl-'));
    simulator = await startSimulator({ clock: SYSTEM_CLOCK, namespaces: ['shop'] });
    const config = simulator.kubeconfig({ namespace: 'shop', isForKubectl: true });
    writeFileSync(join(home, 'config'), config);
    await kubectl('apply -f -', fleetDefinition());
    await kubectl('wait --for=condition=Established crd/fleets.example.com --timeout=10s');
  });

  afterAll(async () => {
    await simulator.close();
    rmSync(home, { recursive: true, force: true });
  });

  const kubectl = (line: string, input?: JsonObject): Promise<KubectlResult> =>
    runKubectl(line.split(' '), {
      kubeconfig: join(home, 'config'),
      home,
      ...(input === undefined ? {} : { input: JSON.stringify(input) }),
    });

  const setStatus = (status: JsonObject): Promise<unknown> =>
    send(simulator, 'PATCH', `${FLEETS}/home/status`, { body: { status } });

  it('applies the definition again, unchanged and changed', async () => {
    const again = await kubectl('apply -f -', fleetDefinition());
    const names = {
      plural: 'fleets',
      singular: 'fleet',
      kind: 'Fleet',
      listKind: 'FleetList',
      shortNames: ['flt'],
    };
    const changed = await kubectl('apply -f -', fleetDefinition({ spec: { names } }));

    expect([again.stderr, changed.stderr]).toEqual(['', '']);
    expect(again.stdout).toBe('customresourcedefinition.apiextensions.k8s.io/fleets.example.com unchanged\n');
    expect(changed.stdout).toBe(
      'customresourcedefinition.apiextensions.k8s.io/fleets.example.com configured\n',
    );
  });

  it('applies, applies a change, gets, waits, describes, explains and deletes', async () => {
    const created = await kubectl('apply -f -', fleet({ size: 2, color: 'red' }));
    const same = await kubectl('apply -f -', fleet({ size: 2, color: 'red' }));
    const changed = await kubectl('apply -f -', fleet({ size: 3 }));
    const waiting = kubectl('wait --for=condition=Ready fleet/home --timeout=15s');
    await setStatus({ ready: 3, conditions: [{ type: 'Ready', status: 'True' }] });
    const { stdout: waited } = await waiting;
    const { stdout: table } = await kubectl('get fleets');
    const { stdout: described } = await kubectl('describe fleet home');
    const { stdout: explained } = await kubectl('explain fleet.spec.size');
    const deleted = await kubectl('delete fleet home');

    expect([created.stdout, same.stdout, changed.stdout]).toEqual([
      'fleet.example.com/home created\n',
      'fleet.example.com/home unchanged\n',
      'fleet.example.com/home configured\n',
    ]);
    expect(waited).toBe('fleet.example.com/home condition met\n');
    expect(table).toMatch(/^NAME +SIZE +READY +AGE\nhome +3 +True +\d+s\n$/);
    expect(described).toMatch(/Spec:\n +Size: +3\n/);
    expect(described).toMatch(/Status: +True\n +Type: +Ready\n/);
    expect(explained).toContain('How many ships.');
    expect(deleted.stdout).toMatch(/^fleet\.example\.com "home" deleted( from shop namespace)?\n$/);
    expect(simulator.getObject('example.com/fleets', 'shop', 'home')).toBeNull();
  });

  it('prints the diff of an apply, and changes nothing', async () => {
    await kubectl('apply -f -', fleet({ size: 2 }));
    const diff = await kubectl('diff -f -', fleet({ size: 3 }));
    const dry = await kubectl('apply --dry-run=server -f -', fleet({ size: 3 }));
    const deleted = await kubectl('delete --dry-run=server fleet home');

    expect(diff.code).toBe(1);
    expect(diff.stdout).toMatch(/\n- +size: 2\n\+ +size: 3\n/);
    expect(dry.stdout).toBe('fleet.example.com/home configured (server dry run)\n');
    expect(deleted.code).toBe(0);
    expect(simulator.getObject('example.com/fleets', 'shop', 'home')).toMatchObject({ spec: { size: 2 } });
  });

  it('reports a field that the schema does not have, and a value that it does not allow', async () => {
    const unknown = await kubectl('apply -f -', fleet({ size: 2, sise: 2 }));
    const large = await kubectl('apply -f -', fleet({ size: 10 }));

    expect([unknown.code, large.code]).toEqual([1, 1]);
    expect(unknown.stderr).toContain('strict decoding error: unknown field "spec.sise"');
    expect(large.stderr).toContain('spec.size in body should be less than or equal to 9');
  });
});
