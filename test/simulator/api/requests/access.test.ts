import { describe, expect, it } from '@jest/globals';
import { valueAt } from '../../../../src/simulator/kinds/json.js';
import { DEPLOYMENTS, WEB, send, startCluster } from '../../cluster.js';

const USER = 'system:serviceaccount:ops:promscaler';
const rbac = {
  reader: {
    user: USER,
    rules: [
      {
        apiGroups: ['apps'],
        resources: ['deployments'],
        verbs: ['get', 'list', 'watch'],
        namespaces: ['shop'],
      },
      { apiGroups: ['apps'], resources: ['*/scale'], verbs: ['get'], namespaces: ['shop'] },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: ['state'] },
    ],
  },
  admin: { user: 'admin', rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] },
};

describe('authorization', () => {
  it('answers 401 without a token and for an unknown one', async () => {
    const { simulator } = await startCluster({ rbac });

    const none = await send(simulator, 'GET', DEPLOYMENTS);
    const wrong = await send(simulator, 'GET', DEPLOYMENTS, { token: 'wrong' });

    expect([none.code, wrong.code]).toEqual([401, 401]);
    expect(none.body['reason']).toBe('Unauthorized');
  });

  it('allows what a rule allows and answers 403 with the message of the real server', async () => {
    const { simulator } = await startCluster({ workloads: [WEB], rbac });
    const token = 'reader';

    const read = await send(simulator, 'GET', `${DEPLOYMENTS}/web/scale`, { token });
    const write = await send(simulator, 'PATCH', `${DEPLOYMENTS}/web/scale`, {
      token,
      body: { spec: { replicas: 9 } },
    });
    const everywhere = await send(simulator, 'GET', '/apis/apps/v1/deployments', { token });

    expect(read.code).toBe(200);
    expect(write.code).toBe(403);
    expect(write.body).toMatchObject({
      reason: 'Forbidden',
      message: `deployments.apps "web" is forbidden: User "${USER}" cannot patch resource "deployments/scale" in API group "apps" in the namespace "shop"`,
      details: { name: 'web', group: 'apps', kind: 'deployments' },
    });
    expect(everywhere.body['message']).toBe(
      `deployments.apps is forbidden: User "${USER}" cannot list resource "deployments" in API group "apps" at the cluster scope`,
    );
    expect(simulator.describe(WEB).replicas).toBe(3);
  });

  it('limits a rule with resourceNames to those names', async () => {
    const { simulator } = await startCluster({ namespaces: ['shop'], rbac });
    const maps = '/api/v1/namespaces/shop/configmaps';

    expect((await send(simulator, 'GET', `${maps}/state`, { token: 'reader' })).code).toBe(404);
    expect((await send(simulator, 'GET', `${maps}/other`, { token: 'reader' })).code).toBe(403);
  });

  it('denies a watch, too', async () => {
    const { simulator } = await startCluster({ rbac });

    expect((await send(simulator, 'GET', '/api/v1/pods?watch=1', { token: 'reader' })).code).toBe(403);
  });

  it('answers a SelfSubjectAccessReview from the rules', async () => {
    const { simulator } = await startCluster({ rbac });
    const ask = async (verb: string) => {
      const resourceAttributes = {
        verb,
        group: 'apps',
        resource: 'deployments',
        subresource: 'scale',
        namespace: 'shop',
      };
      const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
      const { body } = await send(simulator, 'POST', path, {
        token: 'reader',
        body: { spec: { resourceAttributes } },
      });
      return valueAt(body, 'status', 'allowed');
    };

    expect([await ask('get'), await ask('patch')]).toEqual([true, false]);
  });

  it('applies new rules while it runs', async () => {
    const { simulator } = await startCluster({ rbac });

    simulator.setRbac({ reader: { user: USER, rules: [] } });

    expect((await send(simulator, 'GET', DEPLOYMENTS, { token: 'reader' })).code).toBe(403);
  });
});
