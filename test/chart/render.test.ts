import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { CASES } from './cases.js';
import {
  CHART,
  HELMS,
  HELM_TIMEOUT_MS,
  at,
  isMapping,
  pick,
  render,
  startHelm,
  template,
  textAt,
} from './helm.js';
import type { Helm, Rendered } from './helm.js';
import { manifestProblems } from './manifest-problems.js';

jest.setTimeout(HELM_TIMEOUT_MS);

const NAMES = Object.keys(CASES);

describe.each(HELMS)('with %s', (which) => {
  let helm: Helm;

  beforeAll(async () => {
    helm = await startHelm(which);
  });

  it('is the expected version', () => {
    expect(helm(['version', '--short']).stdout).toMatch(which === 'helm 3' ? /^v3\./ : /^v/);
  });

  it.each(NAMES)('lint --strict reports nothing in %s', (name) => {
    const { code, stdout, stderr } = helm(
      ['lint', '--strict', CHART, '-f', '-'],
      JSON.stringify(CASES[name]),
    );

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toMatch(/\[(WARNING|ERROR)\]/);
  });
});

describe('the rendered objects', () => {
  let helm: Helm;

  beforeAll(async () => {
    helm = await startHelm();
  });

  it.each(NAMES)('are accepted by an API server in %s', (name) => {
    const objects = render(helm, CASES[name] ?? {});

    expect(objects.length).toBeGreaterThanOrEqual(5);
    const wrong = objects.flatMap((object) =>
      manifestProblems(object).map((problem) => `${String(object['kind'])}: ${problem}`),
    );
    expect(wrong).toEqual([]);
  });

  it.each(NAMES)('have names, namespaces and labels in %s', (name) => {
    const objects = render(helm, CASES[name] ?? {});

    for (const object of objects) {
      const isDefinition = object['kind'] === 'CustomResourceDefinition';
      const isClusterWide = isDefinition || String(object['kind']).startsWith('Cluster');
      const isOfTargets = textAt(object, 'metadata', 'name').startsWith('ops-');
      expect(textAt(object, 'metadata', 'labels', 'app.kubernetes.io/instance')).toBe('rel');
      // A ServiceMonitor may be in the namespace where Prometheus selects it.
      const monitors = at(CASES[name] ?? {}, 'serviceMonitor', 'namespace');
      const own = object['kind'] === 'ServiceMonitor' && typeof monitors === 'string' ? monitors : 'ops';
      if (!isOfTargets && !isDefinition) expect(at(object, 'metadata', 'namespace')).toBe(own);
      if (isClusterWide) expect(at(object, 'metadata', 'namespace')).toBeUndefined();
      expect(nonTexts(at(object, 'metadata'))).toEqual([]);
      expect(nonTexts(at(object, 'data') ?? {})).toEqual([]);
    }
    const names = objects.map((object) =>
      [object['kind'], at(object, 'metadata', 'namespace'), at(object, 'metadata', 'name')].join(' '),
    );
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(NAMES)(
    'are the same from every helm in %s, but for the key that is drawn for the replicas',
    async (name) => {
      const texts = await Promise.all(
        HELMS.map(async (which) =>
          template(await startHelm(which), CASES[name]).stdout.replace(/^ {2}key: \S+$/m, '  key: DRAWN'),
        ),
      );

      expect(new Set(texts).size).toBe(1);
    },
  );

  it('have annotations and labels as strings even if YAML 1.1 would read another type', () => {
    const objects = render(helm, {
      ...CASES['everything'],
      serviceMonitor: { enabled: false },
      prometheusRule: { enabled: false },
      service: { scrapeAnnotations: true, annotations: { b: '012' } },
    });
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
      team: 'on',
      'app.kubernetes.io/name': 'promscaler',
      'app.kubernetes.io/instance': 'rel',
    });
    expect(at(pod, 'annotations', 'c')).toBe('yes');
  });

  it('have the common labels everywhere, next to their own', () => {
    for (const object of render(helm, CASES['everything'])) {
      expect(at(object, 'metadata', 'labels', 'team')).toBe('on');
      expect(at(object, 'metadata', 'labels', 'app.kubernetes.io/name')).toMatch(/^promscaler(-test)?$/);
    }
  });

  it('select their own pods, whatever labels the values set', () => {
    const podLabels = { 'app.kubernetes.io/name': 'other', app: 'x' };
    const objects = render(helm, { podLabels });
    const selector = { 'app.kubernetes.io/name': 'promscaler', 'app.kubernetes.io/instance': 'rel' };
    const deployment = pick(objects, 'Deployment');

    expect(at(deployment, 'spec', 'selector')).toEqual({ matchLabels: selector });
    expect(at(deployment, 'spec', 'template', 'metadata', 'labels')).toEqual({ ...selector, app: 'x' });
    expect(at(pick(objects, 'Service'), 'spec', 'selector')).toEqual(selector);
  });

  it('have names of 63 characters with a release name of 53', () => {
    const release = 'r'.repeat(53);
    const values = { ...CASES['everything'], fullnameOverride: '', nameOverride: 'n'.repeat(58) };
    const { code, stdout } = helm(['template', release, CHART, '-f', '-'], JSON.stringify(values));

    expect(code).toBe(0);
    const names = [...stdout.matchAll(/^ {2}name: "?([^"\n]+)/gm)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(20);
    expect(Math.max(...names.map((name) => name.replace(/^default-/, '').length))).toBeLessThanOrEqual(63);
    expect(Math.max(...[...stdout.matchAll(/: "?(n+-?[a-z]*)/g)].map(([, name = '']) => name.length))).toBe(
      63,
    );
  });

  it('cover every template file with one of the cases', () => {
    const rendered = NAMES.map((name) => template(helm, CASES[name]).stdout).join('');
    const files = readdirSync(join(CHART, 'templates'), { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('.yaml'));

    expect(files).toContain('tests/doctor.yaml');
    for (const file of files) expect(rendered).toContain(`# Source: promscaler/templates/${file}`);
  });
});

describe('manifestProblems', () => {
  let deployment: Rendered;

  beforeAll(async () => {
    deployment = pick(render(await startHelm()), 'Deployment');
  });

  const inPod = (change: (pod: Record<string, unknown>) => void): Rendered => {
    const copy = structuredClone(deployment);
    const pod = at(copy, 'spec', 'template', 'spec');
    if (isMapping(pod)) change(pod);
    return copy;
  };
  const inSpec = (fields: Rendered): Rendered => ({
    ...deployment,
    spec: { ...(isMapping(deployment['spec']) ? deployment['spec'] : {}), ...fields },
  });

  it('reports nothing for a valid object', () => {
    expect(manifestProblems(deployment)).toEqual([]);
  });

  it.each([
    ['a misspelt field', () => inSpec({ replcas: 3 }), '/spec/replcas: no such field'],
    [
      'a misspelt field deep inside',
      () => inPod((pod) => (pod['containers'] = [{ name: 'x', env: [], volumeMounts: [], imge: 'y' }])),
      '/spec/template/spec/containers/0/imge: no such field',
    ],
    ['a string for a number', () => inSpec({ replicas: '3' }), 'data/spec/replicas must be integer'],
    [
      'a value that is not allowed',
      () => inSpec({ strategy: { type: 'Recrate' } }),
      'data/spec/strategy/type must be equal to one of the allowed values',
    ],
    [
      'an unknown kind',
      () => ({ ...deployment, kind: 'Deplyment' }),
      'nothing is known of apps/v1 Deplyment',
    ],
    [
      'a mount of nothing',
      () => inPod((pod) => (pod['volumes'] = [{ name: 'config', configMap: { name: 'x' } }])),
      'no volume is called scalers',
    ],
    [
      'a name in capitals',
      () => ({ ...deployment, metadata: { name: 'Web' } }),
      '/metadata/name: Web is no name',
    ],
    [
      'an invalid label',
      () => ({ ...deployment, metadata: { name: 'web', labels: { a: '-x' } } }),
      '/metadata/labels/a: -x is no label',
    ],
  ])('reports %s', (_what, make, problem) => {
    expect(manifestProblems(make()).join('\n')).toContain(problem);
  });
});

/** Returns the paths of the scalars that are not strings. */
function nonTexts(value: unknown, path = ''): readonly string[] {
  if (typeof value === 'string') return [];
  if (!isMapping(value)) return [`${path}: ${JSON.stringify(value)}`];
  return Object.entries(value).flatMap(([key, member]) => nonTexts(member, `${path}.${key}`));
}
