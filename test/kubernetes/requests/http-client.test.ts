import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { takeBody } from '../../../src/kubernetes/requests/http-client.js';

describe('taking the body of a response', () => {
  it('leaves none of its 3 bytes in the response', () => {
    const response: { data: unknown } = { data: Buffer.from('abc') };

    expect(takeBody(response).toString()).toBe('abc');
    expect(response.data).toBeNull();
    expect(takeBody(response)).toHaveLength(0);
  });

  it('leaves a stream where it is', () => {
    const stream = Readable.from([]);
    const response = { data: stream };

    expect(takeBody(response)).toHaveLength(0);
    expect(response.data).toBe(stream);
  });
});
