import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parse } from 'yaml';
import { HELMS, HELM_TIMEOUT_MS, at, listAt, pick, render, startHelm, template, textAt } from './helm.js';
import type { Helm, Rendered, Values } from './helm.js';

jest.setTimeout(HELM_TIMEOUT_MS);

/** Settings that most charts have. */
describe.each(HELMS)('with %s', (which) => {
  let helm: Helm;

  beforeAll(async () => {
    helm = await startHelm(which);
  });

  const containerOf = (values: Values): unknown =>
    at(pick(render(helm, values), 'Deployment'), 'spec', 'template', 'spec', 'containers', 0);
  const hostsOf = (objects: readonly Rendered[]): unknown =>
    at(
      parse(textAt(pick(objects, 'ConfigMap', '-config'), 'data', 'promscaler.yaml')),
      'server',
      'allowedHosts',
    );

  it.each<[string, Values, string]>([
    ['none', { image: { tag: 'v1' } }, 'promscaler:v1'],
    ['its own registry', { image: { tag: 'v1', registry: 'r.example' } }, 'r.example/promscaler:v1'],
    [
      'a registry with a path and a slash',
      { image: { tag: 'v1', registry: 'r.example/a/' } },
      'r.example/a/promscaler:v1',
    ],
    [
      'the global registry',
      { image: { tag: 'v1', registry: 'r.example' }, global: { imageRegistry: 'g.example:5000' } },
      'g.example:5000/promscaler:v1',
    ],
    [
      'the global registry and a digest',
      { image: { digest: `sha256:${'0'.repeat(64)}` }, global: { imageRegistry: 'g.example', other: 1 } },
      `g.example/promscaler@sha256:${'0'.repeat(64)}`,
    ],
  ])('the image comes from %s, also that of helm test', (_, values, image) => {
    expect(at(containerOf(values), 'image')).toBe(image);
    const test = pick(render(helm, values), 'Pod');
    expect(at(test, 'spec', 'containers', 0, 'image')).toBe(image);
  });

  it('the Service has the type, the port and the port of the nodes that are set', () => {
    const serviceOf = (service: Values): unknown => pick(render(helm, { service }), 'Service')['spec'];

    expect(serviceOf({})).toMatchObject({ type: 'ClusterIP', ports: [{ port: 8080, targetPort: 'http' }] });
    expect(serviceOf({ type: 'LoadBalancer', port: 80 })).toMatchObject({
      type: 'LoadBalancer',
      ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }],
    });
    expect(serviceOf({ type: 'NodePort', nodePort: 30_080 })).toMatchObject({
      type: 'NodePort',
      ports: [{ port: 8080, nodePort: 30_080 }],
    });
  });

  it('no Ingress is rendered by default', () => {
    expect(render(helm).map(({ kind }) => kind)).not.toContain('Ingress');
  });

  it('an Ingress routes each host to the Service by the name of its port, and the service accepts the host', () => {
    const objects = render(helm, {
      service: { port: 80 },
      allowedHosts: ['gateway.example.com', 'b.example.com'],
      ingress: {
        enabled: true,
        className: 'nginx',
        annotations: { 'cert-manager.io/cluster-issuer': 'le' },
        hosts: [
          { host: 'a.example.com' },
          { host: 'b.example.com', paths: [{ path: '/api', pathType: 'Exact' }] },
        ],
        tls: [{ secretName: 'tls', hosts: ['a.example.com'] }],
      },
    });
    const backend = { service: { name: 'rel-promscaler', port: { name: 'http' } } };
    const ingress = pick(objects, 'Ingress');

    expect(at(ingress, 'metadata', 'annotations')).toEqual({ 'cert-manager.io/cluster-issuer': 'le' });
    expect(ingress['spec']).toEqual({
      ingressClassName: 'nginx',
      rules: [
        { host: 'a.example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } },
        { host: 'b.example.com', http: { paths: [{ path: '/api', pathType: 'Exact', backend }] } },
      ],
      tls: [{ secretName: 'tls', hosts: ['a.example.com'] }],
    });
    expect(hostsOf(objects)).toEqual([
      'rel-promscaler.ops',
      'gateway.example.com',
      'b.example.com',
      'a.example.com',
    ]);
    expect(hostsOf(render(helm, { ingress: { hosts: [{ host: 'a.example.com' }] } }))).toEqual([
      'rel-promscaler.ops',
    ]);
  });

  it('single fields of the probes are replaced, and a startup probe is added', () => {
    const container = containerOf({
      livenessProbe: { initialDelaySeconds: 0, failureThreshold: 10 },
      readinessProbe: { timeoutSeconds: 5 },
      startupProbe: { periodSeconds: 2, failureThreshold: 60 },
    });
    const healthz = { path: '/healthz', port: 'http' };

    expect(at(container, 'livenessProbe')).toEqual({
      httpGet: healthz,
      initialDelaySeconds: 0,
      periodSeconds: 10,
      timeoutSeconds: 3,
      failureThreshold: 10,
    });
    expect(at(container, 'readinessProbe')).toEqual({
      httpGet: { path: '/readyz', port: 'http' },
      periodSeconds: 5,
      timeoutSeconds: 5,
    });
    expect(at(container, 'startupProbe')).toEqual({
      httpGet: healthz,
      periodSeconds: 2,
      failureThreshold: 60,
    });
    expect(at(containerOf({}), 'startupProbe')).toBeUndefined();
  });

  it('the strategy of updates is replaced as a whole', () => {
    const strategyOf = (values: Values): unknown =>
      at(pick(render(helm, values), 'Deployment'), 'spec', 'strategy');

    expect(strategyOf({})).toEqual({
      type: 'RollingUpdate',
      rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
    });
    expect(strategyOf({ updateStrategy: { type: 'Recreate' } })).toEqual({ type: 'Recreate' });
    const own = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } };
    expect(strategyOf({ replicas: 2, updateStrategy: own })).toEqual(own);
    expect(strategyOf({ leaderElection: { enabled: false }, updateStrategy: { type: 'Recreate' } })).toEqual({
      type: 'Recreate',
    });
  });

  it('extra objects are rendered as maps and strings, with the values of the release', () => {
    const map = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: '{{ .Release.Name }}-map' },
      data: { image: '{{ include "promscaler.image" . }}' },
    };
    const text = 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ .Release.Name }}-text\n';
    const objects = render(helm, { image: { tag: 'v1' }, extraObjects: [map, text] });

    expect(at(pick(objects, 'ConfigMap', 'rel-map'), 'data')).toEqual({ image: 'promscaler:v1' });
    expect(at(pick(objects, 'Secret', 'rel-text'), 'metadata', 'name')).toBe('rel-text');
  });

  it('an upgrade with --reuse-values from a release without these values keeps its defaults', () => {
    // Null removes a default, as a release of an earlier chart lacks it.
    const removed = {
      global: null,
      livenessProbe: null,
      readinessProbe: null,
      startupProbe: null,
      updateStrategy: null,
      extraObjects: null,
    };

    expect(template(helm, removed).stderr).toBe('');
    expect(
      listAt(pick(render(helm, removed), 'Deployment'), 'spec', 'template', 'spec', 'containers'),
    ).toEqual(listAt(pick(render(helm), 'Deployment'), 'spec', 'template', 'spec', 'containers'));
  });
});
