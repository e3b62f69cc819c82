import { describe, expect, it } from '@jest/globals';
import { stringAt, type JsonObject } from '../../../src/simulator/kinds/json.js';
import { Cluster } from './cluster.js';
import type { ApiRecord } from './log.js';
import { createRandom } from './random.js';
import { Timeline } from './timeline.js';
import { WatchWires } from './watch-wires.js';

const PATH = '/apis/apps/v1/namespaces/shop/deployments/web';
const SELECTOR = { app: 'web' };

/** Creates a cluster with the Deployment shop/web of 3 replicas. */
function makeCluster() {
  const timeline = new Timeline();
  const random = createRandom(1);
  const cluster = new Cluster({ timeline, random });
  const deployment = cluster.create({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      replicas: 3,
      selector: { matchLabels: SELECTOR },
      template: { metadata: { labels: SELECTOR }, spec: { containers: [{ name: 'app', image: 'app:1' }] } },
    },
  });
  return { timeline, random, cluster, deployment };
}

function recordOf(
  cluster: Cluster,
  request: Pick<ApiRecord, 'method' | 'path'> & Partial<ApiRecord>,
): ApiRecord {
  const { parsed } = cluster.read({ query: {}, ...request });
  return {
    kind: 'api',
    process: 'p0.0',
    sentMs: 0,
    resource: parsed?.resource.plural ?? '',
    subresource: parsed?.subresource ?? null,
    namespace: parsed?.namespace ?? null,
    name: parsed?.name ?? null,
    query: {},
    body: null,
    arrivedMs: null,
    answeredMs: null,
    status: null,
    written: null,
    live: null,
    ...request,
  };
}

function scaleTo(replicas: number, metadata: JsonObject) {
  return { method: 'PATCH', path: `${PATH}/scale`, body: { metadata, spec: { replicas } } };
}

describe('the record of a PATCH of the scale', () => {
  it('has the object as it was, and the replicas before and after', () => {
    const { cluster, deployment } = makeCluster();
    const { uid, resourceVersion } = deployment.metadata;
    const record = recordOf(cluster, scaleTo(5, { uid, resourceVersion }));

    const { status } = cluster.answer(record);

    expect(status).toBe(200);
    expect(record.live).toEqual({ uid, resourceVersion, replicas: 3 });
    expect(record.written).toEqual({ atMs: 0, uid, from: 3, to: 5, object: null });
  });

  it('has no write if the resourceVersion is another one, which is 409 Conflict', () => {
    const { cluster, deployment } = makeCluster();
    const { uid } = deployment.metadata;
    const record = recordOf(cluster, scaleTo(5, { uid, resourceVersion: '1' }));

    const { status, body } = cluster.answer(record);

    expect(status).toBe(409);
    expect(stringAt(JSON.parse(body) as JsonObject, 'reason')).toBe('Conflict');
    expect(record.live?.replicas).toBe(3);
    expect(record.written).toBeNull();
  });

  it('has the replicas that an admission webhook set instead', () => {
    const { cluster } = makeCluster();
    const record = recordOf(cluster, scaleTo(5, {}));

    cluster.answer(record, 4);

    expect(record.written).toMatchObject({ from: 3, to: 4 });
  });
});

describe('a watch', () => {
  it('sends each change, a bookmark a minute, and its end after timeoutSeconds, in this order', async () => {
    const { timeline, random, cluster } = makeCluster();
    const wires = new WatchWires({ timeline, cluster, random });
    const lines: string[] = [];
    const query = {
      watch: '1',
      resourceVersion: String(cluster.store.revision),
      allowWatchBookmarks: 'true',
      timeoutSeconds: '130',
    };
    const path = '/apis/apps/v1/deployments';
    wires.open(recordOf(cluster, { method: 'GET', path, query }), {
      owner: 'p0.0',
      send: (line) => lines.push(stringAt(JSON.parse(line) as JsonObject, 'type') ?? ''),
      end: () => lines.push('end'),
    });
    cluster.patch(PATH, { spec: { replicas: 4 } });
    await timeline.runUntil(130_100);

    expect(lines).toEqual(['MODIFIED', 'BOOKMARK', 'BOOKMARK', 'end']);
    expect(wires.connectionsOf('p0.0')).toBe(0);
  });
});
