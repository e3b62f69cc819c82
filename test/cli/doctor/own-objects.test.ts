import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { CheckName, CheckResult } from '../../../src/cli/checks/check-result.js';
import { demoStateMaps } from '../../../src/cli/demo/workloads.js';
import { configMapName } from '../../../src/kubernetes/state/state-key.js';
import { permissionsBy } from '../../../src/service/permissions.js';
import type { Rule } from '../../../src/simulator/api/requests/rules.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { rulesFor } from '../../support/permission-rules.js';
import { cluster, document, type Diagnosis, diagnosed, prometheus } from './fixture.js';

const ON = 'leaderElection: { enabled: true }\nstate: { enabled: true }\n';
const LEASE = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
const NAMES = Array.from({ length: 16 }, (_, bucket) => configMapName(bucket));

const ELECTION = rulesFor(permissionsBy(['leaderElection.enabled']));
const KEEP = rulesFor(permissionsBy(['state.enabled']));

let url: string;
let simulator: Simulator;

beforeAll(async () => {
  ({ url } = await prometheus([]));
});

beforeEach(async () => {
  simulator = await cluster({ workloads: [{ namespace: 'shop', name: 'web', replicas: 1 }] });
});

function addStates(
  names = NAMES,
  data: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
): void {
  for (const manifest of demoStateMaps('default')) {
    const { name } = manifest.metadata;
    if (names.includes(name)) simulator.addObject({ ...manifest, data: data[name] ?? {} });
  }
}

/** Runs the doctor as an account with these rules in the namespace `default` only. */
function diagnose(rules: readonly Rule[] = [...ELECTION, ...KEEP], config = ON): Promise<Diagnosis> {
  const own = rules.map((rule) => ({ ...rule, namespaces: ['default'] }));
  simulator.setRbac({ secret: { user: 'promscaler', rules: own } });
  const kubernetes = `${simulator.url}/as/secret`;
  return diagnosed({ prometheus: url, kubernetes, config, documents: { web: document('web') } });
}

function resultsOf({ results }: Diagnosis, check: CheckName): readonly CheckResult[] {
  return results.filter((one) => one.check === check);
}

describe('lease', () => {
  it('succeeds if the Lease does not exist and can be created', async () => {
    expect(resultsOf(await diagnose(), 'lease')).toMatchObject([
      { status: 'ok', message: 'Lease default/promscaler does not exist yet' },
    ]);
    expect(simulator.getObject('coordination.k8s.io/leases', 'default', 'promscaler')).toBeNull();
  });

  it('succeeds if the Lease exists, also without create, and prints its holder', async () => {
    const metadata = { name: 'promscaler', namespace: 'default' };
    const spec = { holderIdentity: 'pod-7', renewTime: '2026-01-01T00:00:00.000000Z' };
    simulator.addObject({ ...LEASE, metadata, spec });

    expect(resultsOf(await diagnose([...ELECTION.slice(1), ...KEEP]), 'lease')).toMatchObject([
      {
        status: 'ok',
        message: 'Lease default/promscaler is held by pod-7, renewed 2026-01-01T00:00:00.000000Z',
      },
    ]);
  });

  it('fails if the Lease does not exist and cannot be created', async () => {
    expect(resultsOf(await diagnose([...ELECTION.slice(1), ...KEEP]), 'lease')).toMatchObject([
      {
        status: 'failed',
        message:
          'the account cannot create leases.coordination.k8s.io in namespace default: no replica can become leader, and nothing is scaled',
        fix: expect.stringContaining('leaderElection.enabled: true'),
      },
    ]);
  });

  it.each([
    ['get', 'leases.coordination.k8s.io'],
    ['update', 'update leases.coordination.k8s.io promscaler in namespace default'],
  ])('fails without %s', async (verb, words) => {
    const less = ELECTION.map((rule) => ({ ...rule, verbs: rule.verbs.filter((one) => one !== verb) }));

    const [found, ...others] = resultsOf(await diagnose([...less, ...KEEP]), 'lease');

    expect(others).toEqual([]);
    expect(found?.status).toBe('failed');
    expect(found?.message).toContain(words);
    expect(found?.fix).toContain('rbac.create: true');
  });
});

describe('state', () => {
  it('succeeds with all 16 ConfigMaps and the rules of the chart', async () => {
    addStates();

    expect(resultsOf(await diagnose(), 'state')).toMatchObject([
      { status: 'ok', message: 'the state is in 16 ConfigMaps in namespace default' },
    ]);
  });

  it('fails once if no ConfigMap exists, with the command that creates them', async () => {
    const [found, ...others] = resultsOf(await diagnose(), 'state');

    expect(others).toEqual([]);
    expect(found?.message).toContain('has no ConfigMap promscaler-state-00, ');
    expect(found?.message).toContain('and 11 more');
    expect(found?.fix).toContain(
      'for i in $(seq -w 0 15); do kubectl create configmap promscaler-state-$i -n default; done',
    );
  });

  it('names the two missing ConfigMaps', async () => {
    addStates(NAMES.filter((name) => !/0[39]$/.test(name)));

    expect(resultsOf(await diagnose(), 'state')).toMatchObject([
      {
        status: 'failed',
        message:
          'namespace default has no ConfigMap promscaler-state-03, promscaler-state-09: the scalers whose state is stored there can scale up but not down',
        fix: expect.stringContaining('for i in 03 09; do kubectl create'),
      },
    ]);
  });

  it('fails for an entry that its scaler cannot use, and warns about one without a scaler', async () => {
    addStates(NAMES, {
      'promscaler-state-00': { 'shop.web': '{"v":99,"epoch":"x","uid":"u"}' },
      'promscaler-state-05': { 'shop.gone': 'edited' },
      'promscaler-state-06': { 'shop.well': '{"v":1,"epoch":"x","uid":"u"}' },
    });

    const found = resultsOf(await diagnose(), 'state');

    expect(found.map(({ status }) => status)).toEqual(['failed', 'warning']);
    expect(found[0]?.message).toContain(
      'the entry shop.web of ConfigMap promscaler-state-00 is invalid: its schema version is 99',
    );
    expect(found[0]?.fix).toBe(
      `kubectl patch -n default configmap promscaler-state-00 --type=merge -p '{"data":{"shop.web":null}}' removes the entry, and the windows of shop/web restart`,
    );
    expect(found[1]?.message).toContain('the entry shop.gone of ConfigMap promscaler-state-05');
  });
});

describe('lease, with sharding', () => {
  const SHARDED = 'sharding: { enabled: true }\n';
  const share = rulesFor(permissionsBy(['sharding.enabled']));
  const diagnoseShares = async (): Promise<readonly CheckResult[]> =>
    resultsOf(await diagnose([...share, ...KEEP], SHARDED), 'lease');

  function addMember(name: string, holderIdentity: string, buckets: string): void {
    const labels = { 'promscaler.dev/member-of': 'promscaler' };
    const annotations = { 'promscaler.dev/buckets': buckets };
    const metadata = { name, namespace: 'default', labels, annotations };
    simulator.addObject({ ...LEASE, metadata, spec: { holderIdentity } });
  }

  it('succeeds with all permissions, and reports how many replicas claim how many buckets', async () => {
    addMember('promscaler-a', 'pod-a_a', '0,1,2');
    addMember('promscaler-b', 'pod-b_b', '3');
    addMember('promscaler-c', '', '');

    expect(await diagnoseShares()).toMatchObject([
      { status: 'ok', message: 'in namespace default, 2 replicas claim 4 of 16 buckets' },
    ]);
  });

  it('warns while a replica without sharding holds the Lease of leader election', async () => {
    const metadata = { name: 'promscaler', namespace: 'default' };
    simulator.addObject({ ...LEASE, metadata, spec: { holderIdentity: 'pod-7_x' } });

    const found = await diagnoseShares();

    expect(found.map(({ status }) => status)).toEqual(['ok', 'warning']);
    expect(found[1]?.message).toContain('is held by pod-7_x, a replica without sharding');
  });
});

describe('lease and state', () => {
  it.each(['', 'leaderElection: { enabled: false }\nstate: { enabled: false }\n'])(
    'are neither checked nor reported with the config "%s"',
    async (config) => {
      const report = await diagnose([], config);

      expect([...resultsOf(report, 'lease'), ...resultsOf(report, 'state')]).toEqual([]);
      const asked = simulator.requests().map(({ resource }) => resource);
      expect(asked).not.toContain('leases');
      expect(asked).not.toContain('configmaps');
    },
  );
});
