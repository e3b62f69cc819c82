import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { makeResource } from '../../src/simulator/objects/resources.js';
import { startSimulator } from '../../src/simulator/simulator.js';
import type { Simulator } from '../../src/simulator/simulator.js';
import { CHART, HELMS, HELM_TIMEOUT_MS, SHORT_LIVED, at, helmFile } from './helm.js';
import type { HelmResult, Values } from './helm.js';
import { startSecretGateway } from './secret-gateway.js';
import type { Gateway } from './secret-gateway.js';

jest.setTimeout(HELM_TIMEOUT_MS);

const RBAC = 'rbac.authorization.k8s.io';

/** The resources that the chart and helm need in addition to those of the simulator. */
const RESOURCES = [
  makeResource({ group: '', version: 'v1', plural: 'secrets', kind: 'Secret' }),
  makeResource({ group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount' }),
  makeResource({ group: RBAC, version: 'v1', plural: 'roles', kind: 'Role' }),
  makeResource({ group: RBAC, version: 'v1', plural: 'rolebindings', kind: 'RoleBinding' }),
  makeResource(
    { group: RBAC, version: 'v1', plural: 'clusterroles', kind: 'ClusterRole' },
    { namespaced: false },
  ),
  makeResource(
    { group: RBAC, version: 'v1', plural: 'clusterrolebindings', kind: 'ClusterRoleBinding' },
    { namespaced: false },
  ),
  makeResource({
    group: 'networking.k8s.io',
    version: 'v1',
    plural: 'networkpolicies',
    kind: 'NetworkPolicy',
  }),
  makeResource({
    group: 'policy',
    version: 'v1',
    plural: 'poddisruptionbudgets',
    kind: 'PodDisruptionBudget',
  }),
];

const STATE = { 'shop.web': '{"lastScaleUp":"2026-01-01T00:00:00Z"}' };

describe.each(HELMS)('a release on a cluster, with %s', (which) => {
  let directory: string;
  let simulator: Simulator;
  let gateway: Gateway;
  let file: string;

  beforeEach(async () => {
    file = await helmFile(which);
    directory = await mkdtemp(join(tmpdir(), 'promscaler-helm-'));
    simulator = await startSimulator({ clock: SYSTEM_CLOCK, namespaces: ['ops'], resources: RESOURCES });
    gateway = await startSecretGateway(simulator.url);
    const kubeconfig = simulator.kubeconfig().replaceAll(simulator.url, gateway.url);
    await writeFile(join(directory, 'kubeconfig'), kubeconfig);
  });

  afterEach(async () => {
    await gateway.close();
    await simulator.close();
    await rm(directory, { recursive: true, force: true });
  });

  /** Runs helm in the namespace `ops`, without blocking: the simulator must answer meanwhile. */
  const helm = async (args: readonly string[], values: Values = {}): Promise<HelmResult> => {
    await writeFile(join(directory, 'values.yaml'), JSON.stringify(values));
    const places = { PATH: process.env['PATH'], HOME: directory, KUBECONFIG: join(directory, 'kubeconfig') };
    const env = { ...places, ...SHORT_LIVED };
    return new Promise((resolve) => {
      const options = { env, encoding: 'utf8', timeout: 60_000 } as const;
      const child = execFile(file, [...args, '--namespace', 'ops'], options, (_error, stdout, stderr) =>
        resolve({ code: child.exitCode, stdout, stderr }),
      );
    });
  };

  /** The simulator does not support server-side apply, the default of helm 4; helm 3 behaves the same in both. */
  const clientSide = which === 'helm 3' ? [] : ['--server-side=false'];
  const put = (command: readonly string[], values: Values = {}): Promise<HelmResult> =>
    helm([...command, CHART, ...clientSide, '-f', join(directory, 'values.yaml')], values);

  const stateOf = (bucket: string): unknown =>
    simulator.getObject('/configmaps', 'ops', `promscaler-state-${bucket}`);

  /** Writes state as the service does: a merge-patch of only `data`. */
  const writeState = async (bucket: string): Promise<void> => {
    const path = `/api/v1/namespaces/ops/configmaps/promscaler-state-${bucket}`;
    const response = await fetch(simulator.url + path, {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: JSON.stringify({ data: STATE }),
    });
    expect(response.status).toBe(200);
  };

  const namesOf = (resource: string): readonly string[] =>
    simulator.listObjects(resource).map((object) => String(at(object, 'metadata', 'name')));

  it('keeps the state through an upgrade that changes its ConfigMaps, and a rollback', async () => {
    await succeed(put(['install', 'rel']));
    expect(at(stateOf('07'), 'data')).toBeUndefined();
    await writeState('07');

    await succeed(put(['upgrade', 'rel'], { replicas: 2, commonLabels: { team: 'a' } }));
    expect(at(stateOf('07'), 'data')).toEqual(STATE);
    expect(at(stateOf('07'), 'metadata', 'labels', 'team')).toBe('a');

    await succeed(helm(['rollback', 'rel', '1', ...clientSide]));
    expect(at(stateOf('07'), 'data')).toEqual(STATE);
    expect(at(stateOf('07'), 'metadata', 'labels', 'team')).toBeUndefined();
  });

  it('installs the definition with an upgrade, and keeps it and all Scalers when it is removed', async () => {
    const crd = { enabled: true };
    const scaler = {
      apiVersion: 'promscaler.dev/v1',
      kind: 'Scaler',
      metadata: { name: 'web', namespace: 'ops' },
      spec: { scaleTargetRef: { name: 'web' }, maxReplicas: 5 },
    };
    const definitions = (): readonly string[] => namesOf('apiextensions.k8s.io/customresourcedefinitions');
    const scalers = (): readonly string[] => namesOf('promscaler.dev/scalers');

    await succeed(put(['install', 'rel'], { crd: { enabled: false } }));
    expect(definitions()).toEqual([]);
    await succeed(put(['upgrade', 'rel'], { crd }));
    expect(definitions()).toEqual(['scalers.promscaler.dev']);
    simulator.addObject(scaler);

    await succeed(put(['upgrade', 'rel'], { crd: { enabled: false } }));
    expect([definitions(), scalers()]).toEqual([['scalers.promscaler.dev'], ['web']]);
    // The definition still belongs to this release, so a new installation adopts it.
    await succeed(put(['upgrade', 'rel'], { crd }));
    const { stdout } = await helm(['uninstall', 'rel']);
    expect(stdout).toContain('[CustomResourceDefinition] scalers.promscaler.dev');
    expect([definitions(), scalers()]).toEqual([['scalers.promscaler.dev'], ['web']]);
    await succeed(put(['install', 'rel'], { crd }));
    expect(scalers()).toEqual(['web']);
  });

  // Both helms render the same objects (render.test.ts), and own them in the same way.
  if (which !== HELMS[0]) return;

  it('removes a document that the values set to null, and keeps the others', async () => {
    const document = (name: string): string => `kind: Scaler\nmetadata: { name: ${name}, namespace: shop }\n`;
    await succeed(put(['install', 'rel'], { scalers: { web: document('web'), mail: document('mail') } }));

    const upgrade = ['upgrade', 'rel', CHART, ...clientSide, '--reset-then-reuse-values'];
    await succeed(helm([...upgrade, '--set', 'scalers.web=null']));

    const data = at(simulator.getObject('/configmaps', 'ops', 'rel-promscaler-scalers'), 'data');
    expect(data).toEqual({ 'mail.yaml': document('mail') });
  });

  it('recreates a deleted ConfigMap with the next upgrade', async () => {
    await succeed(put(['install', 'rel']));
    const path = '/api/v1/namespaces/ops/configmaps/promscaler-state-03';
    await fetch(simulator.url + path, { method: 'DELETE' });
    expect(stateOf('03')).toBeNull();

    await succeed(put(['upgrade', 'rel']));

    expect(stateOf('03')).not.toBeNull();
  });

  it('rejects a second release in its namespace, and changes nothing', async () => {
    await succeed(put(['install', 'rel']));
    await writeState('00');

    const { code, stderr } = await put(['install', 'other']);

    expect(code).toBe(1);
    expect(stderr).toMatch(/promscaler-state-\d\d.*exists and cannot be imported/);
    expect(at(stateOf('00'), 'data')).toEqual(STATE);
    expect(namesOf('apps/deployments')).toEqual(['rel-promscaler']);
  });

  it('rejects the definition of another release, and works with it if it does not install its own', async () => {
    const crd = { enabled: true };
    const none = { enabled: false };
    const state = none;
    await succeed(put(['install', 'rel'], { crd }));

    const values = { state, leaderElection: none, fullnameOverride: 'other' };
    const refused = await put(['install', 'other'], { ...values, crd });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/CustomResourceDefinition "scalers.promscaler.dev".*cannot be imported/);

    await succeed(put(['install', 'other'], { ...values, crd: { ...crd, create: false } }));
    expect(namesOf('apps/deployments')).toContain('other');
  });

  it('leaves nothing when it is removed', async () => {
    const crd = { enabled: false };
    await succeed(
      put(['install', 'rel'], { crd, replicas: 2, credentials: { default: { bearerToken: 't' } } }),
    );
    expect(namesOf('/secrets')).toContain('rel-promscaler-credentials');

    await succeed(helm(['uninstall', 'rel']));

    const left = ['/configmaps', '/secrets', '/services', '/serviceaccounts', 'apps/deployments'].concat(
      RESOURCES.map(({ storage }) => storage),
    );
    expect(left.flatMap(namesOf)).toEqual([]);
  });
});

async function succeed(running: Promise<HelmResult>): Promise<void> {
  const { code, stderr } = await running;
  if (code !== 0) throw new Error(`helm ended with ${code}: ${stderr}`);
}
