import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parse } from 'yaml';
import {
  CHART,
  HELM_TIMEOUT_MS,
  ROOT,
  at,
  isMapping,
  listAt,
  pick,
  render,
  startHelm,
  template,
  textAt,
} from './helm.js';
import type { Helm, Rendered, Values } from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

let helm: Helm;

beforeAll(async () => {
  helm = await startHelm();
});

const SCALER = {
  apiVersion: 'promscaler.dev/v1',
  kind: 'Scaler',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { scaleTargetRef: { name: 'web' }, maxReplicas: 5 },
};

/** Each of them changes something that is rendered, and all of them together. */
const CASES: Readonly<Record<string, Values>> = {
  'no values': {},
  'a URL': { prometheus: { url: 'https://prometheus.example.com/prefix' } },
  'two namespaces': { namespaces: ['shop', 'pay'] },
  'two kinds, one of them outside of apps': { targets: ['statefulsets', 'rollouts.argoproj.io'] },
  'no rights and no account': { rbac: { create: false }, serviceAccount: { create: false } },
  'a scaler': { scalers: { web: SCALER } },
  'names that look like something else': { fullnameOverride: 'null', serviceAccount: { name: '0x1f' } },
  'null in the place of mappings': {
    config: null,
    scalers: null,
    secrets: null,
    resources: null,
    podLabels: null,
    podAnnotations: null,
    service: { annotations: null },
  },
  everything: {
    image: { repository: 'registry.example.com/promscaler', digest: `sha256:${'0'.repeat(64)}` },
    imagePullSecrets: [{ name: 'pull' }],
    namespaces: ['shop'],
    targets: ['deployments'],
    dryRun: true,
    config: { prometheus: { default: { urls: ['http://p:9090'] } }, log: { level: 'debug' } },
    scalers: { web: SCALER, 'text.v2': '# a text\n' },
    secrets: ['token', 'other.secret'],
    serviceAccount: { name: 'scaler', annotations: { a: 'on' } },
    service: { scrapeAnnotations: true, annotations: { b: '012' } },
    podAnnotations: { c: 'yes' },
    podLabels: { d: '1e3' },
    nodeSelector: { arch: 'amd64' },
    tolerations: [{ key: 'spot', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    priorityClassName: 'high',
    global: { anything: true },
  },
};

/** The members that each kind may have beside apiVersion, kind and metadata. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  ServiceAccount: ['automountServiceAccountToken'],
  ConfigMap: ['data'],
  ClusterRole: ['rules'],
  ClusterRoleBinding: ['roleRef', 'subjects'],
  Role: ['rules'],
  RoleBinding: ['roleRef', 'subjects'],
  Service: ['spec'],
  Deployment: ['spec'],
};

describe('helm lint --strict', () => {
  it.each(Object.keys(CASES))('finds nothing with %s', (name) => {
    const { code, stdout, stderr } = helm(
      ['lint', '--strict', CHART, '-f', '-'],
      JSON.stringify(CASES[name]),
    );

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toMatch(/\[(WARNING|ERROR)\]/);
  });
});

describe('what is rendered', () => {
  it.each(Object.keys(CASES))('has kinds, names and labels with %s', (name) => {
    const objects = render(helm, CASES[name] ?? {});

    expect(objects.length).toBeGreaterThanOrEqual(4);
    for (const object of objects) {
      const kind = textAt(object, 'kind');
      expect(textAt(object, 'apiVersion')).toMatch(/^(v1|apps\/v1|rbac\.authorization\.k8s\.io\/v1)$/);
      expect(textAt(object, 'metadata', 'name')).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
      expect(textAt(object, 'metadata', 'labels', 'app.kubernetes.io/instance')).toBe('rel');
      expect(Object.keys(object).sort()).toEqual(
        ['apiVersion', 'kind', 'metadata', ...(MEMBERS[kind] ?? [])].sort(),
      );
      const isClusterWide = kind.startsWith('Cluster');
      const isInTarget = kind === 'Role' || kind === 'RoleBinding';
      if (!isInTarget) expect(at(object, 'metadata', 'namespace')).toBe(isClusterWide ? undefined : 'ops');
      expect(nonTexts(at(object, 'metadata'))).toEqual([]);
      expect(nonTexts(at(object, 'data') ?? {})).toEqual([]);
    }
    const names = objects.map((object) =>
      [object['kind'], at(object, 'metadata', 'namespace'), at(object, 'metadata', 'name')].join(' '),
    );
    expect(new Set(names).size).toBe(names.length);
  });

  it('has annotations and labels as texts also where YAML 1.1 would read something else', () => {
    const objects = render(helm, CASES['everything']);
    const pod = at(pick(objects, 'Deployment'), 'spec', 'template', 'metadata');

    expect(at(pick(objects, 'ServiceAccount'), 'metadata', 'annotations')).toEqual({ a: 'on' });
    expect(at(pick(objects, 'Service'), 'metadata', 'annotations')).toEqual({
      b: '012',
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': '8080',
      'prometheus.io/path': '/metrics',
    });
    expect(at(pod, 'labels')).toEqual({
      d: '1e3',
      'app.kubernetes.io/name': 'promscaler',
      'app.kubernetes.io/instance': 'rel',
    });
    expect(at(pod, 'annotations', 'c')).toBe('yes');
  });

  it('selects its own pods, whatever labels the values give them', () => {
    const podLabels = { 'app.kubernetes.io/name': 'other', app: 'x' };
    const objects = render(helm, { podLabels });
    const selector = { 'app.kubernetes.io/name': 'promscaler', 'app.kubernetes.io/instance': 'rel' };
    const deployment = pick(objects, 'Deployment');

    expect(at(deployment, 'spec', 'selector')).toEqual({ matchLabels: selector });
    expect(at(deployment, 'spec', 'template', 'metadata', 'labels')).toEqual({ ...selector, app: 'x' });
    expect(at(pick(objects, 'Service'), 'spec', 'selector')).toEqual(selector);
  });

  it('keeps names at 63 characters with a release name of 53', () => {
    const release = 'r'.repeat(53);
    const { code, stdout } = helm(['template', release, CHART]);

    expect(code).toBe(0);
    const names = [...stdout.matchAll(/^ {2}name: "?([^"\n]+)/gm)].map(([, name = '']) => name);
    expect(Math.max(...names.map((name) => name.replace(/^default-/, '').length))).toBeLessThanOrEqual(63);
  });
});

describe('the Deployment', () => {
  const podOf = (objects: readonly Rendered[]): unknown =>
    at(pick(objects, 'Deployment'), 'spec', 'template', 'spec');
  const containerOf = (objects: readonly Rendered[]): unknown => at(podOf(objects), 'containers', 0);

  it('is one replica that ends before the next one begins, within 20 s', () => {
    const deployment = pick(render(helm), 'Deployment');

    expect(at(deployment, 'spec', 'replicas')).toBe(1);
    expect(at(deployment, 'spec', 'strategy')).toEqual({ type: 'Recreate' });
    expect(at(deployment, 'spec', 'template', 'spec', 'terminationGracePeriodSeconds')).toBe(20);
  });

  it('fits the restricted Pod Security Standard', () => {
    const objects = render(helm, CASES['everything']);

    expect(at(podOf(objects), 'securityContext')).toEqual({
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      fsGroup: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(at(containerOf(objects), 'securityContext')).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const volumes = listAt(podOf(objects), 'volumes');
    const sources = volumes.flatMap((volume) => (isMapping(volume) ? Object.keys(volume) : []));
    expect(new Set(sources)).toEqual(new Set(['name', 'configMap', 'secret']));
    for (const name of ['hostNetwork', 'hostPID', 'hostIPC'])
      expect(at(podOf(objects), name)).toBeUndefined();
  });

  it('asks /healthz and /readyz of the port that the Service leads to', () => {
    const objects = render(helm);
    const container = containerOf(objects);

    expect(listAt(container, 'ports')).toEqual([{ name: 'http', containerPort: 8080, protocol: 'TCP' }]);
    expect(at(container, 'livenessProbe', 'httpGet')).toEqual({ path: '/healthz', port: 'http' });
    expect(at(container, 'readinessProbe', 'httpGet')).toEqual({ path: '/readyz', port: 'http' });
    expect(listAt(pick(objects, 'Service'), 'spec', 'ports')).toEqual([
      { name: 'http', port: 8080, targetPort: 'http', protocol: 'TCP' },
    ]);
    expect(listAt(container, 'env')).toEqual([
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ]);
  });

  it('mounts config, scalers and secrets as folders, of which the kubelet brings changes', () => {
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

describe('NOTES.txt', () => {
  const notes = (values: Values): string => {
    const args = ['install', 'rel', CHART, '--dry-run=client', '--namespace', 'ops', '-f', '-'];
    const { code, stdout, stderr } = helm(args, JSON.stringify(values));
    expect({ code, stderr: stderr.replace(/^level=.*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
    return stdout.slice(stdout.indexOf('NOTES:'));
  };

  it('names the next step: an address and a document where none is given, then where to look', () => {
    expect(notes({})).toContain('--set prometheus.url=');
    expect(notes({})).toContain('--set-file scalers.');
    const done = notes({
      prometheus: { url: 'http://p' },
      scalers: { web: SCALER },
      namespaces: ['a', 'b'],
      dryRun: true,
    });
    expect(done).not.toContain('--set');
    expect(done).toContain('works on the namespaces a, b, and patches nothing (dryRun).');
    expect(done).toContain('kubectl logs -f -n ops deployment/rel-promscaler');
  });
});

describe('a fault in the templates', () => {
  it('would be seen: every file is rendered by one of the cases', () => {
    const { stdout } = template(helm, CASES['everything']);
    const files = readdirSync(join(CHART, 'templates')).filter((name) => name.endsWith('.yaml'));

    for (const file of files) expect(stdout).toContain(`# Source: promscaler/templates/${file}`);
  });
});

/** Paths of the scalars that are no texts. */
function nonTexts(value: unknown, path = ''): readonly string[] {
  if (typeof value === 'string') return [];
  if (!isMapping(value)) return [`${path}: ${JSON.stringify(value)}`];
  return Object.entries(value).flatMap(([key, member]) => nonTexts(member, `${path}.${key}`));
}
