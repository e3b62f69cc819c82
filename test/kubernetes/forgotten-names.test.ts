import { describe, expect, it } from '@jest/globals';
import { createDiscovery } from '../../src/kubernetes/discovery.js';
import type { WatchedHpa } from '../../src/kubernetes/hpa.js';
import { createHpaStore } from '../../src/kubernetes/hpa.js';
import type { Transport } from '../../src/kubernetes/requests/transport.js';
import type { TargetRef } from '../../src/scaler/spec.js';
import { failure } from '../control/fake-cluster.js';
import { ManualClock } from '../support/manual-clock.js';

describe('names that no longer exist', () => {
  it('of the 1,001st kind of documents, the first kind is discovered again', async () => {
    const paths: string[] = [];
    const transport = {
      request: ({ path }: { readonly path: string }) => {
        paths.push(path);
        return Promise.reject(failure('not_found'));
      },
    } as unknown as Transport;
    const discovery = createDiscovery(transport, new ManualClock());
    const { signal } = new AbortController();
    const find = async (index: number): Promise<void> => {
      const ref: TargetRef = { apiVersion: `group-${index}.io/v1`, kind: 'Thing', name: 'web' };
      await expect(discovery.find(ref, signal)).rejects.toThrow();
    };

    for (let index = 0; index < 1000; index += 1) await find(index);
    await find(0);
    expect(paths).toHaveLength(1000);
    await find(1000);
    await find(0);

    expect(paths.slice(1000)).toEqual(['/apis/group-1000.io', '/apis/group-0.io']);
  });

  it('of a namespace whose last HPA was deleted, nothing is kept', () => {
    const store = createHpaStore();
    const hpa = { namespace: 'shop', name: 'web', resourceVersion: '1', scaler: {} } as unknown as WatchedHpa;
    store.put(hpa);
    expect(store.of('shop')).toHaveLength(1);

    store.remove('shop', 'web');

    expect(store.of('shop')).toBe(store.of('never-seen'));
  });
});
