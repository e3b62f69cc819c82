import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import type { Subject } from '../../src/simulator/api/requests/rules.js';
import { startSimulator } from '../../src/simulator/simulator.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { addSeconds } from '../../src/units/time.js';
import { NEEDS } from './abilities.js';
import { openInnerRuns } from './inner-run.js';
import type { InnerRun, InnerRuns } from './inner-run.js';
import { E2E_TIMEOUT_MS, waitFor } from './waiting.js';
import { describeOnSimulator } from './fixture.js';

jest.setTimeout(E2E_TIMEOUT_MS);

/** Exactly the permissions in README.md of this directory. */
const TESTER: Subject = {
  user: 'tester',
  rules: [
    { apiGroups: [''], resources: ['namespaces'], verbs: ['create', 'get', 'list', 'delete'] },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: ['create', 'get', 'list', 'watch', 'delete'] },
    { apiGroups: ['apps'], resources: ['deployments/scale'], verbs: ['get', 'patch'] },
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    { apiGroups: [''], resources: ['events'], verbs: ['list'] },
    {
      apiGroups: ['autoscaling'],
      resources: ['horizontalpodautoscalers'],
      verbs: ['list', 'create', 'get', 'delete'],
    },
  ],
};

/** The simulator replaces any cluster: the run knows it only by a kubeconfig. */
describeOnSimulator('it is a run within a run', 'npm run test:e2e with a configured cluster', () => {
  let simulator: Simulator;
  let runs: InnerRuns;
  let ageSeconds = 0;

  beforeAll(async () => {
    const clock = { ...SYSTEM_CLOCK, now: () => addSeconds(SYSTEM_CLOCK.now(), -ageSeconds) };
    simulator = await startSimulator({ clock, namespaces: ['shop'], rbac: { tester: TESTER } });
    runs = await openInnerRuns(simulator, 'run');
  });

  afterAll(async () => {
    await simulator.close();
    await runs.close();
  });

  const start = (args: readonly string[]): InnerRun => runs.start(args);
  const leaveBehind = (name: string, seconds: number, labels: Readonly<Record<string, string>>): void => {
    ageSeconds = seconds;
    simulator.addObject({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
    ageSeconds = 0;
  };
  const namespaces = (): readonly string[] =>
    simulator.listObjects('/namespaces').map(({ metadata }) => metadata.name);
  const ofRun = { 'promscaler.dev/e2e': 'run' };

  it('removes its namespace on Ctrl-C during a test, exits with 130, and removes namespaces that are an hour old', async () => {
    leaveBehind('promscaler-e2e-old', 3660, ofRun);
    leaveBehind('promscaler-e2e-young', 3540, ofRun);
    leaveBehind('promscaler-e2e-foreign', 7200, {});
    leaveBehind('production', 7200, ofRun);
    const before = namespaces();
    const { child, output } = start(['documents']);
    const hasPods = (): boolean => simulator.listObjects('/pods').length > 0;
    await waitFor(() => (child.exitCode === null ? hasPods() : output()), { what: 'pods of a test' });
    const own = namespaces().filter((name) => !before.includes(name));

    child.kill('SIGINT');
    child.kill('SIGINT');
    await once(child, 'close');

    expect(own).toEqual([expect.stringMatching(/^promscaler-e2e-[0-9a-f]{8}$/)]);
    expect(output()).toContain(`namespace ${own[0] ?? ''} is gone`);
    expect(child.exitCode).toBe(130);
    expect(namespaces()).toEqual(before.filter((name) => name !== 'promscaler-e2e-old'));
    expect(simulator.listObjects('/pods')).toEqual([]);
    expect((await readdir(runs.folder)).filter((name) => name !== 'promscaler-e2e-jest')).toEqual([
      'kubeconfig',
    ]);
    const foreign = simulator
      .requests()
      .filter(({ namespace }) => namespace !== null && namespace !== own[0]);
    expect(foreign).toEqual([]);
    expect(simulator.requests().filter(({ code }) => code === 403)).toEqual([]);
  });

  it('removes its namespace after a failed test, and exits with 1; it needs no permission to list namespaces', async () => {
    const removals = [
      simulator.faults.add({ resource: 'deployments' }, { kind: 'refuse', status: 500 }),
      simulator.faults.add({ resource: 'namespaces', verbs: ['list'] }, { kind: 'refuse', status: 403 }),
    ];
    const before = namespaces();
    const { child, output } = start(['documents', '-t', 'rejects only an invalid one']);
    await once(child, 'close');
    for (const remove of removals) remove();

    expect(child.exitCode).toBe(1);
    expect(output()).toContain('namespaces of earlier runs are not looked for');
    expect(output()).toContain('deployments was answered with 500');
    expect(namespaces()).toEqual(before);
  });

  it('skips tests without permission in the kubeconfig, and prints which permission that is', async () => {
    const { child, output } = start(['shadow', 'restart', 'leadership', 'pause', 'custom-resources']);
    await once(child, 'close');

    for (const reason of Object.values(NEEDS)) expect(output()).toContain(`tests are skipped: ${reason}`);
    expect(output()).toMatch(/Tests: +8 skipped, 8 total/);
    expect(child.exitCode).toBe(0);
  });

  it('exits with 1 and the error of the cluster if it cannot create a namespace', async () => {
    const refuse = simulator.faults.add({ resource: 'namespaces' }, { kind: 'refuse', status: 403 });
    const { child, output } = start(['documents']);
    await once(child, 'close');
    refuse();

    expect(child.exitCode).toBe(1);
    expect(output()).toMatch(/kubectl create .* failed: .*simulated 403/);
    expect(output()).toContain('Remove it by hand: kubectl delete namespace promscaler-e2e-');
  });
});
