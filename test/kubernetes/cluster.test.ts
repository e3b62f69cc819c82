import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { parseSelector } from '../../src/kubernetes/pods/selectors.js';
import { eventually, settle } from '../support/manual-clock.js';
import { ClusterFixture, DEPLOYMENTS, failureOf, PODS, SCALE, WEB } from './cluster-fixture.js';
import {
  apiDeployment,
  apiPod,
  apiScale,
  event,
  json,
  list,
  openWatch,
  status,
  type Answer,
} from './fake-api-server.js';

const APP_WEB = parseSelector('app=web') ?? [];

let fixture: ClusterFixture;

beforeEach(async () => {
  fixture = await ClusterFixture.create();
  fixture.fake
    .on(
      'LIST',
      PODS,
      list('5', [apiPod({ name: 'web-1' }), apiPod({ name: 'api-1', labels: { app: 'api' } })]),
    )
    .on('WATCH', PODS, openWatch())
    .on('LIST', DEPLOYMENTS, list('10', [apiDeployment()]))
    .on('WATCH', DEPLOYMENTS, openWatch());
});

afterEach(() => fixture.stop());

describe('a watched target', () => {
  it('is read with its pods from the watches, without a request', async () => {
    fixture.start();
    await fixture.synced();
    await eventually(() => fixture.fake.seen('WATCH').length === 2);
    const requests = fixture.fake.requests.length;

    const target = await fixture.cluster.readTarget('shop', WEB, fixture.signal);
    const pods = fixture.cluster.listPods('shop', target.selector);

    expect(target).toEqual({
      ref: WEB,
      namespace: 'shop',
      uid: 'uid-web',
      resourceVersion: '10',
      specReplicas: 3,
      statusReplicas: 3,
      selector: APP_WEB,
      annotations: {},
      replicasManagers: [],
    });
    expect(pods.map(({ name }) => name)).toEqual(['web-1']);
    expect(fixture.fake.requests).toHaveLength(requests);
    expect(fixture.cluster.cacheAgeSeconds('shop')).toBe(0);
  });

  it('is read after the first list of pods and targets', async () => {
    fixture.start();

    const target = await fixture.cluster.readTarget('shop', WEB, fixture.signal);

    expect(target.uid).toBe('uid-web');
    expect(fixture.cluster.listPods('shop', APP_WEB)).toHaveLength(1);
  });

  it('does not have an empty list of pods before the first list: listPods throws', async () => {
    fixture.fake.on('LIST', PODS, () => undefined);
    fixture.start();

    expect((await failureOf(() => fixture.cluster.listPods('shop', APP_WEB))).message).toContain(
      'the first list has not finished yet',
    );
    expect((await failureOf(() => fixture.cluster.listPods('other', APP_WEB))).message).toContain(
      'the first list has not finished yet',
    );
    expect(fixture.cluster.cacheAgeSeconds('shop')).toBe(Number.POSITIVE_INFINITY);
    expect(fixture.cluster.isSynced()).toBe(false);
  });

  it('has no pods while only the first page of the first list has arrived', async () => {
    const waiting: (() => void)[] = [];
    fixture.fake.on('LIST', PODS, list('5', [apiPod({ name: 'web-1' })], 'more'), (response, request) =>
      waiting.push(() => list('5', [apiPod({ name: 'web-2' })])(response, request)),
    );
    fixture.start();
    await eventually(() => waiting.length === 1);

    expect(fixture.cluster.isSynced()).toBe(false);
    expect(fixture.cluster.isListing()).toBe(true);
    expect((await failureOf(() => fixture.cluster.listPods('shop', APP_WEB))).message).toContain(
      'the first list has not finished yet',
    );
    fixture.clock.advance(5001);
    expect(fixture.cluster.isListing()).toBe(false);

    for (const answer of waiting) answer();
    await fixture.synced();

    expect(fixture.cluster.isListing()).toBe(false);
    expect(fixture.cluster.listPods('shop', APP_WEB).map(({ name }) => name)).toEqual(['web-1', 'web-2']);
  });

  it('is reported within 10 s if the first list does not complete', async () => {
    fixture.fake.on('LIST', PODS, () => undefined);
    fixture.start();
    const failing = failureOf(() => fixture.cluster.readTarget('shop', WEB, fixture.signal));
    await settle();

    fixture.clock.advance(10_000);

    expect((await failing).message).toBe('reading deployment shop/web: the first list has not finished yet');
  });

  it('is reported to every caller if watching pods is forbidden', async () => {
    fixture.fake.on('LIST', PODS, status(403, 'pods is forbidden'));
    fixture.start();
    let kind = '';
    await eventually(() => {
      fixture.clock.advance(100);
      void failureOf(() => fixture.cluster.listPods('shop', APP_WEB)).then((error) => (kind = error.kind));
      return kind === 'forbidden';
    });

    const error = await failureOf(() => fixture.cluster.readTarget('shop', WEB, fixture.signal));

    expect(fixture.clock.monotonicMs()).toBeGreaterThanOrEqual(15_000);
    expect(error.kind).toBe('forbidden');
    expect(error.message).toBe('listing pods in namespace shop: 403 Forbidden: pods is forbidden');
    expect((await failureOf(() => fixture.cluster.listPods('shop', APP_WEB))).kind).toBe('forbidden');
  });

  it('keeps its pods after 181 s without news, and says their age', async () => {
    const hanging: Answer = () => undefined;
    fixture.start();
    await fixture.synced();
    await eventually(() => fixture.fake.seen('WATCH').length === 2);
    for (const path of [PODS, DEPLOYMENTS]) fixture.fake.on('LIST', path, hanging).on('WATCH', path, hanging);

    await fixture.clock.advanceAndSettle(180_000);
    await fixture.clock.advanceAndSettle(1000);

    expect(fixture.cluster.cacheAgeSeconds('shop')).toBe(181);
    expect(fixture.cluster.listPods('shop', APP_WEB)).toHaveLength(1);
  });

  it('is not found if the watch does not return it', async () => {
    fixture.start();

    const error = await failureOf(() =>
      fixture.cluster.readTarget('shop', { ...WEB, name: 'gone' }, fixture.signal),
    );

    expect(error.kind).toBe('not_found');
    expect(error.message).toBe('reading deployment shop/gone: 404 Not Found: the object does not exist');
  });

  it('is not found with the closest name of the namespace, web for wbe', async () => {
    fixture.start([{ namespace: 'shop', ref: { ...WEB, name: 'wbe' } }]);

    const error = await failureOf(() =>
      fixture.cluster.readTarget('shop', { ...WEB, name: 'wbe' }, fixture.signal),
    );

    expect(error.message).toBe(
      'reading deployment shop/wbe: 404 Not Found: the object does not exist; did you mean "web"?',
    );
    expect(error.suggestion).toEqual({ kind: null, name: 'web' });
  });

  it.each([
    ['', '; did you mean Deployment "web"?'],
    ['that another document scales', ''],
  ])('is not found with the Deployment of the same name %s', async (_, hint) => {
    const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };
    fixture.fake.on('LIST', DEPLOYMENTS.replace('deployments', 'statefulsets'), list('10', []));
    const other = { namespace: 'shop', ref: hint === '' ? WEB : { ...WEB, name: 'api' } };
    fixture.start([{ namespace: 'shop', ref: set }, other]);
    await fixture.synced();

    const error = await failureOf(() => fixture.cluster.readTarget('shop', set, fixture.signal));

    expect(error.message).toBe(
      `reading statefulset shop/web: 404 Not Found: the object does not exist${hint}`,
    );
    expect(error.suggestion).toEqual(hint === '' ? null : { kind: 'Deployment', name: 'web' });
  });

  it.each(['a document', 'an HPA'])(
    'is not found without the closest name web, which %s scales, but with the next one, wbe-b',
    async (other) => {
      fixture.fake.on('LIST', DEPLOYMENTS, list('10', [apiDeployment(), apiDeployment({ name: 'wbe-b' })]));
      const hpa = { metadata: { name: 'h', namespace: 'shop' }, spec: { scaleTargetRef: WEB } };
      const hpas = '/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers';
      fixture.fake.on('LIST', hpas, list('10', other === 'an HPA' ? [hpa] : []));
      const gone = { namespace: 'shop', ref: { ...WEB, name: 'webb' } };
      fixture.start(other === 'an HPA' ? [gone] : [gone, { namespace: 'shop', ref: WEB }]);
      await fixture.synced();

      const error = await failureOf(() => fixture.cluster.readTarget('shop', gone.ref, fixture.signal));

      expect(error.message).toContain('the object does not exist; did you mean "wbe-b"?');
    },
  );

  it('has only annotations of promscaler.dev, and 1 replica if replicas are unset', async () => {
    const deployment = apiDeployment();
    const annotations = {
      'promscaler.dev/paused': 'true',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
    };
    fixture.fake.on(
      'LIST',
      DEPLOYMENTS,
      list('10', [
        {
          ...deployment,
          metadata: { ...deployment.metadata, annotations },
          spec: { selector: deployment.spec.selector },
        },
      ]),
    );
    fixture.start();

    const target = await fixture.cluster.readTarget('shop', WEB, fixture.signal);

    expect(target.annotations).toEqual({ 'promscaler.dev/paused': 'true' });
    expect(target.specReplicas).toBe(1);
  });

  it('has the name of the writer of its replicas', async () => {
    const deployment = apiDeployment();
    const managedFields = [
      { manager: 'helm', fieldsV1: { 'f:spec': { 'f:template': {} } } },
      { manager: 'kubectl', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
      { manager: 'promscaler', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
    ];
    const metadata = { ...deployment.metadata, managedFields };
    fixture.fake.on('LIST', DEPLOYMENTS, list('10', [{ ...deployment, metadata }]));
    fixture.start();

    const target = await fixture.cluster.readTarget('shop', WEB, fixture.signal);

    expect(target.replicasManagers).toEqual(['kubectl', 'promscaler']);
  });

  it.each([
    ['a missing selector', {}, 'missing or invalid'],
    ['an empty selector', { selector: {} }, 'empty'],
    [
      'an unknown operator',
      { selector: { matchExpressions: [{ key: 'a', operator: 'Gt' }] } },
      'missing or invalid',
    ],
  ])('is rejected with %s', async (_name, spec, words) => {
    fixture.fake.on('LIST', DEPLOYMENTS, list('10', [{ ...apiDeployment(), spec }]));
    fixture.start();

    const error = await failureOf(() => fixture.cluster.readTarget('shop', WEB, fixture.signal));

    expect(error.kind).toBe('invalid_selector');
    expect(error.message).toBe(`reading deployment shop/web: the selector is ${words}`);
  });

  it('is rejected if it is a ReplicaSet of a Deployment', async () => {
    const path = '/apis/apps/v1/namespaces/shop/replicasets';
    const owned = apiDeployment({ name: 'web-abc' });
    const ownerReferences = [{ kind: 'Deployment', name: 'web', controller: true }];
    const ref = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-abc' };
    fixture.fake
      .on('LIST', path, list('10', [{ ...owned, metadata: { ...owned.metadata, ownerReferences } }]))
      .on('WATCH', path, openWatch());
    fixture.start([{ namespace: 'shop', ref }]);

    const error = await failureOf(() => fixture.cluster.readTarget('shop', ref, fixture.signal));

    expect(error.kind).toBe('invalid');
    expect(error.message).toContain('deployment shop/web owns this ReplicaSet');
    expect(fixture.fake.seen('LIST', DEPLOYMENTS)).toHaveLength(0);
  });
});

describe('scales', () => {
  it('patches /scale with uid and version once, as promscaler', async () => {
    fixture.fake.on('PATCH', SCALE, json(apiScale({ resourceVersion: '11', replicas: 5 })));

    const change = { uid: 'uid-web', resourceVersion: '10', replicas: 5 };
    const scale = await fixture.cluster.patchScale('shop', WEB, change, fixture.signal);

    expect(scale).toEqual({ uid: 'uid-web', resourceVersion: '11', specReplicas: 5, statusReplicas: 3 });
    expect(fixture.fake.requests).toHaveLength(1);
    expect(fixture.fake.requests[0]).toMatchObject({
      query: { fieldManager: 'promscaler' },
      body: { metadata: { uid: 'uid-web', resourceVersion: '10' }, spec: { replicas: 5 } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect(fixture.reports).toEqual([
      { verb: 'patch', resource: 'deployments/scale', code: '200', seconds: 0 },
    ]);
  });

  it('reports a conflict and does not retry', async () => {
    fixture.fake.on('PATCH', SCALE, status(409, 'the object has been modified'));

    const change = { uid: 'uid-web', resourceVersion: '10', replicas: 5 };
    const error = await failureOf(() => fixture.cluster.patchScale('shop', WEB, change, fixture.signal));

    expect(error.kind).toBe('conflict');
    expect(error.message).toBe(
      'scaling deployment shop/web to 5: 409 Conflict: the object has been modified',
    );
    expect(fixture.fake.requests).toHaveLength(1);
  });

  it.each([Number.NaN, 1.5, -1, 2 ** 31, Number.POSITIVE_INFINITY])(
    'sends no PATCH of %p replicas',
    async (replicas) => {
      const change = { uid: 'uid-web', resourceVersion: '10', replicas };

      await expect(fixture.cluster.patchScale('shop', WEB, change, fixture.signal)).rejects.toThrow(
        'must be an integer',
      );

      expect(fixture.fake.requests).toHaveLength(0);
    },
  );

  it.each([0, 2 ** 31 - 1])('sends a PATCH of %i replicas', async (replicas) => {
    fixture.fake.on('PATCH', SCALE, json(apiScale({ replicas })));
    const change = { uid: 'uid-web', resourceVersion: '10', replicas };

    expect((await fixture.cluster.patchScale('shop', WEB, change, fixture.signal)).specReplicas).toBe(
      replicas,
    );
  });

  it('reads absent replicas of a /scale as 0', async () => {
    fixture.fake.on('GET', SCALE, json(apiScale({})));

    expect((await fixture.cluster.readScale('shop', WEB, fixture.signal)).specReplicas).toBe(0);
  });

  it.each([
    ['another kind', { ...apiScale({ replicas: 1 }), kind: 'Deployment' }],
    ['no uid', { ...apiScale({ replicas: 1 }), metadata: { resourceVersion: '1' } }],
    ['replicas as text', { ...apiScale({}), spec: { replicas: '3' } }],
    ['half a replica', { ...apiScale({}), spec: { replicas: 0.5 } }],
  ])('rejects a /scale with %s as an invalid answer', async (_name, body) => {
    fixture.fake.on('GET', SCALE, json(body));

    expect((await failureOf(() => fixture.cluster.readScale('shop', WEB, fixture.signal))).kind).toBe(
      'bad_answer',
    );
  });

  it('names verb, kind and object when /scale is forbidden', async () => {
    fixture.fake.on('GET', SCALE, status(403, 'no'));

    const error = await failureOf(() => fixture.cluster.readScale('shop', WEB, fixture.signal));

    expect(error.message).toBe('reading scale of deployment shop/web: 403 Forbidden: no');
  });
});

describe('own writes', () => {
  it('reads the target live after a PATCH until the watch shows that version', async () => {
    let send: (line: unknown) => void = () => undefined;
    fixture.fake
      .on('WATCH', DEPLOYMENTS, (response, request) => {
        openWatch()(response, request);
        send = (line) => response.write(`${JSON.stringify(line)}\n`);
      })
      .on('PATCH', SCALE, json(apiScale({ resourceVersion: '11', replicas: 5 })))
      .on('GET', SCALE, json(apiScale({ resourceVersion: '11', replicas: 5 })));
    fixture.start();
    await fixture.synced();
    await eventually(() => fixture.fake.seen('WATCH').length === 2);
    await fixture.cluster.patchScale(
      'shop',
      WEB,
      { uid: 'uid-web', resourceVersion: '10', replicas: 5 },
      fixture.signal,
    );

    const before = await fixture.cluster.readTarget('shop', WEB, fixture.signal);
    send(event('MODIFIED', apiDeployment({ resourceVersion: '12', replicas: 5 })));
    await settle(20);
    const after = await fixture.cluster.readTarget('shop', WEB, fixture.signal);

    expect([before.specReplicas, before.resourceVersion]).toEqual([5, '11']);
    expect([after.specReplicas, after.resourceVersion]).toEqual([5, '12']);
    expect(fixture.fake.seen('GET', SCALE)).toHaveLength(1);
  });
});
