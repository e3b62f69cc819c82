import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { unpack } from '../../../src/kubernetes/requests/unpack.js';

const BODY = Buffer.from('x'.repeat(3_000_000));

describe('unpack', () => {
  it('returns 3,000,000 bytes of gzip and deflate, and a body without compression as it is', async () => {
    expect((await unpack(gzipSync(BODY), 'gzip', 3_000_000)).equals(BODY)).toBe(true);
    expect((await unpack(deflateSync(BODY), 'deflate', 3_000_000)).equals(BODY)).toBe(true);
    expect(await unpack(BODY, undefined, 10)).toBe(BODY);
  });

  it('refuses one byte more than allowed without inflating the rest, and a broken body', async () => {
    await expect(unpack(gzipSync(BODY), 'gzip', 2_999_999)).rejects.toThrow(
      'the response is larger than 2999999 bytes',
    );
    await expect(unpack(Buffer.from('text'), 'gzip', 100)).rejects.toMatchObject({ code: 'Z_DATA_ERROR' });
  });
});
