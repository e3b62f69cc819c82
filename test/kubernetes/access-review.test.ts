import { describe, expect, it } from '@jest/globals';
import { whoAmI } from '../../src/kubernetes/access-review.js';
import { KubernetesError } from '../../src/kubernetes/api/types.js';
import type { Transport } from '../../src/kubernetes/requests/transport.js';

const { signal } = new AbortController();

function failingWith(error: Error): Transport {
  return {
    request: () => Promise.reject(error),
    openWatch: () => Promise.reject(error),
    close: () => undefined,
  };
}

describe('whoAmI', () => {
  it('is unknown if the API server does not answer, and rejects after an internal error', async () => {
    const known = await whoAmI(failingWith(new KubernetesError('connection', 'refused')), signal);
    const failed = whoAmI(failingWith(new TypeError('body is undefined')), signal);

    expect(known).toBeNull();
    await expect(failed).rejects.toThrow('body is undefined');
  });
});
