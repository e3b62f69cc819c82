import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ownNamespace } from '../../../src/service/own-objects.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { startSimulator } from '../../../src/simulator/simulator.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { fastClock } from '../../support/fast-clock.js';
import { eventually } from '../../support/manual-clock.js';
import { type StartedRun, startRun } from './start-run.js';

const IN_CLUSTER = {
  KUBERNETES_SERVICE_HOST: '10.0.0.1',
  POD_NAMESPACE: 'monitoring',
  POD_NAME: 'promscaler-0',
};

let simulator: Simulator;

beforeEach(async () => {
  simulator = await startSimulator({ clock: SYSTEM_CLOCK, namespaces: ['monitoring'] });
});

afterEach(() => simulator.close());

/** Starts `run` without documents, by default on the simulated cluster. */
function start(config = '', env: Readonly<Record<string, string>> = {}, url = simulator.url): StartedRun {
  const own = `kubernetes: { url: '${url}' }\nserver: { port: 0 }\n${config}`;
  return startRun({ 'promscaler.yaml': own, 'scalers/none.yaml': '' }, env, fastClock(20));
}

const leaseRequests = (): readonly string[] =>
  simulator
    .requests()
    .filter(({ resource }) => resource === 'leases')
    .map(({ verb, namespace }) => `${verb ?? ''} ${namespace ?? ''}`);

const lease = (): unknown => {
  const object = simulator.getObject('coordination.k8s.io/leases', 'monitoring', 'promscaler');
  return (object?.['spec'] as { holderIdentity?: string } | undefined)?.holderIdentity;
};

describe('run, with default leader election', () => {
  it('elects in a cluster: it creates the Lease of its namespace, and releases it at the end', async () => {
    const service = start('', IN_CLUSTER);
    await eventually(() => service.written.stderr.includes('"leading"'), 'leading');

    expect(lease()).toMatch(/^promscaler-0_[0-9a-f-]{36}$/);
    expect((await service.stop()).exitCode).toBe(0);
    expect(lease()).toBe('');
    expect(leaseRequests()).toEqual(['get monitoring', 'create monitoring', 'update monitoring']);
  });

  it('does not elect outside a cluster: it leads without a Lease', async () => {
    const service = start();
    await eventually(() => service.written.stderr.includes('"started"'), 'started');

    const page = await (await fetch(`${service.url()}/metrics`)).text();

    expect(page).toContain('\npromscaler_leader 1\n');
    await service.stop();
    expect(leaseRequests()).toEqual([]);
  });
});

describe('run, with leaderElection.enabled', () => {
  it('false does not elect in a cluster, either', async () => {
    const service = start('leaderElection: { enabled: false }', IN_CLUSTER);
    await eventually(() => service.written.stderr.includes('"started"'), 'started');

    await service.stop();
    expect(leaseRequests()).toEqual([]);
  });

  it.each([
    [
      'get',
      'verb get on leases (coordination.k8s.io) named promscaler in namespace monitoring is not allowed',
    ],
    ['create', 'there is no Lease promscaler in namespace monitoring, and verb create on leases'],
  ] as const)('true exits with 1 and an explanation if the server forbids to %s', async (verb, sentence) => {
    simulator.faults.add({ resource: 'leases', verbs: [verb] }, { kind: 'refuse', status: 403 });

    const { exitCode, stderr } = await start('leaderElection: { enabled: true }', IN_CLUSTER).ended;

    expect(exitCode).toBe(1);
    expect(stderr).toContain(`promscaler: leader election is not possible: ${sentence}`);
    expect(stderr).toContain(
      'Set the chart value rbac.create: true to grant the permission; or, if only one',
    );
    expect(stderr).toContain('leaderElection.enabled: false');
  });

  it('true is a live standby while the API server cannot be reached', async () => {
    const service = start('leaderElection: { enabled: true }', {}, 'http://127.0.0.1:9');
    await eventually(() => service.written.stderr.includes('failed to acquire Lease'), 'standing by');

    const page = await (await fetch(`${service.url()}/metrics`)).text();

    expect(page).toContain('\npromscaler_leader 0\n');
    expect((await fetch(`${service.url()}/healthz`)).status).toBe(200);
    expect((await service.stop()).exitCode).toBe(0);
  });
});

describe('the namespace of the service itself', () => {
  it.each([
    [{ POD_NAMESPACE: 'monitoring' }, { namespace: 'shop' }, 'monitoring'],
    [{ POD_NAMESPACE: '' }, { namespace: 'shop' }, 'shop'],
    [{}, { namespace: 'shop' }, 'shop'],
    [{}, {}, 'default'],
  ])('is with %j and the connection %j: %s', (env, connection, expected) => {
    expect(ownNamespace(env, connection)).toBe(expected);
  });
});
