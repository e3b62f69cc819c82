import { describe, expect, it } from '@jest/globals';
import { discover } from '../../../../src/simulator/api/discovery.js';
import { Catalog, makeResource } from '../../../../src/simulator/objects/resources.js';
import { listAt, stringAt } from '../../../../src/simulator/kinds/json.js';
import { send, startCluster } from '../../cluster.js';

const names = (path: string, catalog = new Catalog()): readonly (string | null)[] =>
  listAt(discover(catalog, path, 'localhost') ?? undefined, 'resources').map((entry) =>
    stringAt(entry, 'name'),
  );

describe('discovery', () => {
  it('lists groups, versions and resources with their subresources', () => {
    expect(names('/apis/apps/v1')).toEqual(
      expect.arrayContaining([
        'deployments',
        'deployments/status',
        'deployments/scale',
        'statefulsets/scale',
      ]),
    );
    expect(names('/api/v1')).toEqual(
      expect.arrayContaining(['pods', 'configmaps', 'replicationcontrollers/scale']),
    );
    expect(names('/apis/argoproj.io/v1alpha1')).toEqual(['rollouts', 'rollouts/status', 'rollouts/scale']);
    expect(
      listAt(discover(new Catalog(), '/apis', 'localhost') ?? undefined, 'groups').map((group) =>
        stringAt(group, 'name'),
      ),
    ).toEqual([
      'apps',
      'autoscaling',
      'apiextensions.k8s.io',
      'coordination.k8s.io',
      'events.k8s.io',
      'argoproj.io',
      'authorization.k8s.io',
    ]);
  });

  it('answers 404 for other groups', () => {
    expect(
      ['/apis/other', '/apis/apps/v2', '/api/v2', '/metrics'].map((path) =>
        discover(new Catalog(), path, 'localhost'),
      ),
    ).toEqual([null, null, null, null]);
  });

  it('serves an added resource, over HTTP, with its scale', async () => {
    const resource = makeResource(
      { group: 'example.com', version: 'v1', plural: 'fleets', kind: 'Fleet' },
      { subresources: ['status', 'scale'], isCustom: true, hasGeneration: true },
    );
    const { simulator } = await startCluster({ resources: [resource] });

    simulator.addObject({
      apiVersion: 'example.com/v1',
      kind: 'Fleet',
      metadata: { name: 'f', namespace: 'shop' },
      spec: { replicas: 2 },
      status: { replicas: 2, selector: 'fleet=f' },
    });
    const { body } = await send(simulator, 'GET', '/apis/example.com/v1/namespaces/shop/fleets/f/scale');

    expect(body).toMatchObject({ spec: { replicas: 2 }, status: { replicas: 2, selector: 'fleet=f' } });
    expect(stringAt((await send(simulator, 'GET', '/version')).body, 'gitVersion')).toBe('v1.36.2');
  });
});
