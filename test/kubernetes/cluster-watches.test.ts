import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { parseSelector } from '../../src/kubernetes/pods/selectors.js';
import { eventually, settle } from '../support/manual-clock.js';
import { ClusterFixture, failureOf, WEB } from './cluster-fixture.js';
import { apiDeployment, apiPod, list, openWatch } from './fake-api-server.js';

const APP_WEB = parseSelector('app=web') ?? [];

let fixture: ClusterFixture;

beforeEach(async () => {
  fixture = await ClusterFixture.create();
});

afterEach(() => fixture.stop());

function script(namespace: string | null): void {
  const scope = namespace === null ? '' : `/namespaces/${namespace}`;
  const pods = `/api/v1${scope}/pods`;
  const deployments = `/apis/apps/v1${scope}/deployments`;
  const pod = apiPod({ name: namespace ?? 'everywhere', namespace: namespace ?? 'n0' });
  fixture.fake
    .on('LIST', pods, list('5', [pod]))
    .on('WATCH', pods, openWatch())
    .on('LIST', deployments, list('6', [apiDeployment()]))
    .on('WATCH', deployments, openWatch());
}

function targetsIn(count: number) {
  return Array.from({ length: count }, (_, index) => ({ namespace: `n${index}`, ref: WEB }));
}

describe('scopes', () => {
  it('watches each of 20 namespaces and, with the 21st, the whole cluster', async () => {
    for (let index = 0; index < 20; index += 1) script(`n${index}`);
    script(null);
    fixture.start(targetsIn(20));
    await fixture.syncedInTime();
    await eventually(() => fixture.fake.seen('WATCH').length === 40);
    const clusterWide = fixture.fake.seen('LIST', '/api/v1/pods').length;

    fixture.cluster.follow(targetsIn(21));
    await fixture.syncedInTime();
    await eventually(() => {
      fixture.clock.advance(10);
      return fixture.fake.seen('WATCH').length === 42;
    });

    expect(clusterWide).toBe(0);
    expect(fixture.fake.seen('LIST', '/api/v1/pods')).toHaveLength(1);
    expect(fixture.cluster.listPods('n0', APP_WEB).map(({ name }) => name)).toEqual(['everywhere']);
    await eventually(() => fixture.fake.connections <= 8);
  });

  it('answers from the old watch until the new one has listed', async () => {
    for (let index = 0; index < 20; index += 1) script(`n${index}`);
    script(null);
    fixture.fake.on('LIST', '/api/v1/pods', () => undefined);
    fixture.start(targetsIn(20));
    await fixture.syncedInTime();

    fixture.cluster.follow(targetsIn(21));
    await settle();

    expect(fixture.cluster.listPods('n0', APP_WEB).map(({ name }) => name)).toEqual(['n0']);
    expect((await failureOf(() => fixture.cluster.listPods('n20', APP_WEB))).message).toContain(
      'the first list has not finished yet',
    );
  });

  it('ends the watches of a namespace that is no longer followed and starts those of a new one', async () => {
    script('n0');
    script('n1');
    fixture.start([{ namespace: 'n0', ref: WEB }]);
    await fixture.syncedInTime();
    await eventually(() => fixture.fake.seen('WATCH').length === 2);

    fixture.cluster.follow([{ namespace: 'n1', ref: WEB }]);
    await fixture.syncedInTime();

    expect(fixture.cluster.listPods('n1', APP_WEB)).toHaveLength(1);
    expect((await failureOf(() => fixture.cluster.listPods('n0', APP_WEB))).message).toContain(
      'the first list has not finished yet',
    );
  });

  it('watches no Deployments if only a StatefulSet is followed', async () => {
    script('n0');
    const path = '/apis/apps/v1/namespaces/n0/statefulsets';
    const hpas = '/apis/autoscaling/v2/namespaces/n0/horizontalpodautoscalers';
    fixture.fake.on('LIST', path, list('6', [])).on('WATCH', path, openWatch());

    fixture.start([{ namespace: 'n0', ref: { ...WEB, kind: 'StatefulSet' } }]);
    await fixture.syncedInTime();

    expect(new Set(fixture.fake.seen('LIST').map((request) => request.path))).toEqual(
      new Set(['/api/v1/namespaces/n0/pods', path, hpas]),
    );
  });

  it('is synced with nothing to follow, and sends no request', async () => {
    fixture.start([]);
    await settle();

    expect(fixture.cluster.isSynced()).toBe(true);
    expect(fixture.fake.requests).toHaveLength(0);
  });
});

describe('configured namespaces', () => {
  it('are watched one by one, 21 of them, and no other namespace is accepted', async () => {
    await fixture.stop();
    fixture = await ClusterFixture.create(targetsIn(21).map(({ namespace }) => namespace));
    for (let index = 0; index < 21; index += 1) script(`n${index}`);

    fixture.start([...targetsIn(21), { namespace: 'kube-system', ref: WEB }]);
    await fixture.syncedInTime();
    const error = await failureOf(() => fixture.cluster.readTarget('kube-system', WEB, fixture.signal));

    expect(fixture.fake.seen('LIST')).toHaveLength(63);
    expect(error.kind).toBe('forbidden');
    expect(error.message).toContain('reading namespace kube-system: not listed in kubernetes.namespaces');
  });
});
