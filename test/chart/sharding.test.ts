import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parse } from 'yaml';
import { HELM_TIMEOUT_MS, listAt, pick, render, startHelm, textAt } from './helm.js';
import type { Helm, Rendered } from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

const SHARDED = { replicas: 3, sharding: { enabled: true } };
const PODS = {
  podSelector: {
    matchLabels: { 'app.kubernetes.io/name': 'promscaler', 'app.kubernetes.io/instance': 'rel' },
  },
};
const PORTS = [{ port: 8080, protocol: 'TCP' }];

describe('sharding.enabled', () => {
  let helm: Helm;
  let objects: readonly Rendered[];

  beforeAll(async () => {
    helm = await startHelm();
    objects = render(helm, SHARDED);
  });

  it('is in the service config', () => {
    const text = textAt(pick(objects, 'ConfigMap', '-config'), 'data', 'promscaler.yaml');

    expect(parse(text)).toMatchObject({ sharding: { enabled: true } });
  });

  it('tells the replicas the label selector of their pods, by which they know each other', () => {
    const env = listAt(pick(objects, 'Deployment'), 'spec', 'template', 'spec', 'containers', 0, 'env');

    expect(env).toContainEqual({
      name: 'POD_SELECTOR',
      value: 'app.kubernetes.io/name=promscaler,app.kubernetes.io/instance=rel',
    });
  });

  it('lets the replicas reach each other, and no other pod', () => {
    const policy = pick(objects, 'NetworkPolicy');

    expect(listAt(policy, 'spec', 'ingress', 0, 'from')).toContainEqual(PODS);
    expect(listAt(policy, 'spec', 'egress')).toContainEqual({ ports: PORTS, to: [PODS] });
  });

  it('gives the replicas a random key, which they do not read from the API server', () => {
    const deployment = pick(objects, 'Deployment');
    const pod = ['spec', 'template', 'spec'] as const;
    const text = textAt(pick(objects, 'ConfigMap', '-config'), 'data', 'promscaler.yaml');
    const key = Buffer.from(textAt(pick(objects, 'Secret', '-peers'), 'data', 'key'), 'base64').toString();

    expect(key).toMatch(/^[A-Za-z0-9]{48}$/);
    expect(parse(text)).toMatchObject({ server: { peerKeyFile: '/etc/promscaler/peers/key' } });
    expect(listAt(deployment, ...pod, 'volumes')).toContainEqual({
      name: 'peers',
      secret: { secretName: 'rel-promscaler-peers', defaultMode: 288, optional: true },
    });
    expect(listAt(deployment, ...pod, 'containers', 0, 'volumeMounts')).toContainEqual({
      name: 'peers',
      mountPath: '/etc/promscaler/peers',
      readOnly: true,
    });
    expect(JSON.stringify(objects.filter(({ kind }) => String(kind).endsWith('Role')))).not.toContain(
      'secrets',
    );
  });

  it('takes the key from an existing Secret, and then renders no other one', () => {
    const given = render(helm, { ...SHARDED, peers: { existingSecret: 'peer-key' } });
    const volumes = listAt(pick(given, 'Deployment'), 'spec', 'template', 'spec', 'volumes');

    expect(given.some(({ kind }) => kind === 'Secret')).toBe(false);
    expect(JSON.stringify(volumes)).toContain('"secretName":"peer-key"');
  });

  it('gives each pod its address', () => {
    const env = listAt(pick(objects, 'Deployment'), 'spec', 'template', 'spec', 'containers', 0, 'env');

    expect(env).toContainEqual({ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } });
  });
});

describe('several replicas without sharding', () => {
  it('reach each other, so that a standby answers with the scalers of the leader; one replica does not', async () => {
    const helm = await startHelm();
    const reach = (replicas: number): readonly boolean[] => {
      const objects = render(helm, { replicas });
      const policy = pick(objects, 'NetworkPolicy');
      const env = listAt(pick(objects, 'Deployment'), 'spec', 'template', 'spec', 'containers', 0, 'env');
      return [
        JSON.stringify(listAt(policy, 'spec', 'ingress', 0, 'from')).includes(JSON.stringify(PODS)),
        JSON.stringify(listAt(policy, 'spec', 'egress')).includes(JSON.stringify([PODS])),
        JSON.stringify(env).includes('POD_IP'),
      ];
    };

    expect([reach(1), reach(2)]).toEqual([
      [false, false, false],
      [true, true, true],
    ]);
  });
});
