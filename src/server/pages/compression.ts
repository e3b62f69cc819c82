import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request } from 'express';

export const compress = promisify(gzip);

/** Returns whether the client accepts gzip. `gzip;q=0` means that it does not. */
export function acceptsGzip(request: Request): boolean {
  return request.acceptsEncodings('gzip', 'identity') === 'gzip';
}

/** Compresses in a thread of libuv. Level 1 is five times as fast as the default, and the result is 10 % larger. */
export function gzipFast(body: Buffer): Promise<Buffer> {
  return compress(body, { level: 1 });
}
