import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import axios from 'axios';
import { DeadlineError, withDeadline } from '../../../units/clock.js';
import type { ProgramContext } from './find-program.js';

interface Download {
  /** An http or https URL. */
  readonly url: string;
  /** The file to write; it must not exist. */
  readonly file: string;
  /** The expected SHA-256 sum in hexadecimal. */
  readonly sha256: string;
  readonly limits: DownloadLimits;
}

export interface DownloadLimits {
  readonly bytes: number;
  /** Time limit of the whole download. */
  readonly totalMs: number;
  /** Maximum time in which no byte is received. */
  readonly idleMs: number;
}

const MAX_REDIRECTS = 5;
const PROGRESS_INTERVAL_MS = 500;
const MIB = 1024 * 1024;

/**
 * Downloads a file whose SHA-256 sum is known. Follows redirects, and uses the proxy of HTTPS_PROXY or HTTP_PROXY.
 * Throws an `Error` if the server does not answer with 200, if a limit is exceeded, or if the sum differs. After an
 * error, the file may exist and must not be used.
 */
export async function downloadFile(context: ProgramContext, download: Download): Promise<void> {
  const { clock, signal: parent, progress } = context;
  const { totalMs: ms, idleMs } = download.limits;
  const stall = new AbortController();
  const isIdle = (): (() => void) => clock.after(idleMs, () => stall.abort(new DeadlineError(idleMs)));
  let cancel = isIdle();
  const onBytes = (): void => {
    cancel();
    cancel = isIdle();
  };
  try {
    await withDeadline(clock, { ms, parent }, async (total) => {
      const signal = AbortSignal.any([total, stall.signal]);
      await transfer(context, download, { signal, onBytes }).catch((error: unknown) => {
        // Throws the reason of the abort, because axios and streams throw their own errors instead.
        throw signal.aborted ? signal.reason : error;
      });
    });
  } finally {
    cancel();
    progress?.('');
  }
}

async function transfer(
  { clock, progress }: ProgramContext,
  { url, file, sha256, limits }: Download,
  { signal, onBytes }: { readonly signal: AbortSignal; readonly onBytes: () => void },
): Promise<void> {
  const { data, headers } = await axios.get<Readable>(url, {
    responseType: 'stream',
    decompress: false,
    maxRedirects: MAX_REDIRECTS,
    validateStatus: (status) => status === 200,
    signal,
  });
  const length = Number(headers['content-length'] ?? NaN);
  const hash = createHash('sha256');
  let bytes = 0;
  let shownMs = -Infinity;
  const check = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    if (length > limits.bytes)
      throw new Error(`the file has ${length} bytes, at most ${limits.bytes} are expected`);
    for await (const chunk of chunks) {
      onBytes();
      bytes += chunk.length;
      if (bytes > limits.bytes) throw new Error(`the file has more than ${limits.bytes} bytes`);
      hash.update(chunk);
      const nowMs = clock.monotonicMs();
      if (nowMs - shownMs >= PROGRESS_INTERVAL_MS) {
        const of = Number.isNaN(length) ? '' : ` of ${Math.ceil(length / MIB)}`;
        progress?.(`${Math.floor(bytes / MIB)}${of} MiB`);
        shownMs = nowMs;
      }
      yield chunk;
    }
  };
  await pipeline(data, check, createWriteStream(file, { flags: 'wx' }), { signal }).catch(
    (error: unknown) => {
      if (!(bytes < length && /aborted|ECONNRESET|premature/i.test(String(error)))) throw error;
    },
  );
  if (bytes < length) throw new Error(`the connection was closed after ${bytes} of ${length} bytes`);
  const sum = hash.digest('hex');
  if (sum !== sha256) throw new Error(`the SHA-256 sum of the file is ${sum}, must be ${sha256}`);
}
