import { describe, expect, it } from '@jest/globals';
import {
  readScalerObject,
  type ScalerObject,
  createScalerStore,
  type ScalerStore,
} from '../../src/kubernetes/scaler-objects.js';
import type { ObjectStore } from '../../src/kubernetes/watch/object-store.js';

function object(overrides: Partial<ScalerObject> = {}): ScalerObject {
  return {
    namespace: 'shop',
    name: 'web',
    uid: 'u',
    resourceVersion: '10',
    generation: 1,
    specText: '{}',
    createdAt: null,
    status: null,
    ...overrides,
  };
}

/** A store of the whole cluster, and the number of changes that it reported. */
function watched(): {
  readonly store: ScalerStore;
  readonly feed: ObjectStore<ScalerObject>;
  readonly changes: () => number;
} {
  const store = createScalerStore([]);
  let changes = 0;
  store.onChange(() => (changes += 1));
  const [scope] = store.scopes;
  if (scope === undefined) throw new Error('a store without a scope');
  return { store, feed: scope.store, changes: () => changes };
}

describe('readScalerObject', () => {
  it('keeps the labels of the object, by which the dashboard may group', () => {
    const metadata = { namespace: 'shop', name: 'web', uid: 'u', resourceVersion: '10', generation: 1 };

    expect(readScalerObject({ metadata: { ...metadata, labels: { team: 'a' } } })?.labels).toEqual({
      team: 'a',
    });
    expect(readScalerObject({ metadata })?.labels).toBeNull();
  });
});

describe('createScalerStore', () => {
  it('reports a change of an annotation for promscaler, and not of another one', () => {
    const { feed, changes } = watched();
    const versionOf = (resourceVersion: string, annotations: Readonly<Record<string, string>>) => {
      const metadata = {
        namespace: 'shop',
        name: 'web',
        uid: 'u',
        resourceVersion,
        generation: 1,
        annotations,
      };
      return readScalerObject({ metadata, spec: {} });
    };
    const put = (...args: Parameters<typeof versionOf>): void => {
      const read = versionOf(...args);
      if (read !== null) feed.put(read);
    };
    put('10', { note: 'a', 'promscaler.dev/adopted-manifest': '{}' });
    put('11', { note: 'b', 'promscaler.dev/adopted-manifest': '{"a":1}' });
    expect(changes()).toBe(1);

    put('12', { note: 'b', 'promscaler.dev/paused': 'true' });
    expect(changes()).toBe(2);
  });

  it('reports the first list, also an empty one, but not an equal second one', () => {
    const { store, feed, changes } = watched();
    expect(store.isComplete()).toBe(false);

    feed.replace([]);
    feed.replace([]);

    expect(changes()).toBe(1);
    expect(store.isComplete()).toBe(true);
  });

  it('reports a document that is added, changed and deleted', () => {
    const { feed, changes } = watched();
    feed.replace([]);

    feed.put(object());
    feed.put(object({ specText: '{"a":1}' }));
    feed.remove('shop', 'web');
    feed.remove('shop', 'web');

    expect(changes()).toBe(4);
  });

  it('stores changes of status and labels without reporting them', () => {
    const { store, feed, changes } = watched();
    feed.replace([object()]);

    feed.put(object({ resourceVersion: '11', status: { a: 1 } }));
    feed.replace([object({ resourceVersion: '12', status: { a: 2 } })]);

    expect(changes()).toBe(1);
    expect(store.get('shop', 'web')?.status).toEqual({ a: 2 });
  });

  it('stores the answer to a write if it is newer, of the same object, and that still exists', () => {
    const { store, feed } = watched();
    feed.replace([object()]);

    store.remember(object({ resourceVersion: '9', status: { a: 9 } }));
    store.remember(object({ resourceVersion: '11', uid: 'other' }));
    store.remember(object({ resourceVersion: '11', name: 'gone' }));
    expect(store.get('shop', 'web')?.resourceVersion).toBe('10');
    store.remember(object({ resourceVersion: '11', status: { a: 11 } }));

    expect(store.get('shop', 'web')?.status).toEqual({ a: 11 });
    expect([...store.list()]).toHaveLength(1);
  });

  it('is complete when each of its namespaces was listed', () => {
    const store = createScalerStore(['shop', 'lab', 'shop']);
    expect(store.scopes.map(({ namespace }) => namespace)).toEqual(['shop', 'lab']);

    store.scopes[0]?.store.replace([object()]);
    expect(store.isComplete()).toBe(false);
    store.scopes[1]?.store.replace([object({ namespace: 'lab' })]);

    expect(store.isComplete()).toBe(true);
    expect([...store.list()].map(({ namespace }) => namespace)).toEqual(['shop', 'lab']);
    expect(store.get('other', 'web')).toBeNull();
  });
});

describe('readScalerObject', () => {
  const metadata = { namespace: 'shop', name: 'web', uid: 'u', resourceVersion: '1', generation: 1 };

  it('keeps the fields that are needed, the spec as JSON', () => {
    const read = readScalerObject({ metadata, spec: { a: [1] }, status: { b: 2 } });

    expect(read).toEqual({
      ...metadata,
      specText: '{"a":[1]}',
      labels: null,
      createdAt: null,
      status: { b: 2 },
    });
  });

  it('has an empty string without a spec', () => {
    expect(readScalerObject({ metadata })).toMatchObject({ specText: '', status: null });
  });

  it.each(Object.keys(metadata))('is null without %s', (field) => {
    expect(readScalerObject({ metadata: { ...metadata, [field]: undefined } })).toBeNull();
  });
});
