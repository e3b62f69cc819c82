import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../src/kubernetes/api/json.js';
import type { KubernetesRequest, Transport } from '../../../src/kubernetes/requests/transport.js';
import { KubernetesError } from '../../../src/kubernetes/api/types.js';
import { listAll, listNotOlder, resourceScope } from '../../../src/kubernetes/watch/list-pages.js';
import { ManualClock } from '../../support/manual-clock.js';

const SCOPE = resourceScope('/api/v1', 'pods', 'shop');

describe('listAll', () => {
  it('joins 3 pages to one list', async () => {
    const { transport } = scripted((_request, index) => page(2, index < 2 ? `token-${index}` : ''));

    await expect(all(transport)).resolves.toMatchObject({
      items: Array.from({ length: 6 }, () => ({ a: 1 })),
    });
  });

  it('rejects a repeated token at once', async () => {
    const { transport, count } = scripted((_request, index) => page(1, index % 2 === 0 ? 'a' : 'b'));

    await expect(all(transport)).rejects.toThrow(
      'listing pods in namespace shop: the server returned the same page twice',
    );
    expect(count()).toBe(3);
  });

  it('rejects endless tokens after 2,000 pages', async () => {
    const { transport, count } = scripted((_request, index) => page(0, `token-${index}`));

    await expect(all(transport)).rejects.toThrow('more than 2000 pages');
    expect(count()).toBe(2000);
  });

  it.each([
    [300_000, 'taken'],
    [300_001, 'refused'],
  ])('accepts or rejects %i objects on one page: %s', async (count, verdict) => {
    const { transport } = scripted(() => page(count, ''));

    const outcome = await all(transport).then(
      ({ items }) => (items.length === count ? 'taken' : 'cut'),
      (error: unknown) => (String(error).includes('more than 300000 objects') ? 'refused' : String(error)),
    );

    expect(outcome).toBe(verdict);
  });

  it('rejects objects of more than 256 MiB', async () => {
    const big = { ...page(0, ''), items: [{ text: 'x'.repeat(20 * 1024 * 1024) }] };
    const { transport, count } = scripted((_request, index) => ({
      ...big,
      metadata: { resourceVersion: '7', continue: `token-${index}` },
    }));

    await expect(all(transport)).rejects.toThrow('the objects have more than 268435456 bytes');
    expect(count()).toBe(13);
  });
});

describe('listAll, requesting ahead', () => {
  interface Step {
    readonly event: 'request' | 'abort';
    readonly token: string | null;
  }

  /** Pages `a`, `b` and the last one. `peeked`: what the beginning of a body says instead. */
  function paged(
    peeked: (own: string) => string,
    fails: (token: string | null) => boolean = () => false,
  ): { readonly transport: Transport; readonly steps: Step[] } {
    const steps: Step[] = [];
    const next: Readonly<Record<string, string>> = { '': 'a', a: 'b', b: '' };
    const request = async ({ query, signal, onBody }: KubernetesRequest): Promise<JsonObject> => {
      const token = query?.['continue'] ?? null;
      steps.push({ event: 'request', token });
      signal?.addEventListener('abort', () => steps.push({ event: 'abort', token }));
      // A response comes after all that its request let happen.
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      if (fails(token)) throw new KubernetesError('server_error', 'the page failed');
      const own = next[token ?? ''] ?? '';
      onBody?.(Buffer.from(`{"kind":"PodList","metadata":{"continue":"${peeked(own)}"},"items":[`));
      steps.push({ event: 'request', token: `parsed ${token ?? ''}` });
      return page(1, own);
    };
    const openWatch = (): never => {
      throw new Error('not used');
    };
    return { transport: { request, openWatch, close: () => undefined }, steps };
  }

  const requested = (steps: readonly Step[]): readonly (string | null)[] =>
    steps.filter(({ event }) => event === 'request').map(({ token }) => token);

  it('requests the next page while the current one is parsed', async () => {
    const { transport, steps } = paged((own) => own);
    expect((await all(transport)).items.length).toBe(3);
    expect(requested(steps)).toEqual([null, 'a', 'parsed ', 'b', 'parsed a', 'parsed b']);
  });

  it('reads no page that the parsed token does not name', async () => {
    const { transport, steps } = paged((own) => (own === 'a' ? 'wrong' : ''));
    expect((await all(transport)).items.length).toBe(3);
    expect(requested(steps).filter((token) => token === 'a')).toEqual(['a']);
    expect(steps).toContainEqual({ event: 'abort', token: 'wrong' });
  });

  it('rejects with the failure of a page that was requested ahead', async () => {
    const { transport } = paged(
      (own) => own,
      (token) => token === 'b',
    );
    await expect(all(transport)).rejects.toThrow('the page failed');
  });

  it('reads no token from the objects', async () => {
    const { transport, steps } = paged(() => '"},"items":[{"continue":"x');
    expect((await all(transport)).items.length).toBe(3);
    expect(requested(steps)).not.toContain('x');
  });
});

describe('listNotOlder', () => {
  it('reads in pages what is too large for one answer', async () => {
    const { transport, queries } = scripted(({ query }) => {
      if (query?.['limit'] === undefined) throw new KubernetesError('bad_answer', 'too large');
      return page(1, '');
    });

    const listing = { transport, scope: SCOPE, convert: asIs, signal: new AbortController().signal };

    await expect(listNotOlder(listing, '7', new ManualClock())).resolves.toMatchObject({ items: [{ a: 1 }] });
    expect(queries().map((query) => query?.['limit'])).toEqual([undefined, '500']);
  });
});

const asIs = (object: JsonObject): JsonObject => object;

function all(transport: Transport) {
  return listAll({ transport, scope: SCOPE, convert: asIs, signal: new AbortController().signal });
}

function page(count: number, token: string): JsonObject {
  const items = Array.from({ length: count }, () => ({ a: 1 }));
  return { kind: 'PodList', metadata: { resourceVersion: '7', continue: token }, items };
}

function scripted(answer: (request: KubernetesRequest, index: number) => JsonObject): {
  readonly transport: Transport;
  readonly count: () => number;
  readonly queries: () => readonly KubernetesRequest['query'][];
} {
  const requests: KubernetesRequest[] = [];
  const transport: Transport = {
    request: (request) => {
      requests.push(request);
      return Promise.resolve().then(() => answer(request, requests.length - 1));
    },
    openWatch: () => Promise.reject(new Error('no watch here')),
    close: () => undefined,
  };
  return { transport, count: () => requests.length, queries: () => requests.map(({ query }) => query) };
}
