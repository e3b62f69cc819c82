import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { HPA_TARGET, hpaHead, hpaWithMetric, hpaYaml, importAll, importOne } from './importing.js';

describe('settings without an equivalent', () => {
  it.each([
    [
      'an unknown field',
      hpaYaml('maxReplicaCount: 3'),
      'spec.maxReplicaCount is not a known field; did you mean "maxReplicas"?; the field is not carried over',
    ],
    [
      'another resource',
      hpaWithMetric(
        '{ type: Resource, resource: { name: nvidia.com/gpu, target: { averageUtilization: 60 } } }',
      ),
      'spec.metrics[0].resource is the resource "nvidia.com/gpu"',
    ],
    [
      'an unknown type',
      hpaWithMetric('{ type: Node, node: { name: x } }'),
      'spec.metrics[0] is not a metric: type must be one of Resource',
    ],
    [
      'a missing target',
      hpaWithMetric('{ type: Resource, resource: { name: cpu } }'),
      'spec.metrics[0].resource has no target',
    ],
    [
      'a second metric of a resource',
      hpaYaml(
        'metrics:\n  - { resource: { name: cpu, target: { averageUtilization: 5 } } }\n  - { resource: { name: cpu, target: { averageValue: 1 } } }',
      ),
      'spec.metrics[1] is commented out',
    ],
    [
      'an invalid type',
      hpaYaml('behavior: { scaleUp: { stabilizationWindowSeconds: "60" } }'),
      'spec.behavior.scaleUp.stabilizationWindowSeconds is "60", must be an integer',
    ],
    [
      'a window that is too long',
      hpaYaml('behavior: { scaleUp: { stabilizationWindowSeconds: 3601 } }'),
      'spec.behavior.scaleUp.stabilizationWindowSeconds is not carried over',
    ],
    [
      'no policies',
      hpaYaml('behavior: { scaleUp: { policies: [] } }'),
      'spec.behavior.scaleUp.policies is empty',
    ],
    ['minReplicas 0 of cpu', hpaYaml('minReplicas: 0'), 'spec.minReplicas is 0; 1 is used'],
    [
      'minReplicas above maxReplicas',
      hpaYaml('minReplicas: 10'),
      'spec.minReplicas is 10, above maxReplicas; 9 is used',
    ],
    [
      'an owner',
      `${hpaHead('autoscaling/v2').replace('shop }', 'shop, ownerReferences: [{ controller: true, kind: App, name: a }] }')}spec: { maxReplicas: 3, ${HPA_TARGET} }`,
      'metadata.ownerReferences: App a controls this object',
    ],
  ])('%s is reported in a comment and a line', (_, text, expected) => {
    const { lost, scaler } = importOne(text);

    expect(lost).toHaveLength(1);
    expect(lost[0]).toContain(expected);
    expect(scaler).not.toBeNull();
  });

  it.each([
    [
      'a name',
      'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {}\nspec: { maxReplicas: 1 }',
      '(without a name): metadata.name is missing',
    ],
    [
      'a valid name',
      `${hpaHead('autoscaling/v2', 'Web_1')}spec: { maxReplicas: 3, ${HPA_TARGET} }`,
      'metadata.name is "Web_1", which is not a valid name',
    ],
    ['metadata', 'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler', 'metadata.name is missing'],
    ['a spec', hpaHead('autoscaling/v2'), 'spec is missing'],
    ['maxReplicas', `${hpaHead('autoscaling/v2')}spec: { ${HPA_TARGET} }`, 'spec.maxReplicas is missing'],
    ['a target', `${hpaHead('autoscaling/v2')}spec: { maxReplicas: 3 }`, 'spec.scaleTargetRef is missing'],
    [
      'a target that can be scaled',
      `${hpaHead('autoscaling/v2')}spec: { maxReplicas: 3, scaleTargetRef: { kind: DaemonSet, apiVersion: apps/v1, name: a } }`,
      'DaemonSet',
    ],
  ])('without %s are not imported', (_, text, expected) => {
    const { lost, scaler } = importOne(text);

    expect(scaler).toBeNull();
    expect(lost.join('\n')).toContain(expected);
  });
});

describe('names', () => {
  it('of metrics are unique, and omitted if the query implies them', () => {
    const external = (queue: string) =>
      `  - { type: External, external: { metric: { name: depth, selector: { matchLabels: { queue: ${queue} } } }, target: { value: 1 } } }`;
    const { spec } = importOne(hpaYaml(`metrics:\n${external('a')}\n${external('b')}`), {
      queries: ({ name, selector }) => ({ query: `sum(${name}{${selector.matchers.join()}})`, notes: [] }),
    });

    expect(spec).toMatchObject({
      metrics: [
        { external: { query: 'sum(depth{queue="a"})', target: { value: 1 } } },
        { external: { metric: { name: 'depth-2' }, query: 'sum(depth{queue="b"})', target: { value: 1 } } },
      ],
    });
    expect((spec as { metrics: { external: object }[] }).metrics[0]?.external).not.toHaveProperty('metric');
  });

  it('without a namespace get that of the context, with a comment unless it was chosen', () => {
    const text = hpaYaml('').replace(', namespace: shop', '');

    expect(importOne(text, { namespace: 'prod', isNamespaceGiven: true }).text).not.toContain(
      'metadata.namespace',
    );
    const { text: written, lost } = importOne(text, { namespace: 'prod', isNamespaceGiven: false });
    expect(parse(written)).toMatchObject({ metadata: { name: 'web', namespace: 'prod' } });
    expect(written).toContain(
      '  # metadata.namespace is missing; prod is used; -n selects another namespace\n',
    );
    expect(lost).toEqual([]);
  });

  it('that occur twice are imported once', () => {
    const [first, second] = importAll(`${hpaYaml('')}\n---\n${hpaYaml('', 'autoscaling/v2beta2')}`);

    expect(first?.scaler).not.toBeNull();
    expect(second).toMatchObject({ scaler: null });
    expect(second?.lost.join()).toContain('HPA shop/web of x.yaml has the same name');
  });
});
