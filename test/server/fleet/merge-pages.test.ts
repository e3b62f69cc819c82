import { describe, expect, it } from '@jest/globals';
import { SEES_ALL } from '../../../src/server/access/viewer.js';
import { mergePages, readPeerPage, type ScalerPage } from '../../../src/server/fleet/fleet-pages.js';
import { readToken } from '../../../src/server/pages/query.js';

function page(names: readonly string[], isLast = true): ScalerPage & { readonly problems: [] } {
  const items = names.map((name) => ({ namespace: 'shop', name }));
  return { version: '1.0.0', problems: [], items, continue: isLast ? null : 'more' };
}

interface Merged {
  readonly leader: boolean;
  readonly unreachable: readonly string[];
  readonly continue: string | null;
  readonly items: readonly { readonly name: string }[];
}

function merge(
  pages: Parameters<typeof mergePages>[0],
  { limit = 500, unreachable = [] as readonly string[] } = {},
): Merged {
  return JSON.parse(mergePages(pages, { limit, unreachable })) as Merged;
}

function namesOf({ items }: Merged): readonly string[] {
  return items.map(({ name }) => name);
}

/** The key after which the next page begins. */
function behindOf(merged: Merged): string | null {
  return merged.continue === null ? null : readToken({ continue: merged.continue }, 'scalers');
}

describe('the merged page', () => {
  it('has the rows of all replicas, ordered by namespace and name, each scaler once', () => {
    const merged = merge([page(['b', 'e']), page(['a', 'd']), page(['c', 'e'])]);

    expect(namesOf(merged)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(merged).toMatchObject({ leader: true, unreachable: [], continue: null });
  });

  it('ends where the page of a replica ends that has more', () => {
    const merged = merge([page(['a', 'f']), page(['b', 'd'], false)]);

    expect(namesOf(merged)).toEqual(['a', 'b', 'd']);
    expect(behindOf(merged)).toBe('shop/d');
  });

  it('ends at the limit', () => {
    const merged = merge([page(['a', 'c']), page(['b', 'd'])], { limit: 3 });

    expect(namesOf(merged)).toEqual(['a', 'b', 'c']);
    expect(behindOf(merged)).toBe('shop/c');
  });

  it('names the replicas that did not answer, and is not that of a leader', () => {
    expect(merge([page(['a'])], { unreachable: ['promscaler-1_u'] })).toMatchObject({
      leader: false,
      unreachable: ['promscaler-1_u'],
    });
  });
});

describe('the page of another replica', () => {
  it.each([
    ['no JSON', '<html>'],
    ['no object', '7'],
    ['no rows', '{"items":7,"continue":null}'],
    ['a row without a name', '{"items":[{"namespace":"shop"}],"continue":null}'],
    ['a token that is no string', '{"items":[],"continue":7}'],
  ])('is rejected with %s', (_, text) => {
    expect(readPeerPage(Buffer.from(text), SEES_ALL)).toBeNull();
  });

  it('is not taken for an invalid page after an internal error', () => {
    const sees = (): never => {
      throw new TypeError('namespaces is undefined');
    };

    expect(() => readPeerPage(Buffer.from(JSON.stringify(page(['a']))), { ...SEES_ALL, sees })).toThrow(
      'namespaces is undefined',
    );
  });

  it('is read as it is by a viewer of all namespaces, and without the rows that another one may not see', () => {
    const body = Buffer.from(JSON.stringify(page(['a'])));
    const blind = { sees: () => false, seesAll: false, scope: '' };

    expect(readPeerPage(body, SEES_ALL)).toEqual(page(['a']));
    expect(readPeerPage(body, blind)).toEqual(page([]));
  });
});
