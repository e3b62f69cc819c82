import { describe, expect, it } from '@jest/globals';
import { createApiClient } from '../../src/api/read-answer.js';

function recording(answer: unknown): {
  readonly api: ReturnType<typeof createApiClient>;
  readonly asked: readonly unknown[];
} {
  const asked: unknown[] = [];
  const api = createApiClient((path, query) => {
    asked.push([path, query]);
    return Promise.resolve(answer);
  });
  return { api, asked };
}

describe('the client of the API', () => {
  it('writes the parameters of the path and the query', async () => {
    const { api, asked } = recording({ items: [], continue: null, keptFrom: '2026-01-01T00:00:00Z' });

    await api('listDecisions', { namespace: 'shop', name: 'a/b?c', limit: '1', at: undefined });

    expect(asked).toEqual([['/api/v1/scalers/shop/a%2Fb%3Fc/decisions', { limit: '1' }]]);
  });

  it('rejects an answer that is not that of the page, and passes on errors of the request', async () => {
    await expect(recording({ items: [] }).api('listScalers', {})).rejects.toMatchObject({
      name: 'AnswerError',
      page: '/api/v1/scalers',
    });
    const failing = createApiClient(() => Promise.reject(new Error('refused')));

    await expect(failing('showService', {})).rejects.toThrow('refused');
  });
});
