import { describe, expect, it } from '@jest/globals';
import { makeManifest } from '../../../src/simulator/controllers/manifests.js';
import { type JsonObject, listAt, objectAt, stringAt } from '../../../src/simulator/kinds/json.js';
import { type Answer, DEPLOYMENTS, PODS, WEB, send, startCluster } from '../cluster.js';

const MAPS = '/api/v1/namespaces/shop/configmaps';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/shop/leases';
const AUTOSCALERS = '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers';

/** Returns `REASON FIELD` of each cause. */
function causes({ body }: Answer): readonly string[] {
  return listAt(body, 'details', 'causes').map(
    (cause) => `${stringAt(cause, 'reason') ?? ''} ${stringAt(cause, 'field') ?? ''}`,
  );
}

describe('a rejected write:', () => {
  const manifest = makeManifest({ ...WEB, name: 'new' });
  const spec = objectAt(manifest, 'spec');
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  const bounds = { minReplicas: 1, maxReplicas: 5, scaleTargetRef: target };

  it.each<[string, string, JsonObject, readonly string[]]>([
    ['an invalid name', MAPS, { metadata: { name: 'A_b' } }, ['FieldValueInvalid metadata.name']],
    ['no name', MAPS, { metadata: {} }, ['FieldValueRequired metadata.name']],
    [
      'an invalid label',
      MAPS,
      { metadata: { name: 'a', labels: { x: 'a b' } } },
      ['FieldValueInvalid metadata.labels'],
    ],
    [
      'an invalid key',
      MAPS,
      { metadata: { name: 'a' }, data: { 'a/b': '' } },
      ['FieldValueInvalid data[a/b]'],
    ],
    [
      'a lease of 0 s',
      LEASES,
      { metadata: { name: 'a' }, spec: { leaseDurationSeconds: 0 } },
      ['FieldValueInvalid spec.leaseDurationSeconds'],
    ],
    [
      'negative replicas and no containers',
      DEPLOYMENTS,
      { ...manifest, spec: { ...spec, replicas: -1, template: { metadata: { labels: { app: 'new' } } } } },
      ['FieldValueInvalid spec.replicas', 'FieldValueRequired spec.template.spec.containers'],
    ],
    [
      'a selector for other pods',
      DEPLOYMENTS,
      { ...manifest, spec: { ...spec, selector: { matchLabels: { app: 'other' } } } },
      ['FieldValueInvalid spec.template.metadata.labels'],
    ],
    [
      'no selector',
      DEPLOYMENTS,
      { ...manifest, spec: { ...spec, selector: null } },
      ['FieldValueRequired spec.selector'],
    ],
    [
      'more replicas at least than at most',
      AUTOSCALERS,
      { metadata: { name: 'a' }, spec: { ...bounds, minReplicas: 6 } },
      ['FieldValueInvalid spec.maxReplicas'],
    ],
    [
      'a metric without its source',
      AUTOSCALERS,
      { metadata: { name: 'a' }, spec: { ...bounds, metrics: [{ type: 'Pods' }] } },
      ['FieldValueRequired spec.metrics[0].pods'],
    ],
    [
      'a deletion cost that is not a number',
      PODS,
      {
        metadata: { name: 'a', annotations: { 'controller.kubernetes.io/pod-deletion-cost': '1.5' } },
        spec: { containers: [{ name: 'a', image: 'b' }] },
      },
      ['FieldValueInvalid metadata.annotations[controller.kubernetes.io/pod-deletion-cost]'],
    ],
  ])('%s: 422 with the causes', async (_, path, body, expected) => {
    const { simulator } = await startCluster({ namespaces: ['shop'] });

    const answer = await send(simulator, 'POST', path, { body });

    expect(answer.code).toBe(422);
    expect(causes(answer)).toEqual(expected);
  });

  it('another selector of a Deployment, and another image of a pod only of its containers', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    const [pod] = simulator.listObjects('/pods');
    const path = `${PODS}/${pod?.metadata.name ?? ''}`;
    const labels = { app: 'web', more: 'x' };

    const selector = await send(simulator, 'PATCH', `${DEPLOYMENTS}/web`, {
      body: { spec: { selector: { matchLabels: labels }, template: { metadata: { labels } } } },
    });
    const node = await send(simulator, 'PATCH', path, { body: { spec: { nodeName: 'other' } } });
    const image = await send(simulator, 'PATCH', path, {
      body: { spec: { containers: [{ name: 'app', image: 'y' }] } },
      type: 'application/strategic-merge-patch+json',
    });

    expect(causes(selector)).toEqual(['FieldValueInvalid spec.selector']);
    expect(causes(node)).toEqual(['FieldValueForbidden spec']);
    expect(image.code).toBe(200);
  });

  it('a PUT without resourceVersion, of a Lease but not of a ConfigMap', async () => {
    const { simulator } = await startCluster({ namespaces: ['shop'] });
    await send(simulator, 'POST', MAPS, { body: { metadata: { name: 'a' } } });
    await send(simulator, 'PUT', `${LEASES}/a`, { body: { metadata: { name: 'a' } } });

    const lease = await send(simulator, 'PUT', `${LEASES}/a`, { body: { metadata: { name: 'a' } } });
    const map = await send(simulator, 'PUT', `${MAPS}/a`, { body: { metadata: { name: 'a' } } });

    expect([causes(lease), map.code]).toEqual([['FieldValueInvalid metadata.resourceVersion'], 200]);
  });

  it('a body above 3 MiB: 413', async () => {
    const { simulator } = await startCluster({ namespaces: ['shop'] });

    const body = { metadata: { name: 'a' }, data: { a: 'x'.repeat(3 * 1024 * 1024) } };
    const answer = await send(simulator, 'POST', MAPS, { body });

    expect([answer.code, answer.body['reason']]).toEqual([413, 'RequestEntityTooLarge']);
  });
});

describe('fieldValidation', () => {
  const body = { metadata: { name: 'a' }, datta: {}, data: { a: '1' } };

  it('Strict rejects unknown fields, Warn drops them with a warning, Ignore without one', async () => {
    const { simulator } = await startCluster({ namespaces: ['shop'] });

    const strict = await send(simulator, 'POST', `${MAPS}?fieldValidation=Strict`, { body });
    const warned = await send(simulator, 'POST', `${MAPS}?fieldValidation=Warn&dryRun=All`, { body });
    const ignored = await send(simulator, 'POST', `${MAPS}?fieldValidation=Ignore`, { body });
    const unknown = await send(simulator, 'POST', `${MAPS}?fieldValidation=Loud`, { body });

    expect([strict, warned, ignored, unknown].map(({ code }) => code)).toEqual([400, 201, 201, 422]);
    expect(strict.body['message']).toContain('strict decoding error: unknown field "datta"');
    expect(warned.headers.get('warning')).toBe('299 - "unknown field \\"datta\\""');
    expect(ignored.headers.get('warning')).toBeNull();
    expect(ignored.body['datta']).toBeUndefined();
  });

  it('Warn limits the length of the header, whatever the names of the fields', async () => {
    const { simulator } = await startCluster({ namespaces: ['shop'] });
    const names = Array.from({ length: 100 }, (_, index) => `ü\n${'x'.repeat(1000)}${index}`);

    const answer = await send(simulator, 'POST', MAPS, {
      body: { metadata: { name: 'a' }, ...Object.fromEntries(names.map((name) => [name, 1])) },
    });

    expect(answer.code).toBe(201);
    expect(answer.headers.get('warning')?.split(', ')).toHaveLength(20);
  });

  it('Strict rejects an unknown field of a scale patch', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });

    const answer = await send(simulator, 'PATCH', `${DEPLOYMENTS}/web/scale?fieldValidation=Strict`, {
      body: { spec: { replicas: 5, wrong: 1 } },
    });

    expect([answer.code, causes(answer)]).toEqual([422, ['FieldValueInvalid patch']]);
  });
});

describe('an autoscaler', () => {
  it('that has not computed yet has 0 desired replicas and no metrics, and is the same in v1', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

    const made = await send(simulator, 'POST', AUTOSCALERS, {
      body: {
        metadata: { name: 'web' },
        spec: { maxReplicas: 5, scaleTargetRef },
        status: { desiredReplicas: 3 },
      },
    });
    const first = await send(simulator, 'GET', AUTOSCALERS.replace('/v2/', '/v1/') + '/web');

    expect(made.body['status']).toEqual({ currentMetrics: null, desiredReplicas: 0 });
    expect(first.body).toMatchObject({
      apiVersion: 'autoscaling/v1',
      spec: { minReplicas: 1, targetCPUUtilizationPercentage: 80 },
      status: { currentReplicas: 0, desiredReplicas: 0 },
    });
  });
});
