import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parse } from 'yaml';
import { CASES, SCALER } from './cases.js';
import { HELM_TIMEOUT_MS, ROOT, at, isMapping, listAt, pick, render, startHelm } from './helm.js';
import type { Helm, Rendered, Values } from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

let helm: Helm;

beforeAll(async () => {
  helm = await startHelm();
});

const podOf = (objects: readonly Rendered[]): unknown =>
  at(pick(objects, 'Deployment'), 'spec', 'template', 'spec');
const containerOf = (objects: readonly Rendered[]): unknown => at(podOf(objects), 'containers', 0);

describe('the Deployment', () => {
  it('is one replica that hands over to the next one, which is ready first', () => {
    const deployment = pick(render(helm), 'Deployment');

    expect(at(deployment, 'spec', 'replicas')).toBe(1);
    expect(at(deployment, 'spec', 'strategy')).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
    });
    expect(at(deployment, 'spec', 'template', 'spec', 'terminationGracePeriodSeconds')).toBe(20);
  });

  it('ends the old replica before the new one if no election separates them', () => {
    const deployment = pick(render(helm, { leaderElection: { enabled: false } }), 'Deployment');

    expect(at(deployment, 'spec', 'strategy')).toEqual({ type: 'Recreate' });
  });

  it.each([
    [0, false],
    [1, false],
    [2, true],
  ])('with %i replicas has a disruption budget and a spread over nodes: %s', (replicas, isThere) => {
    const objects = render(helm, { replicas });
    const matchLabels = { 'app.kubernetes.io/name': 'promscaler', 'app.kubernetes.io/instance': 'rel' };

    expect(at(pick(objects, 'Deployment'), 'spec', 'replicas')).toBe(replicas);
    expect(objects.some(({ kind }) => kind === 'PodDisruptionBudget')).toBe(isThere);
    expect(at(podOf(objects), 'topologySpreadConstraints')).toEqual(
      isThere
        ? [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels },
            },
          ]
        : undefined,
    );
    if (isThere)
      expect(pick(objects, 'PodDisruptionBudget')['spec']).toEqual({
        maxUnavailable: 1,
        selector: { matchLabels },
      });
  });

  it('accepts the replica count under the name that most charts use', () => {
    const replicasOf = (values: Values): unknown =>
      at(pick(render(helm, values), 'Deployment'), 'spec', 'replicas');

    expect(replicasOf({ replicaCount: 3 })).toBe(3);
    expect(replicasOf({ replicaCount: 0 })).toBe(0);
    expect(replicasOf({ replicaCount: 3, replicas: 3 })).toBe(3);
    expect(replicasOf({ replicaCount: null, replicas: 2 })).toBe(2);
    const objects = render(helm, { replicaCount: 2 });
    expect(objects.map(({ kind }) => kind)).toContain('PodDisruptionBudget');
    expect(listAt(podOf(objects), 'topologySpreadConstraints')).toHaveLength(1);
  });

  it.each<[string, Values, unknown]>([
    ['one pod at a time', {}, { maxUnavailable: 1 }],
    ['none', { maxUnavailable: 0 }, { maxUnavailable: 0 }],
    ['a share', { maxUnavailable: '50%' }, { maxUnavailable: '50%' }],
    ['all but one pod', { minAvailable: 1 }, { minAvailable: 1 }],
    [
      'pods that are not ready, too',
      { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
      { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    ],
  ])('lets evictions remove %s', (_what, podDisruptionBudget, expected) => {
    const { selector, ...rest } = pick(
      render(helm, { replicas: 2, podDisruptionBudget }),
      'PodDisruptionBudget',
    )['spec'] as Rendered;

    expect(rest).toEqual(expected);
    expect(selector).toBeDefined();
  });

  it('has no budget if that is disabled', () => {
    const objects = render(helm, { replicas: 2, podDisruptionBudget: { enabled: false } });

    expect(objects.map(({ kind }) => kind)).not.toContain('PodDisruptionBudget');
  });

  it('has the configured spread, which selects its own pods if it has no selector', () => {
    const zone = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' };
    const own = { ...zone, labelSelector: { matchLabels: { a: 'b' } } };
    const matchLabels = { 'app.kubernetes.io/name': 'promscaler', 'app.kubernetes.io/instance': 'rel' };

    expect(
      at(podOf(render(helm, { topologySpreadConstraints: [zone, own] })), 'topologySpreadConstraints'),
    ).toEqual([{ ...zone, labelSelector: { matchLabels } }, own]);
  });

  it('passes on arguments, volumes, variables and DNS settings, to helm test as well except for the arguments', () => {
    const values = {
      extraArgs: ['--strict'],
      extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
      extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/ssl/extra', readOnly: true }],
      envFrom: [{ secretRef: { name: 'env' } }],
      dnsConfig: { options: [{ name: 'ndots', value: '2' }] },
    };
    const objects = render(helm, values);

    expect(listAt(containerOf(objects), 'args').slice(-1)).toEqual(['--strict']);
    for (const pod of [podOf(objects), at(pick(objects, 'Pod'), 'spec')]) {
      expect(listAt(pod, 'volumes').slice(-1)).toEqual(values.extraVolumes);
      expect(listAt(pod, 'containers', 0, 'volumeMounts').slice(-1)).toEqual(values.extraVolumeMounts);
      expect(at(pod, 'containers', 0, 'envFrom')).toEqual(values.envFrom);
      expect(at(pod, 'dnsConfig')).toEqual(values.dnsConfig);
    }
    expect(listAt(pick(objects, 'Pod'), 'spec', 'containers', 0, 'args')).not.toContain('--strict');
  });

  it('merges security contexts over its own, field by field', () => {
    const objects = render(helm, {
      podSecurityContext: { runAsUser: 1000, runAsNonRoot: false, supplementalGroups: [7] },
      securityContext: { readOnlyRootFilesystem: false, capabilities: { drop: ['ALL'], add: ['NET_RAW'] } },
    });

    expect(at(podOf(objects), 'securityContext')).toEqual({
      runAsNonRoot: false,
      runAsUser: 1000,
      runAsGroup: 65532,
      fsGroup: 65532,
      supplementalGroups: [7],
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(at(containerOf(objects), 'securityContext')).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: false,
      capabilities: { drop: ['ALL'], add: ['NET_RAW'] },
    });
  });

  it('meets the restricted Pod Security Standard', () => {
    const objects = render(helm, CASES['everything']);

    expect(at(podOf(objects), 'securityContext')).toEqual({
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      fsGroup: 65532,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(at(containerOf(objects), 'securityContext')).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
      seLinuxOptions: { level: 's0:c1,c2' },
    });
    const volumes = listAt(podOf(objects), 'volumes');
    const sources = volumes.flatMap((volume) => (isMapping(volume) ? Object.keys(volume) : []));
    expect(new Set(sources)).toEqual(new Set(['name', 'configMap', 'secret', 'projected']));
    for (const name of ['hostNetwork', 'hostPID', 'hostIPC'])
      expect(at(podOf(objects), name)).toBeUndefined();
  });

  it('has probes for /healthz and /readyz on the port of the Service', () => {
    const objects = render(helm);
    const container = containerOf(objects);

    expect(listAt(container, 'ports')).toEqual([{ name: 'http', containerPort: 8080, protocol: 'TCP' }]);
    expect(at(container, 'livenessProbe', 'httpGet')).toEqual({ path: '/healthz', port: 'http' });
    expect(at(container, 'readinessProbe', 'httpGet')).toEqual({ path: '/readyz', port: 'http' });
    expect(listAt(pick(objects, 'Service'), 'spec', 'ports')).toEqual([
      { name: 'http', port: 8080, targetPort: 'http', protocol: 'TCP' },
    ]);
  });

  it('leaves the user to OpenShift if detected', () => {
    const objects = render(helm, {}, ['--api-versions', 'security.openshift.io/v1']);

    expect(at(podOf(objects), 'securityContext')).toEqual({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
  });

  it('has its name and namespace in the environment, and the part of its memory for the heap', () => {
    const envOf = (values: Values): readonly unknown[] => listAt(containerOf(render(helm, values)), 'env');
    const field = (name: string, fieldPath: string): unknown => ({
      name,
      valueFrom: { fieldRef: { fieldPath } },
    });
    const pod = [field('POD_NAME', 'metadata.name'), field('POD_NAMESPACE', 'metadata.namespace')];
    const heap = (old: number, young: number): unknown => ({
      name: 'NODE_OPTIONS',
      value: `--max-old-space-size=${old} --max-semi-space-size=${young}`,
    });
    const limit = (memory: string): Values => ({ resources: { limits: { memory } } });

    expect(envOf({})).toEqual([...pod, heap(768, 16)]);
    expect(envOf(limit('500Mi'))).toEqual([...pod, heap(375, 8)]);
    expect(envOf(limit('1023Mi'))).toEqual([...pod, heap(767, 8)]);
    expect(envOf(limit('2Gi'))).toEqual([...pod, heap(1536, 16)]);
    expect(envOf(limit('1e9'))).toEqual(pod);
    expect(envOf({ resources: null })).toEqual(pod);
    const own = { name: 'NODE_OPTIONS', value: '--max-old-space-size=100' };
    expect(envOf({ extraEnv: [own] })).toEqual([...pod, own]);
  });

  it('mounts config, scalers and secrets as directories, which the kubelet updates', () => {
    const objects = render(helm, { secrets: ['token', 'other.secret'] });

    expect(listAt(containerOf(objects), 'volumeMounts')).toEqual([
      { name: 'config', mountPath: '/etc/promscaler/config', readOnly: true },
      { name: 'scalers', mountPath: '/etc/promscaler/scalers', readOnly: true },
      { name: 'secret-0', mountPath: '/etc/promscaler/secrets/token', readOnly: true },
      { name: 'secret-1', mountPath: '/etc/promscaler/secrets/other.secret', readOnly: true },
    ]);
    expect(listAt(podOf(objects), 'volumes')).toEqual([
      { name: 'config', configMap: { name: 'rel-promscaler-config' } },
      { name: 'scalers', configMap: { name: 'rel-promscaler-scalers' } },
      { name: 'secret-0', secret: { secretName: 'token', defaultMode: 0o440 } },
      { name: 'secret-1', secret: { secretName: 'other.secret', defaultMode: 0o440 } },
    ]);
  });

  it('is replaced when the service config changes, and not when a scaler does', () => {
    const podTemplate = (values: Values): unknown =>
      at(pick(render(helm, values), 'Deployment'), 'spec', 'template');
    const before = podTemplate({});

    expect(podTemplate({ scalers: { web: SCALER } })).toEqual(before);
    expect(podTemplate({ leaderElection: { renewDeadlineSeconds: 9 } })).not.toEqual(before);
    expect(podTemplate({ config: { log: { level: 'debug' } } })).not.toEqual(before);
    expect(podTemplate({ namespaces: ['shop'] })).not.toEqual(before);
  });

  it('runs the image of the appVersion, of a tag or of a digest', () => {
    const { version } = parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    const digest = `sha256:${'a'.repeat(64)}`;
    const imageOf = (image: Values): unknown => at(containerOf(render(helm, { image })), 'image');

    expect(imageOf({})).toBe(`promscaler:${version}`);
    expect(imageOf({ repository: 'r.example.com/p', tag: '1.0' })).toBe('r.example.com/p:1.0');
    expect(imageOf({ tag: '1.0', digest })).toBe(`promscaler@${digest}`);
  });

  it('patches nothing with dryRun', () => {
    const args = ['run', '--config', '/etc/promscaler/config/promscaler.yaml'];

    expect(at(containerOf(render(helm)), 'args')).toEqual(args);
    expect(at(containerOf(render(helm, { dryRun: true })), 'args')).toEqual([...args, '--dry-run']);
  });
});

describe('the pod of helm test', () => {
  const hooked = (objects: readonly Rendered[]): Rendered => pick(objects, 'Pod');

  it('runs doctor with the config of the service, and is not part of the release otherwise', () => {
    const pod = hooked(render(helm));

    expect(at(pod, 'metadata', 'annotations')).toEqual({
      'helm.sh/hook': 'test',
      'helm.sh/hook-delete-policy': 'before-hook-creation',
    });
    expect(at(pod, 'spec', 'containers', 0, 'args')).toEqual([
      'doctor',
      '--config',
      '/etc/promscaler/config/promscaler.yaml',
    ]);
    expect(at(pod, 'spec', 'restartPolicy')).toBe('Never');
    expect(listAt(hooked(render(helm, { dryRun: true })), 'spec', 'containers')).toMatchObject([
      { args: ['doctor', '--config', '/etc/promscaler/config/promscaler.yaml', '--dry-run'] },
    ]);
  });

  it('has account, volumes, settings, mounts and resources of the service', () => {
    const objects = render(helm, CASES['everything']);
    const [service, test] = [podOf(objects), hooked(objects)['spec']];

    for (const member of [
      'serviceAccountName',
      'securityContext',
      'volumes',
      'imagePullSecrets',
      'priorityClassName',
      'nodeSelector',
      'tolerations',
      'affinity',
    ])
      expect([member, at(test, member)]).toEqual([member, at(service, member)]);
    for (const member of ['image', 'env', 'securityContext', 'volumeMounts', 'resources'])
      expect([member, at(test, 'containers', 0, member)]).toEqual([
        member,
        at(service, 'containers', 0, member),
      ]);
  });

  it('is selected by no Service and no budget', () => {
    const objects = render(helm, { replicas: 2 });
    const labels = at(hooked(objects), 'metadata', 'labels');

    expect(at(pick(objects, 'Service'), 'spec', 'selector', 'app.kubernetes.io/name')).toBe('promscaler');
    expect(at(labels, 'app.kubernetes.io/name')).toBe('promscaler-test');
  });
});
