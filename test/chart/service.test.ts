import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { SYSTEM_CLOCK } from '../../src/cli/system-clock.js';
import type { JsonObject } from '../../src/simulator/kinds/json.js';
import type { Rule } from '../../src/simulator/api/requests/rules.js';
import { startSimulator } from '../../src/simulator/simulator.js';
import type { Simulator, WorkloadOptions } from '../../src/simulator/simulator.js';
import { CLI, waitFor } from '../e2e/fixture.js';
import { IMAGE_FLAGS } from '../support/image-process.js';
import { HELM_TIMEOUT_MS, at, isMapping, listAt, pick, render, startHelm, textAt } from './helm.js';
import type { Helm, Rendered, Values } from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

type WorkloadKind = NonNullable<WorkloadOptions['kind']>;

/** Documents in files. */
const FILES = { crd: { enabled: false } };
const TOKEN = 'of-the-service-account';
const POD = 'rel-promscaler-5d8f-x2v7';
const IN_CLUSTER = { leaderElection: { enabled: true }, state: { enabled: true } };

/** From 2 to 4 replicas without a metric, by the minimum alone. */
const scalerOf = (apiVersion: string, kind: string): Values => ({
  apiVersion: 'promscaler.dev/v1',
  kind: 'Scaler',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { scaleTargetRef: { apiVersion, kind, name: 'web' }, minReplicas: 4, maxReplicas: 9 },
});

/** Kinds that can be scaled, and the value of `targets` that allows them. */
const KINDS: readonly (readonly [WorkloadKind, string, string])[] = [
  ['Deployment', 'apps/v1', 'deployments'],
  ['StatefulSet', 'apps/v1', 'statefulsets'],
  ['ReplicaSet', 'apps/v1', 'replicasets'],
  ['Rollout', 'argoproj.io/v1alpha1', 'rollouts.argoproj.io'],
  ['ReplicationController', 'v1', 'replicationcontrollers'],
];

/** Permissions that a scale-up does not use, and their use. */
const RARE: Readonly<Record<string, string>> = {
  'patch events': 'the same Event once more within six minutes',
};

describe('the service with the permissions and the config of the chart', () => {
  let helm: Helm;
  let directory: string;
  let simulator: Simulator;

  beforeAll(async () => {
    helm = await startHelm();
  });

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'promscaler-chart-'));
  });

  afterEach(async () => {
    await simulator.close();
    await rm(directory, { recursive: true, force: true });
  });

  /** Runs the service with the rendered objects until `isOver`, and returns its requests to the API server. */
  const run = async (
    values: Values,
    isOver: () => boolean,
    [kind, apiVersion]: readonly [WorkloadKind, string, ...unknown[]] = ['Deployment', 'apps/v1'],
  ): Promise<readonly string[]> => {
    // Nothing listens at port 1.
    const prometheus = { url: 'http://127.0.0.1:1' };
    const objects = render(helm, {
      ...FILES,
      scalers: { web: scalerOf(apiVersion, kind) },
      prometheus,
      ...values,
    });
    const rbac = { [TOKEN]: { user: 'system:serviceaccount:ops:rel-promscaler', rules: rulesOf(objects) } };
    const workload = { kind, namespace: 'shop', name: 'web', replicas: 2 };
    simulator = await startSimulator({ clock: SYSTEM_CLOCK, workloads: [workload], rbac });
    // The service creates the Lease.
    for (const state of statesOf(objects))
      simulator.addObject(JSON.parse(JSON.stringify(state)) as JsonObject);
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, simulator.kubeconfig({ token: TOKEN, isForKubectl: true }));
    await mountConfigMap(pick(objects, 'ConfigMap', '-scalers'), join(directory, 'scalers'));
    const config = textAt(pick(objects, 'ConfigMap', '-config'), 'data', 'promscaler.yaml');
    await writeFile(join(directory, 'promscaler.yaml'), placed(config, join(directory, 'scalers')));
    await runUntil(isOver, { KUBECONFIG: kubeconfig, ...podEnv(objects) });
    const asked = simulator
      .requests()
      .map(({ verb, resource, subresource, code }) =>
        [verb, subresource === '' ? resource : `${resource}/${subresource}`, code].join(' '),
      );
    return [...new Set(asked)].sort();
  };

  const runUntil = async (isOver: () => boolean, podEnv: Readonly<Record<string, string>>): Promise<void> => {
    const args = [...IMAGE_FLAGS, CLI, 'run', '--config', join(directory, 'promscaler.yaml')];
    const env = { ...process.env, KUBERNETES_SERVICE_HOST: '', ...podEnv };
    const child = spawn(process.execPath, args, { env });
    const exit = once(child, 'exit');
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    try {
      await waitFor(isOver, { what: 'the service', seconds: 30 });
    } catch (error) {
      throw new Error(`the service has written:\n${output}`, { cause: error });
    } finally {
      child.kill('SIGTERM');
      await exit;
    }
    expect(child.exitCode).toBe(0);
  };

  const replicas = (): number => simulator.describe({ namespace: 'shop', name: 'web' }).replicas;
  const hasScaled = (): boolean => replicas() === 4 && simulator.listObjects('/events', 'shop').length > 0;

  it('scales with the ClusterRole, and is denied nothing', async () => {
    expect(await run({}, hasScaled)).toEqual(ASKED);

    const lease = simulator.getObject('coordination.k8s.io/leases', 'ops', 'promscaler');
    expect(lease?.['spec']).toMatchObject({ holderIdentity: '', leaseTransitions: 0 });
    const states = simulator.listObjects('/configmaps', 'ops');
    expect(states).toHaveLength(16);
    const stored = states.flatMap(({ data }) => (isMapping(data) ? Object.keys(data) : []));
    expect(stored).toEqual(['shop.web']);
  });

  it.each(KINDS)('scales a %s of %s with the Role of one namespace and %s', async (...of) => {
    const [, , target] = of;
    const values = { namespaces: ['shop'], targets: [target] };

    const asked = await run(values, hasScaled, of);

    const needed = [...new Set(asked.map(permissionOf))].filter((right) => right !== DISCOVERY);
    expect(asked.filter((line) => !/ 20[01]$/.test(line))).toEqual([NO_LEASE_YET]);
    const granted = grantedPermissions(
      render(helm, { ...FILES, prometheus: { url: 'http://p' }, ...values }),
    );
    expect([...granted].sort()).toEqual([...needed, ...Object.keys(RARE)].sort());
  });

  it('is denied what the rules omit: a Deployment if only statefulsets are configured', async () => {
    const isRefused = (): boolean => simulator.requests().some(({ code }) => code === 403);

    const asked = await run({ targets: ['statefulsets'] }, isRefused);

    expect(asked.filter((line) => line.endsWith(' 403'))).toContain('list deployments 403');
    expect(asked.filter((line) => line.startsWith('patch'))).toEqual([]);
    expect(replicas()).toBe(2);
  });
});

/** Discovery has no resource, and every authenticated user can use it. */
const DISCOVERY = ' ';

/** The first replica finds no Lease; this is not a denied request. */
const NO_LEASE_YET = 'get leases 404';

/** Every kind of request from the start over a scale-up to the end, all of them granted. */
const ASKED = [
  'create events 201',
  'create leases 201',
  'get configmaps 200',
  'get deployments/scale 200',
  NO_LEASE_YET,
  'list deployments 200',
  'list horizontalpodautoscalers 200',
  'list pods 200',
  'patch configmaps 200',
  'patch deployments/scale 200',
  'update leases 200',
  'watch deployments 200',
  'watch horizontalpodautoscalers 200',
  'watch pods 200',
];

/** Returns `list pods` of `list pods 200`. */
function permissionOf(request: string): string {
  return request.split(' ').slice(0, 2).join(' ');
}

/** Returns `VERB RESOURCE` of all that the rendered roles grant. */
function grantedPermissions(objects: readonly Rendered[]): ReadonlySet<string> {
  return new Set(
    rulesOf(objects).flatMap(({ verbs, resources }) =>
      verbs.flatMap((verb) => resources.map((resource) => `${verb} ${resource}`)),
    ),
  );
}

/** Returns the rules of the rendered roles, as the simulator expects them. */
function rulesOf(objects: readonly Rendered[]): readonly Rule[] {
  return objects
    .filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role')
    .flatMap((role) => {
      const namespaces =
        role['kind'] === 'Role' ? { namespaces: [textAt(role, 'metadata', 'namespace')] } : {};
      return listAt(role, 'rules').map((rule) => ({
        apiGroups: listAt(rule, 'apiGroups').map(String),
        resources: listAt(rule, 'resources').map(String),
        verbs: listAt(rule, 'verbs').map(String),
        ...(at(rule, 'resourceNames') === undefined
          ? {}
          : { resourceNames: listAt(rule, 'resourceNames').map(String) }),
        ...namespaces,
      }));
    });
}

/** Returns the ConfigMaps with the state. */
function statesOf(objects: readonly Rendered[]): readonly Rendered[] {
  return objects.filter(
    (object) =>
      object['kind'] === 'ConfigMap' && /^promscaler-state-/.test(textAt(object, 'metadata', 'name')),
  );
}

/** Returns the variables of the container that the downward API sets. */
function podEnv(objects: readonly Rendered[]): Readonly<Record<string, string>> {
  const fields: Readonly<Record<string, string>> = { 'metadata.name': POD, 'metadata.namespace': 'ops' };
  const env = listAt(pick(objects, 'Deployment'), 'spec', 'template', 'spec', 'containers', 0, 'env');
  return Object.fromEntries(
    env.flatMap((one) => {
      const path = at(one, 'valueFrom', 'fieldRef', 'fieldPath');
      return typeof path === 'string' ? [[textAt(one, 'name'), fields[path] ?? '']] : [];
    }),
  );
}

/**
 * Returns the config with the paths of this machine instead of those of the pod. Election and state, which are on in a
 * cluster, are off with a kubeconfig.
 */
function placed(config: string, scalers: string): string {
  const value: unknown = parse(config);
  if (!isMapping(value)) throw new Error('the service config is not a map');
  return stringify({ ...value, ...IN_CLUSTER, scalers: { paths: [scalers] }, server: { port: 0 } });
}

/** Writes a ConfigMap to a directory, as the kubelet mounts it. */
async function mountConfigMap({ data }: Rendered, directory: string): Promise<void> {
  await mkdir(join(directory, '..generation'), { recursive: true });
  await symlink('..generation', join(directory, '..data'));
  for (const name of isMapping(data) ? Object.keys(data) : []) {
    await writeFile(join(directory, '..generation', name), textAt(data, name));
    await symlink(join('..data', name), join(directory, name));
  }
}
