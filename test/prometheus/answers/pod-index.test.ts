import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PodIndex } from '../../../src/prometheus/answers/pod-index.js';
import { indexPods } from '../../../src/prometheus/answers/pod-index.js';
import { readVector } from '../../../src/prometheus/answers/read-vector.js';
import type { SentLayout } from '../../../src/prometheus/answers/series-layout.js';
import type { Labels } from '../../../src/prometheus/answers/series.js';
import { vectorBody } from '../fakes.js';

/* An index that follows the changes of an answer must be the index of its labels. */

const BOUNDS = { series: 20_000, items: 500_000 };

function layoutOf(all: readonly Labels[], known: SentLayout | null): SentLayout {
  const body = vectorBody(all.map((labels) => ({ labels, value: 1 })));
  const reading = readVector(Buffer.from(body), known, BOUNDS);
  if (reading === null) throw new Error('not read');
  return reading.layout;
}

/** Rows instead of slots, without the order of namespaces and pods. */
function rowsOf(index: PodIndex): ReadonlyMap<string | null, unknown> {
  return new Map(
    Array.from(index.namespaces, ([namespace, { pods, count }]) => [
      namespace,
      {
        count,
        pods: new Map(
          Array.from(pods, ([pod, series]) => [
            pod,
            series.map(({ slot, container }) => [index.rowOf(slot), container]),
          ]),
        ),
      },
    ]),
  );
}

const labelsOf = fc.record(
  {
    namespace: fc.constantFrom('shop', 'pay', 'web', ''),
    pod: fc.constantFrom('a', 'b', 'c', 'd', '', '"\\é'),
    container: fc.constantFrom('app', 'proxy', ''),
  },
  { requiredKeys: [] },
);
const answer = fc.array(labelsOf, { minLength: 1, maxLength: 12 });
const change = fc.record({ at: fc.nat(60), removed: fc.nat(3), added: fc.array(labelsOf, { maxLength: 3 }) });

/** `count` series of as many pods of a namespace. */
function many(count: number, namespace: string): readonly Labels[] {
  return Array.from({ length: count }, (_, pod) => ({ namespace, pod: `web-${pod}`, container: 'app' }));
}

describe('the index of an answer that changes from round to round', () => {
  it('is that of its labels, after any changes', () => {
    fc.assert(
      fc.property(answer, fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 8 }), (first, rounds) => {
        // Large enough that changes are spliced.
        let all: readonly Labels[] = [...first, ...many(40, 'large')];
        let layout = layoutOf(all, null);
        let index = layout.podIndex();
        for (const changes of rounds) {
          for (const { at, removed, added } of changes) all = all.toSpliced(at, removed, ...added);
          if (all.length === 0) return;
          const before = rowsOf(index);
          const next = layoutOf(all, layout);

          expect(rowsOf(next.podIndex())).toEqual(rowsOf(indexPods(all)));
          expect(next.items).toBe(all.reduce((sum, labels) => sum + Object.keys(labels).length, 0));
          expect(next.readLabels()).toEqual(all);
          expect(rowsOf(index)).toEqual(before);
          layout = next;
          index = next.podIndex();
        }
      }),
    );
  });

  it('has the same object for a namespace exactly as long as none of its series comes or goes', () => {
    const shop = many(40, 'shop');
    const pay = many(40, 'pay');
    const first = layoutOf([...shop, ...pay], null);
    const before = first.podIndex();
    const second = layoutOf([...shop.slice(1), { namespace: 'new', pod: 'x' }, ...pay], first);
    const after = second.podIndex();
    const last = layoutOf([...shop, ...pay], second).podIndex();

    expect(after.namespaces.get('pay')).toBe(before.namespaces.get('pay'));
    expect(after.namespaces.get('shop')).not.toBe(before.namespaces.get('shop'));
    expect(after.namespaces.get('shop')?.count).toBe(39);
    expect(after.namespaces.get('new')?.count).toBe(1);
    expect(last.namespaces.has('new')).toBe(false);
    expect(last.namespaces.get('pay')).toBe(before.namespaces.get('pay'));
  });

  it.each([
    [64, true],
    [65, false],
  ])('follows %i successive series that go: %s', (count, isFollowed) => {
    const first = layoutOf([...many(count, 'gone'), ...many(400, 'large')], null);
    const before = first.podIndex();
    const after = layoutOf(many(400, 'large'), first).podIndex();

    expect(after.namespaces.get('large') === before.namespaces.get('large')).toBe(isFollowed);
    expect(rowsOf(after)).toEqual(rowsOf(indexPods(many(400, 'large'))));
  });

  it.each([
    [100, true],
    [101, false],
  ])('is built again if more than a quarter of 400 series has changed: %i, kept: %s', (count, isKept) => {
    const first = layoutOf(many(400, 'large'), null);
    const before = first.podIndex();
    const after = layoutOf([...many(400, 'large'), ...many(count, 'new')], first).podIndex();

    expect(after.namespaces.get('large') === before.namespaces.get('large')).toBe(isKept);
  });
});
