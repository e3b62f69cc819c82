import { describe, expect, it } from '@jest/globals';

import { createPodStore } from '../../../src/kubernetes/pods/pod-store.js';
import { createPodReader, type WatchedPod } from '../../../src/kubernetes/pods/watched-pod.js';
import { parseSelector } from '../../../src/kubernetes/pods/selectors.js';
import { apiPod } from '../fake-api-server.js';

const read = createPodReader();

function pod(name: string, labels: Readonly<Record<string, string>>, namespace = 'shop'): WatchedPod {
  const watched = read(apiPod({ name, labels, namespace }));
  if (watched === null) throw new Error('unreadable');
  return watched;
}

function names(
  store: ReturnType<typeof createPodStore>,
  selector: string,
  namespace = 'shop',
): readonly string[] {
  return store.select(namespace, parseSelector(selector) ?? []).map(({ name }) => name);
}

describe('createPodStore', () => {
  it('selects within one namespace, by name', () => {
    const store = createPodStore();
    store.replace([
      pod('b', { app: 'web' }),
      pod('a', { app: 'web', tier: 'x' }),
      pod('c', { app: 'api' }),
      pod('a', { app: 'web' }, 'other'),
    ]);

    expect(names(store, 'app=web')).toEqual(['a', 'b']);
    expect(names(store, 'app=web,tier=x')).toEqual(['a']);
    expect(names(store, 'app in (web,api),!tier')).toEqual(['b', 'c']);
    expect(names(store, 'app=none')).toEqual([]);
    expect(names(store, '')).toEqual(['a', 'b', 'c']);
    expect(names(store, 'app=web', 'nowhere')).toEqual([]);
  });

  it('follows changes of labels, deletions and a new list', () => {
    const store = createPodStore();
    store.replace([pod('a', { app: 'web' }), pod('b', { app: 'web' })]);
    const before = names(store, 'app=web');

    store.put(pod('a', { app: 'api' }));
    store.put(pod('c', { app: 'web' }));
    store.remove('shop', 'b');
    store.remove('shop', 'unknown');
    const after = [names(store, 'app=web'), names(store, 'app=api')];
    store.replace([pod('d', { app: 'web' })]);

    expect(before).toEqual(['a', 'b']);
    expect(after).toEqual([['c'], ['a']]);
    expect(names(store, 'app=web')).toEqual(['d']);
    expect(names(store, 'app=api')).toEqual([]);
  });

  it('selects the same array until a pod of the namespace changes', () => {
    const store = createPodStore();
    const selector = parseSelector('app=web') ?? [];
    const names = (): readonly string[] => store.select('shop', selector).map(({ name }) => name);
    store.replace([pod('a', { app: 'web' }), pod('b', { app: 'api' }, 'other')]);
    const first = store.select('shop', selector);
    store.put(pod('c', { app: 'web' }, 'other'));

    expect(store.select('shop', selector)).toBe(first);
    store.put(pod('b', { app: 'web' }));
    expect(names()).toEqual(['a', 'b']);
    store.remove('shop', 'a');
    expect(names()).toEqual(['b']);
    store.replace([pod('c', { app: 'web' })]);
    expect(names()).toEqual(['c']);
  });

  it('keeps at most as many selections as a namespace has pods, and none without pods', () => {
    const store = createPodStore();
    store.replace([pod('a', { app: 'web' }), pod('b', { app: 'web' })]);
    const selectors = Array.from({ length: 3 }, () => parseSelector('app=web') ?? []);
    const none = parseSelector('app=none') ?? [];
    const select = (index: number): unknown => store.select('shop', selectors[index] ?? []);
    const first = select(0);
    const second = select(1);
    const empty = store.select('shop', none);

    expect(store.select('shop', none)).not.toBe(empty);
    expect(select(0)).toBe(first);
    expect(select(1)).toBe(second);
    const third = select(2);
    expect(select(2)).toBe(third);
    expect(select(0)).not.toBe(first);
    expect(select(0)).toEqual(first);
  });

  it('finds for each of 1,000 scalers its own 5 among 5,000 pods of one namespace', () => {
    const store = createPodStore();
    store.replace(
      Array.from({ length: 5000 }, (_, index) => pod(`p${index}`, { app: `app-${index % 1000}` })),
    );
    const selectors = Array.from({ length: 1000 }, (_, index) => parseSelector(`app=app-${index}`) ?? []);

    const found = selectors.map((selector) => store.select('shop', selector).length);

    expect(found).toEqual(Array.from({ length: 1000 }, () => 5));
  });
});
