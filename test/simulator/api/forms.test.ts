import { describe, expect, it } from '@jest/globals';
import { type JsonObject, listAt, stringAt, valueAt } from '../../../src/simulator/kinds/json.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { DEPLOYMENTS, PODS, WEB, send, startCluster } from '../cluster.js';

async function get(
  simulator: Simulator,
  path: string,
  accept: string,
): Promise<{ readonly code: number; readonly body: JsonObject }> {
  const response = await fetch(simulator.url + path, { headers: { accept } });
  return { code: response.status, body: (await response.json()) as JsonObject };
}

const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';

describe('the form of an answer', () => {
  it.each([
    ['', 'Deployment'],
    ['*/*', 'Deployment'],
    ['application/vnd.kubernetes.protobuf,application/json', 'Deployment'],
    ['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', 'PartialObjectMetadata'],
    [`${TABLE},application/json`, 'Table'],
    ['application/json;as=Chart,application/json', 'Deployment'],
  ])('for Accept "%s" is %s', async (accept, kind) => {
    const { simulator } = await startCluster({ workloads: [WEB] });

    expect((await get(simulator, `${DEPLOYMENTS}/web`, accept)).body['kind']).toBe(kind);
  });

  it.each(['text/html', 'application/yaml', 'application/json;as=Chart'])(
    'is rejected if Accept is only "%s"',
    async (accept) => {
      const { simulator } = await startCluster({ workloads: [WEB] });

      const answer = await get(simulator, `${DEPLOYMENTS}/web`, accept);

      expect([answer.code, answer.body['reason']]).toEqual([406, 'NotAcceptable']);
    },
  );

  it.each([
    ['', 'PartialObjectMetadata'],
    ['?includeObject=Object', 'Pod'],
    ['?includeObject=None', undefined],
  ])('has rows with the object that "%s" requests', async (query, kind) => {
    const { simulator } = await startCluster({ workloads: [WEB] });

    const { body } = await get(simulator, PODS + query, TABLE);

    expect(valueAt(body, 'rows', 0, 'object', 'kind')).toBe(kind);
  });

  it('has kind and apiVersion only in items of custom kinds', async () => {
    const { simulator } = await startCluster({ workloads: [WEB, { ...WEB, name: 'x', kind: 'Rollout' }] });

    const built = await send(simulator, 'GET', DEPLOYMENTS);
    const custom = await send(simulator, 'GET', '/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts');

    expect(stringAt(listAt(built.body, 'items')[0], 'kind')).toBeNull();
    expect(stringAt(listAt(custom.body, 'items')[0], 'kind')).toBe('Rollout');
  });
});

describe('the server, for unsupported requests,', () => {
  it('answers with a Status within a known group, and with plain text elsewhere', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });

    const gadget = await send(simulator, 'GET', '/apis/apps/v1/namespaces/shop/gadgets');
    const group = await send(simulator, 'GET', '/apis/nothing.example/v1');
    const log = await send(simulator, 'GET', `${PODS}/web-1/log`);
    const post = await send(simulator, 'POST', `${DEPLOYMENTS}/web`, { body: {} });

    expect([gadget, group, log, post].map(({ code }) => code)).toEqual([404, 404, 404, 405]);
    expect([gadget.body['kind'], group.body['text']]).toEqual(['Status', '404 page not found\n']);
  });

  it.each([
    [
      'spec.replicas=1',
      '"spec.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    [
      'status.replicas=1',
      '"status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
  ])('rejects the field selector %s', async (selector, message) => {
    const { simulator } = await startCluster({ workloads: [WEB] });

    const answer = await send(
      simulator,
      'GET',
      `${DEPLOYMENTS}?fieldSelector=${encodeURIComponent(selector)}`,
    );

    expect([answer.code, answer.body['message']]).toEqual([400, message]);
  });

  it('selects pods by phase and node, and rejects unsupported field selectors', async () => {
    const { simulator } = await startCluster({ workloads: [WEB] });
    const count = async (selector: string): Promise<number | string> => {
      const { code, body } = await send(
        simulator,
        'GET',
        `${PODS}?fieldSelector=${encodeURIComponent(selector)}`,
      );
      return code === 200 ? listAt(body, 'items').length : code;
    };

    expect(await count('status.phase=Running,spec.nodeName=node-1')).toBe(3);
    expect(await count('status.phase!=Running')).toBe(0);
    expect(await count('spec.hostNetwork=false')).toBe(3);
    expect(await count('spec.image=x')).toBe(400);
  });
});
