import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import type { TargetRef } from '../../src/scaler/spec.js';
import { ClusterFixture, failureOf } from './cluster-fixture.js';
import { apiScale, json, status } from './fake-api-server.js';

const ROLLOUT: TargetRef = { apiVersion: 'argoproj.io/v1beta9', kind: 'Rollout', name: 'web' };
const ROLLOUT_SCALE = '/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/web/scale';

let fixture: ClusterFixture;

beforeEach(async () => {
  fixture = await ClusterFixture.create();
  fixture.fake
    .on(
      'GET',
      '/apis/argoproj.io',
      json({
        kind: 'APIGroup',
        preferredVersion: { version: 'v1alpha1' },
        versions: [{ version: 'v1beta1' }, { version: 'v1alpha1' }],
      }),
    )
    .on(
      'GET',
      '/apis/argoproj.io/v1alpha1',
      json({
        kind: 'APIResourceList',
        resources: [
          { name: 'rollouts/scale', kind: 'Scale', namespaced: true },
          { name: 'rollouts', kind: 'Rollout', namespaced: true },
          { name: 'experiments', kind: 'Experiment', namespaced: true },
          { name: 'clusteranalyses', kind: 'ClusterAnalysis', namespaced: false },
        ],
      }),
    )
    .on('GET', '/apis/argoproj.io/v1beta1', json({ kind: 'APIResourceList', resources: [] }))
    .on('GET', ROLLOUT_SCALE, json(apiScale({ replicas: 4 })));
});

afterEach(() => fixture.stop());

describe('kinds', () => {
  it('finds a kind by group and kind, whatever version is written, with one request for all', async () => {
    const target = await fixture.cluster.readTarget('shop', ROLLOUT, fixture.signal);
    await fixture.cluster.readTarget('shop', ROLLOUT, fixture.signal);

    expect(target).toMatchObject({
      specReplicas: 4,
      selector: [{ key: 'app', operator: 'In', values: ['web'] }],
    });
    expect(fixture.fake.seen('GET').map(({ path }) => path)).toEqual([
      '/apis/argoproj.io',
      '/apis/argoproj.io/v1alpha1',
      ROLLOUT_SCALE,
      ROLLOUT_SCALE,
    ]);
  });

  it('finds a kind of the core group', async () => {
    const path = '/api/v1/namespaces/shop/replicationcontrollers/web/scale';
    fixture.fake
      .on(
        'GET',
        '/api/v1',
        json({
          kind: 'APIResourceList',
          resources: [
            { name: 'replicationcontrollers', kind: 'ReplicationController', namespaced: true },
            { name: 'replicationcontrollers/scale', kind: 'Scale', namespaced: true },
          ],
        }),
      )
      .on('GET', path, json(apiScale({ replicas: 2 })));
    const ref = { apiVersion: 'v1', kind: 'ReplicationController', name: 'web' };

    expect((await fixture.cluster.readScale('shop', ref, fixture.signal)).specReplicas).toBe(2);
  });

  it.each([
    [
      { ...ROLLOUT, kind: 'Rolout' },
      'not_found',
      'finding kind Rolout in API group "argoproj.io" (argoproj.io/v1beta9): the group has ClusterAnalysis, Experiment, Rollout, Scale',
      { group: 'argoproj.io', isGroupServed: true },
    ],
    [
      { ...ROLLOUT, apiVersion: 'argo.io/v1' },
      'not_found',
      'finding kind Rollout in API group "argo.io" (argo.io/v1): the cluster does not serve this API group',
      { group: 'argo.io', isGroupServed: false },
    ],
    [
      { apiVersion: 'extensions/v1beta1', kind: 'Deployment', name: 'web' },
      'not_found',
      'finding kind Deployment in API group "extensions" (extensions/v1beta1): the cluster does not serve this API group; Deployment is in apps/v1',
      { group: 'extensions', isGroupServed: false },
    ],
    [
      { ...ROLLOUT, kind: 'Experiment' },
      'invalid',
      'finding kind Experiment: argoproj.io/v1alpha1 Experiment has no scale subresource, so it cannot be scaled',
      { group: null, isGroupServed: true },
    ],
    [
      { ...ROLLOUT, kind: 'ClusterAnalysis' },
      'invalid',
      'finding kind ClusterAnalysis: argoproj.io/v1alpha1 ClusterAnalysis is cluster-scoped, so a scaler cannot refer to it',
      { group: null, isGroupServed: true },
    ],
    [
      { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'web' },
      'invalid',
      'finding kind DaemonSet: a DaemonSet runs one pod per node and has no replicas to scale',
      { group: null, isGroupServed: true },
    ],
  ])('rejects %j', async (ref, kind, message, unusableKind) => {
    const error = await failureOf(() => fixture.cluster.readTarget('shop', ref, fixture.signal));

    expect([error.kind, error.message, error.unusableKind]).toEqual([kind, message, unusableKind]);
  });

  it('requests a missing kind again after 30 s, not after 29', async () => {
    const ref = { ...ROLLOUT, apiVersion: 'new.io/v1' };
    const read = () => failureOf(() => fixture.cluster.readTarget('shop', ref, fixture.signal));
    await read();

    fixture.clock.advance(29_000);
    await read();
    const at29 = fixture.fake.seen('GET', '/apis/new.io').length;
    fixture.clock.advance(1000);
    await read();

    expect(at29).toBe(1);
    expect(fixture.fake.seen('GET', '/apis/new.io')).toHaveLength(2);
  });

  it('does not cache a failure of the server', async () => {
    fixture.fake.on('GET', '/apis/argoproj.io', status(500, 'oops'));
    const error = await failureOf(() => fixture.cluster.readTarget('shop', ROLLOUT, fixture.signal));
    fixture.fake.on(
      'GET',
      '/apis/argoproj.io',
      json({ kind: 'APIGroup', versions: [{ version: 'v1alpha1' }] }),
    );

    expect(error.kind).toBe('server_error');
    expect((await fixture.cluster.readScale('shop', ROLLOUT, fixture.signal)).specReplicas).toBe(4);
  });

  it('rediscovers a kind 30 s after its /scale was not found', async () => {
    await fixture.cluster.readScale('shop', ROLLOUT, fixture.signal);
    fixture.fake.on('GET', ROLLOUT_SCALE, status(404, 'gone'));
    fixture.clock.advance(30_000);

    const errors = [
      await failureOf(() => fixture.cluster.readScale('shop', ROLLOUT, fixture.signal)),
      await failureOf(() => fixture.cluster.readScale('shop', ROLLOUT, fixture.signal)),
      await failureOf(() => fixture.cluster.readScale('shop', ROLLOUT, fixture.signal)),
    ];

    expect(errors.map(({ kind }) => kind)).toEqual(['not_found', 'not_found', 'not_found']);
    expect(fixture.fake.seen('GET', '/apis/argoproj.io')).toHaveLength(2);
  });
});

describe('a target without a watch', () => {
  it.each([
    ['is missing', '', 'empty'],
    ['cannot be read', 'a>1', 'missing or invalid'],
  ])('is rejected when its selector %s', async (_name, selector, words) => {
    fixture.fake.on('GET', ROLLOUT_SCALE, json(apiScale({ replicas: 4, selector })));

    const error = await failureOf(() => fixture.cluster.readTarget('shop', ROLLOUT, fixture.signal));

    expect(error.kind).toBe('invalid_selector');
    expect(error.message).toBe(`reading scale of rollout shop/web: the selector is ${words}`);
  });
});
