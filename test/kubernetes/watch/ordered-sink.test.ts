import { describe, expect, it } from '@jest/globals';
import {
  createObjectStore,
  type WatchedObject,
  createOrderedSink,
} from '../../../src/kubernetes/watch/object-store.js';

const pod = (name: string, resourceVersion: string): WatchedObject => ({
  namespace: 'shop',
  name,
  resourceVersion,
});

function aSink() {
  const store = createObjectStore<WatchedObject>();
  const versionOf = (name: string) => store.get('shop', name)?.resourceVersion ?? null;
  return { sink: createOrderedSink(store), versionOf };
}

describe('createOrderedSink', () => {
  it('does not bring back a pod that is missing in the list of version 10 by its event 9 or 10; 11 is applied', () => {
    const { sink, versionOf } = aSink();
    sink.replace([pod('web-1', '7')], '10');

    sink.put(pod('web-2', '9'));
    sink.put(pod('web-3', '10'));
    sink.put(pod('web-4', '11'));

    expect(['web-1', 'web-2', 'web-3', 'web-4'].map(versionOf)).toEqual(['7', null, null, '11']);
  });

  it('does not remove a pod in the list of version 10 by a deletion of version 9', () => {
    const { sink, versionOf } = aSink();
    sink.replace([pod('web-1', '7')], '10');

    sink.remove(pod('web-1', '9'));

    expect(versionOf('web-1')).toBe('7');
  });

  it('applies every event if versions cannot be compared', () => {
    const { sink, versionOf } = aSink();
    sink.replace([], 'a7f');

    sink.put(pod('web-1', 'a70'));

    expect(versionOf('web-1')).toBe('a70');
  });
});
