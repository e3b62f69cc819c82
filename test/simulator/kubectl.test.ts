import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoNode } from '../../src/cli/demo/workloads.js';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.js';
import { eventually } from '../support/manual-clock.js';
import { type KubectlResult, kubectlFile, runKubectl } from '../support/kubectl.js';

const timing = { startSeconds: 0.05, readySeconds: 0.05, terminationSeconds: 0.05 };
const rbac = {
  admin: { user: 'admin', rules: [{ apiGroups: ['*'], resources: ['*', '*/scale'], verbs: ['*'] }] },
  reader: { user: 'reader', rules: [{ apiGroups: ['', 'apps'], resources: ['*'], verbs: ['get', 'list'] }] },
};

jest.setTimeout(300_000);

/** Real kubectl is the reference: it shares no code with the simulator. */
describe('kubectl against the simulator', () => {
  let simulator: Simulator;
  let home: string;

  beforeAll(async () => {
    await kubectlFile();
    home = mkdtempSync(join(tmpdir(), 'kubectl-'));
    const web = { namespace: 'shop', replicas: 3, behavior: { timing } };
    const workloads = ['web', 'watched', 'rolled', 'deleted'].map((name) => ({ ...web, name }));
    simulator = await startSimulator({
      clock: SYSTEM_CLOCK,
      rbac,
      workloads: [...workloads, { ...web, kind: 'Rollout', name: 'canary' }],
    });
    for (const token of ['admin', 'reader']) {
      writeFileSync(
        join(home, token),
        simulator.kubeconfig({ token, namespace: 'shop', isForKubectl: true }),
      );
    }
  });

  afterAll(async () => {
    await simulator.close();
    rmSync(home, { recursive: true, force: true });
  });

  const kubectl = (
    line: string,
    options: { readonly user?: string; readonly input?: string } = {},
  ): Promise<KubectlResult> =>
    runKubectl(line.split(' '), {
      kubeconfig: join(home, options.user ?? 'admin'),
      home,
      ...(options.input === undefined ? {} : { input: options.input }),
    });

  it('gets the node of the demo with its state, also after it was cordoned', async () => {
    simulator.addObject(demoNode());

    expect((await kubectl('get nodes')).stdout).toMatch(/NAME +STATUS +AGE\nnode-1 +Ready +/);
    await kubectl('cordon node-1');
    expect((await kubectl('get nodes')).stdout).toMatch(/\nnode-1 +Ready,SchedulingDisabled +/);
  });

  it('gets deployments and pods as a table', async () => {
    const { stdout } = await kubectl('get deployments,pods');

    expect(stdout).toMatch(/NAME +READY +UP-TO-DATE +AVAILABLE +AGE\n/);
    expect(stdout).toMatch(/deployment\.apps\/web +3\/3 +3 +3 +60m\n/);
    expect(stdout).toMatch(/pod\/web-\w+-\w{5} +1\/1 +Running +0 +60m\n/);
  });

  it('scales, waits for the rollout and describes', async () => {
    expect((await kubectl('scale deployment web --replicas=5')).stdout).toBe('deployment.apps/web scaled\n');
    const status = await kubectl('rollout status deployment/web --timeout=15s');
    const { stdout } = await kubectl('describe deployment web');

    expect(status.stdout).toContain('deployment "web" successfully rolled out');
    expect(stdout).toContain('5 desired | 5 updated | 5 total | 5 available | 0 unavailable');
    expect(stdout).toMatch(
      /ScalingReplicaSet .*deployment-controller +Scaled up replica set web-\w+ from 3 to 5/,
    );
  });

  it('watches a scale-up with a single header', async () => {
    const watched = { namespace: 'shop', name: 'watched' };
    const watching = kubectl('get deployment watched -w');
    await eventually(() => simulator.watches.count > 0, 'a watch');
    simulator.setReplicas(watched, 4);
    await eventually(() => simulator.describe(watched).readyPods === 4, 'four ready pods');
    simulator.watches.close();

    const lines = (await watching).stdout.trim().split('\n');
    expect(lines.filter((line) => line.startsWith('NAME'))).toHaveLength(1);
    expect(lines.at(-1)).toMatch(/^watched +4\/4 +4 +4 +60m$/);
  });

  it('rolls out a new image and keeps the history', async () => {
    await kubectl('set image deployment/rolled app=registry.example/app:2');
    const status = await kubectl('rollout status deployment/rolled --timeout=15s');
    const history = await kubectl('rollout history deployment/rolled');

    expect(status.stdout).toContain('successfully rolled out');
    expect(history.stdout).toMatch(/1 +<none>\n2 +<none>/);
  });

  it('patches the scale of any kind', async () => {
    const run = (args: readonly string[]) => runKubectl(args, { kubeconfig: join(home, 'admin'), home });

    const patched = await run([
      'patch',
      'rollout',
      'canary',
      '--subresource=scale',
      '--type=merge',
      '-p',
      '{"spec":{"replicas":2}}',
    ]);

    expect(patched.stdout).toBe('scale.autoscaling/canary patched\n');
    expect(simulator.describe({ namespace: 'shop', name: 'canary' }).replicas).toBe(2);
  });

  it('applies a HorizontalPodAutoscaler and gets it', async () => {
    const spec = {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      minReplicas: 2,
      maxReplicas: 5,
    };
    const input = JSON.stringify({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web' },
      spec,
    });

    const applied = await kubectl('apply -f -', { input });
    const { stdout } = await kubectl('get hpa');

    expect(applied.stderr).toBe('');
    expect(applied.stdout).toBe('horizontalpodautoscaler.autoscaling/web created\n');
    expect(stdout).toMatch(/web +Deployment\/web +cpu: <unknown>\/80% +2 +5 +0 /);
  });

  it('deletes a deployment and its pods', async () => {
    // Newer versions add the namespace.
    const sentence = /^deployment\.apps "deleted" deleted( from shop namespace)?\n$/;
    expect((await kubectl('delete deployment deleted')).stdout).toMatch(sentence);
    await kubectl('wait --for=delete pod -l app=deleted --timeout=10s');

    expect((await kubectl('get pods -l app=deleted')).stderr).toBe('No resources found in shop namespace.\n');
  });

  it('creates a namespace, deletes it with its contents, and waits until it is removed', async () => {
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'idle', namespace: 'brief' },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'idle' } },
        template: {
          metadata: { labels: { app: 'idle' } },
          spec: { containers: [{ name: 'pause', image: 'registry.k8s.io/pause:3.10' }] },
        },
      },
    };

    const created = await kubectl('create namespace brief');
    await kubectl('apply -f -', { input: JSON.stringify(deployment) });
    const status = await kubectl('rollout status deployment/idle -n brief --timeout=15s');
    const deleted = await kubectl('delete namespace brief --timeout=15s');

    expect(created.stdout).toBe('namespace/brief created\n');
    expect(status.stdout).toContain('successfully rolled out');
    expect(deleted.stdout).toBe('namespace "brief" deleted\n');
    expect(simulator.getObject('/namespaces', null, 'brief')).toBeNull();
    expect(simulator.listObjects('/pods', 'brief')).toEqual([]);
  });

  it('gets events', async () => {
    simulator.setReplicas({ namespace: 'shop', name: 'canary' }, 1);
    await kubectl('wait --for=jsonpath={.status.replicas}=1 rollout/canary --timeout=10s');

    expect((await kubectl('get events')).stdout).toMatch(
      /Normal +ScalingReplicaSet +rollout\/canary +Scaled down replica set canary-\w+ from \d to 1/,
    );
  });

  it('lists its permissions, and is denied others', async () => {
    const can = async (question: string) =>
      (await kubectl(`auth can-i ${question}`, { user: 'reader' })).stdout.trim();

    expect(await can('list pods')).toBe('yes');
    expect(await can('patch deployments --subresource=scale')).toBe('no');
    expect((await kubectl('scale deployment web --replicas=9', { user: 'reader' })).stderr).toBe(
      'Error from server (Forbidden): deployments.apps "web" is forbidden: User "reader" cannot patch resource "deployments/scale" in API group "apps" in the namespace "shop"\n',
    );
  });
});
