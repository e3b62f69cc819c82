import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { makeManifest } from '../../src/simulator/controllers/manifests.js';
import { type JsonObject, objectAt, valueAt } from '../../src/simulator/kinds/json.js';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { type KubectlResult, kubectlFile, runKubectl } from '../support/kubectl.js';

const timing = { startSeconds: 0.05, readySeconds: 0.05, terminationSeconds: 0.05 };
const rules = [{ apiGroups: ['*'], resources: ['*', '*/*'], verbs: ['*'] }];
const WEB = { namespace: 'shop', name: 'web', replicas: 2 } as const;

jest.setTimeout(300_000);

/** Real kubectl is the reference: it shares no code with the simulator. */
describe('kubectl, writing to the simulator,', () => {
  let simulator: Simulator;
  let home: string;

  beforeAll(async () => {
    await kubectlFile();
    home = mkdtempSync(join(tmpdir(), 'kubectl-'));
    simulator = await startSimulator({
      clock: SYSTEM_CLOCK,
      rbac: { admin: { user: 'admin', rules } },
      workloads: [{ ...WEB, behavior: { timing } }],
    });
    const kubeconfig = simulator.kubeconfig({ token: 'admin', namespace: 'shop', isForKubectl: true });
    writeFileSync(join(home, 'admin'), kubeconfig);
  });

  afterAll(async () => {
    await simulator.close();
    rmSync(home, { recursive: true, force: true });
  });

  const kubectl = (line: string, input?: JsonObject): Promise<KubectlResult> =>
    runKubectl(line.split(' '), {
      kubeconfig: join(home, 'admin'),
      home,
      ...(input === undefined ? {} : { input: JSON.stringify(input) }),
    });

  const configMap = (name: string, data: JsonObject): JsonObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'shop' },
    data,
  });

  it('applies on the server, names conflicts, and forces them', async () => {
    const apply = (manager: string, value: string, more = '') =>
      kubectl(`apply --server-side --field-manager=${manager}${more} -f -`, configMap('ssa', { a: value }));

    const made = await apply('x', '1');
    const conflict = await apply('y', '2');
    const forced = await apply('y', '2', ' --force-conflicts');

    expect([made.stdout, forced.stdout]).toEqual([
      'configmap/ssa serverside-applied\n',
      'configmap/ssa serverside-applied\n',
    ]);
    expect(conflict.stderr).toContain('Apply failed with 1 conflict: conflict with "x": .data.a');
  });

  it('migrates from client-side apply', async () => {
    await kubectl('apply -f -', configMap('moved', { a: '1', b: '2' }));
    const applied = await kubectl('apply --server-side -f -', configMap('moved', { a: '1' }));

    const moved = simulator.getObject('/configmaps', 'shop', 'moved');

    expect([applied.code, applied.stderr]).toEqual([0, '']);
    expect(objectAt(moved ?? undefined, 'data')).toEqual({ a: '1' });
  });

  it('applies a Deployment twice without a second rollout, and finds no difference', async () => {
    const manifest = makeManifest({ ...WEB, name: 'twice' });

    await kubectl('apply -f -', manifest);
    const again = await kubectl('apply -f -', manifest);
    const diff = await kubectl('diff -f -', manifest);
    const server = await kubectl('apply --server-side -f -', manifest);
    const stored = simulator.getObject('apps/deployments', 'shop', 'twice');

    expect(again.stdout).toBe('deployment.apps/twice unchanged\n');
    expect([diff.code, diff.stdout, server.code]).toEqual([0, '', 0]);
    expect(valueAt(stored ?? undefined, 'metadata', 'generation')).toBe(1);
  });

  it('reports unknown fields, as an error or a warning', async () => {
    const wrong = { ...configMap('wrong', {}), datta: {} };

    const strict = await kubectl('apply -f -', wrong);
    const warned = await kubectl('apply --validate=warn -f -', wrong);

    expect(strict.stderr).toContain('strict decoding error: unknown field "datta"');
    expect([warned.stderr, warned.stdout]).toEqual([
      'Warning: unknown field "datta"\n',
      'configmap/wrong created\n',
    ]);
  });

  it.each([
    ['create configmap made --from-literal=a=b', 'configmap/made created\n', '/configmaps', 'made'],
    ['create secret generic hidden --from-literal=a=b', 'secret/hidden created\n', '/secrets', 'hidden'],
    ['create serviceaccount robot', 'serviceaccount/robot created\n', '/serviceaccounts', 'robot'],
    [
      'create deployment nginx --image=nginx --port=80',
      'deployment.apps/nginx created\n',
      'apps/deployments',
      'nginx',
    ],
    [
      'autoscale deployment web --min=1 --max=3 --cpu-percent=50',
      'horizontalpodautoscaler.autoscaling/web autoscaled\n',
      'autoscaling/horizontalpodautoscalers',
      'web',
    ],
  ])('decodes the protobuf of kubectl %s', async (line, stdout, storage, name) => {
    const result = await kubectl(line);

    expect([result.stdout, result.stderr]).toEqual([stdout, '']);
    expect(simulator.getObject(storage, 'shop', name)).not.toBeNull();
  });

  it('applies a List, such as the output of kubectl get -o yaml', async () => {
    const item = (name: string): JsonObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
    const items = [item('a'), item('b')];

    const { stdout, stderr } = await kubectl('apply -f -', { apiVersion: 'v1', kind: 'List', items });

    expect([stdout, stderr]).toEqual(['configmap/a created\nconfigmap/b created\n', '']);
  });

  it('rejects protobuf that it cannot decode', async () => {
    const { code, stderr } = await kubectl('create quota q --hard=pods=1');

    expect(code).not.toBe(0);
    expect(stderr).toMatch(/Unsupported Media Type|could not find the requested resource/);
  });

  it('issues a token that authenticates as its ServiceAccount', async () => {
    await kubectl('create serviceaccount reader');
    const token = (await kubectl('create token reader')).stdout.trim();

    const response = await fetch(`${simulator.url}/api/v1/namespaces/shop/pods`, {
      headers: { authorization: `Bearer ${token}` },
    });

    expect(response.status).toBe(403);
    expect(await response.text()).toContain('User \\"system:serviceaccount:shop:reader\\" cannot list');
  });

  it('patches in each form, labels, annotates and replaces', async () => {
    await kubectl('apply -f -', configMap('patched', { a: '1' }));
    const run = (args: readonly string[]) => runKubectl(args, { kubeconfig: join(home, 'admin'), home });
    const patch = (type: string, body: unknown) =>
      run(['patch', 'configmap', 'patched', `--type=${type}`, '-p', JSON.stringify(body)]);

    await patch('merge', { data: { b: '2' } });
    await patch('strategic', { data: { c: '3' } });
    await patch('json', [{ op: 'remove', path: '/data/a' }]);
    await kubectl('label configmap patched team=shop');
    await kubectl('annotate configmap patched note=x');
    const labeled = simulator.getObject('/configmaps', 'shop', 'patched');
    const replaced = await kubectl('replace -f -', configMap('patched', { d: '4' }));

    expect(labeled).toMatchObject({
      metadata: { labels: { team: 'shop' }, annotations: { note: 'x' } },
      data: { b: '2', c: '3' },
    });
    expect(replaced.stdout).toBe('configmap/patched replaced\n');
    expect(simulator.getObject('/configmaps', 'shop', 'patched')?.['data']).toEqual({ d: '4' });
  });

  it('explains built-in kinds by their fields', async () => {
    const replicas = await kubectl('explain deployment.spec.replicas');
    const autoscaler = await kubectl('explain hpa.spec');
    const lease = await kubectl('explain lease.spec');

    expect(replicas.stdout).toContain('FIELD: replicas <integer>');
    expect(autoscaler.stdout).toMatch(/maxReplicas\s+<integer>/);
    expect(lease.stdout).toMatch(/holderIdentity\s+<string>/);
  });

  it('describes an autoscaler that has not computed yet, a Lease and a ConfigMap', async () => {
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'leader', namespace: 'shop' },
      spec: { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' },
    };
    await kubectl('apply -f -', lease);
    const autoscaler = makeAutoscaler();
    await kubectl('apply -f -', autoscaler);

    const described = await kubectl('describe hpa busy');
    const leases = await kubectl('get leases');

    expect(described.stdout).toContain('0 current / 0 desired');
    expect(described.stdout).toMatch(/Percent +Value: 100 +Period: 15 seconds/);
    expect(leases.stdout).toMatch(/NAME +HOLDER +AGE\nleader +a /);
  });

  it('lists the permissions of the user, and the health of the server', async () => {
    expect((await kubectl('auth can-i --list')).stdout).toContain('*.*');
    expect((await kubectl('get --raw /healthz')).stdout).toBe('ok');
  });

  function makeAutoscaler(): JsonObject {
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    return {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'busy', namespace: 'shop' },
      spec: { scaleTargetRef, maxReplicas: 5, behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } },
    };
  }

  it('deletes a Deployment with its pods, and a ConfigMap', async () => {
    await kubectl('apply -f -', configMap('gone', {}));

    const deleted = await kubectl('delete deployment/web configmap/gone');
    const waited = await kubectl('wait --for=delete pod -l app=web --timeout=10s');

    expect([deleted.code, waited.code]).toEqual([0, 0]);
    expect(simulator.getObject('apps/deployments', 'shop', 'web')).toBeNull();
  });
});
