import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CheckName, CheckResult } from '../../../src/cli/checks/check-result.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { permissionsBy } from '../../../src/service/permissions.js';
import type { Rule } from '../../../src/simulator/api/requests/rules.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { addSeconds } from '../../../src/units/time.js';
import { rulesFor } from '../../support/permission-rules.js';
import { folderOf, runCli } from '../fake-io.js';
import { cluster, document, diagnosed, prometheus, server } from './fixture.js';

let url: string;

beforeAll(async () => {
  ({ url } = await prometheus([]));
});

async function results(check: CheckName, kubernetes: string): Promise<readonly CheckResult[]> {
  return (await diagnosed({ prometheus: url, kubernetes })).of(check);
}

describe('cluster', () => {
  it('fails if nothing listens, and skips all dependent checks', async () => {
    const { of } = await diagnosed({ prometheus: url, documents: { web: document('web') } });

    expect(of('cluster')[0]?.message).toContain('ECONNREFUSED');
    expect(of('cluster')[0]?.fix).toContain('kubectl cluster-info');
    for (const check of ['cluster-clock', 'permissions', 'target', 'pods', 'requests', 'decision'] as const)
      expect(of(check)).toMatchObject([{ status: 'skipped' }]);
  });

  it('fails if the host is unknown, even if it is the name in a certificate', async () => {
    const [found] = await results('cluster', 'https://certificates.nowhere.invalid');

    expect(found?.fix).toContain('kubectl cluster-info');
  });

  it('fails if there is no configuration for it, and lists what was tried', async () => {
    const cwd = folderOf({ 'promscaler.yaml': `prometheus: { default: { urls: ['${url}'] } }` });

    const { exitCode, stdout } = await runCli(['doctor', '--config', 'promscaler.yaml'], {
      cwd,
      env: { HOME: cwd },
    });

    expect(exitCode).toBe(1);
    expect(stdout).toContain('no connection to the Kubernetes API');
    expect(stdout).toContain('fix: set KUBECONFIG=FILE');
  });

  it('fails if the credentials are rejected', async () => {
    const { url: kubernetes } = await cluster({ rbac: { secret: { user: 'ann', rules: [] } } });

    const [found] = await results('cluster', kubernetes);

    expect(found?.status).toBe('failed');
    expect(found?.message).toContain('401');
    expect(found?.fix).toContain('log in again');
  });

  it('fails if the address is not that of an API server', async () => {
    const { url: kubernetes } = await server((response) => response.end('<html>hello</html>'));

    const [found] = await results('cluster', kubernetes);

    expect(found?.message).toContain('the response is not valid JSON');
    expect(found?.fix).toContain('the server at this address is not an API server');
  });

  it('warns about a version before autoscaling/v2', async () => {
    const { url: kubernetes } = await server((response) =>
      response.end(
        '{"kind":"Status","major":"1","minor":"19+","gitVersion":"v1.19.0","status":{"allowed":true}}',
      ),
    );

    const [found] = await results('cluster', kubernetes);

    expect(found).toMatchObject({
      status: 'warning',
      message: 'Kubernetes v1.19.0 is older than 1.23, the first version with autoscaling/v2',
    });
  });
});

describe('cluster-clock', () => {
  it.each([
    [4, []],
    [20, ['warning']],
    [45, ['failed']],
  ])('with the local clock %d s ahead', async (seconds, statuses) => {
    const { url: kubernetes } = await cluster({});
    const clock = { ...SYSTEM_CLOCK, now: () => addSeconds(SYSTEM_CLOCK.now(), seconds) };

    const { of } = await diagnosed({ prometheus: url, kubernetes, clock });

    expect(of('cluster-clock').map(({ status }) => status)).toEqual(statuses);
  });
});

const ROLE = rulesFor(permissionsBy(['rbac.create', 'targets'], [{ group: 'apps', plural: 'deployments' }]));

describe('permissions', () => {
  let simulator: Simulator;

  beforeAll(async () => {
    simulator = await cluster({
      workloads: [
        { namespace: 'shop', name: 'web', replicas: 1 },
        { kind: 'Rollout', namespace: 'shop', name: 'canary', replicas: 1 },
      ],
    });
  });

  async function withRules(
    rules: readonly Rule[],
    { documents = { web: document('web') }, namespaces = '[]' } = {},
  ): Promise<Awaited<ReturnType<typeof diagnosed>>> {
    simulator.setRbac({ secret: { user: 'promscaler', rules } });
    // Over plain http no token is sent: the simulator takes it from the path.
    const kubernetes = `${simulator.url}/as/secret`;
    return diagnosed({ prometheus: url, kubernetes, documents, namespaces });
  }

  it('succeeds with exactly the rules of the chart', async () => {
    expect((await withRules(ROLE)).of('permissions')).toEqual([]);
  });

  it('fails for a kind that the chart value targets does not contain, with the value to set', async () => {
    const canary = '  scaleTargetRef: { apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: canary }\n';

    const { of } = await withRules(ROLE, { documents: { web: document('canary', canary) } });

    expect(of('permissions')).toMatchObject([
      {
        status: 'failed',
        message:
          'the account cannot get rollouts.argoproj.io/scale in all namespaces, patch rollouts.argoproj.io/scale in all namespaces: rollouts cannot be read, rollouts cannot be scaled',
        fix: 'set the chart value targets: [deployments, statefulsets, replicasets, rollouts.argoproj.io]',
      },
    ]);
    expect(of('target')).toMatchObject([{ status: 'failed' }]);
    expect(of('target')[0]?.message).toContain('cannot get resource "rollouts/scale"');
    expect(of('target')[0]?.fix).toContain('rollouts.argoproj.io');
  });

  it('fails without pods, which means that the whole role is missing, as one result', async () => {
    const { of } = await withRules([]);

    expect(of('permissions')).toHaveLength(1);
    expect(of('permissions')[0]?.fix).toContain('rbac.create: true and namespaces: []');
  });

  it('requires patch on pods if a document ranks them, and only warns without it', async () => {
    const documents = { web: `${document('web')}\n  podDeletionCost: { query: sum by (pod) (x) }\n` };
    const patch = { apiGroups: [''], resources: ['pods'], verbs: ['patch'] };

    const without = await withRules(ROLE, { documents });
    const withIt = await withRules([...ROLE, patch], { documents });

    expect(without.of('permissions')).toMatchObject([
      { status: 'warning', fix: 'set the chart values rbac.create: true and podDeletionCost.enabled: true' },
    ]);
    expect(withIt.of('permissions')).toEqual([]);
  });

  it('checks only the namespaces of the config, if set', async () => {
    const inShop = ROLE.map((rule) => ({ ...rule, namespaces: ['shop'] }));

    const one = await withRules(inShop, { namespaces: '[shop]' });
    const two = await withRules(inShop, { namespaces: '[shop, back]' });

    expect(one.of('permissions')).toEqual([]);
    expect(two.of('permissions')).toMatchObject([{ status: 'failed' }]);
    expect(two.of('permissions')[0]?.fix).toContain('namespaces: [..., back]');
  });

  it('changes nothing in the cluster', async () => {
    await withRules(ROLE);

    const methods = simulator.requests().filter(({ path }) => !path.includes('reviews'));
    expect(new Set(methods.map(({ method }) => method))).toEqual(new Set(['GET']));
  });
});
