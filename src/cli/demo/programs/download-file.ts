import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import axios from 'axios';
import { DeadlineError, withDeadline } from '../../../units/clock.js';
import type { ProgramContext } from './context.js';

export interface Download {
  /** http or https. */
  readonly url: string;
  /** The file to write; it must not exist. */
  readonly file: string;
  /** Hexadecimal. */
  readonly sha256: string;
  readonly limits: DownloadLimits;
}

export interface DownloadLimits {
  readonly bytes: number;
  /** Limit for the whole download. */
  readonly totalMs: number;
  /** Limit for the time without a byte. */
  readonly idleMs: number;
}

const MAX_REDIRECTS = 5;
const PROGRESS_INTERVAL_MS = 500;
const MIB = 1024 * 1024;

/**
 * Downloads a file whose SHA-256 sum is known. Follows redirects, and uses the proxy of HTTPS_PROXY or HTTP_PROXY.
 * Throws an `Error` if the server does not answer with 200, if a limit is exceeded, or if the sum differs; then the
 * file may exist and must not be used.
 */
export async function downloadFile(context: ProgramContext, download: Download): Promise<void> {
  const { limits } = download;
  const options = { ms: limits.totalMs, parent: context.signal };
  try {
    await withDeadline(context.clock, options, (signal) => fetchInto(context, download, signal));
  } finally {
    context.progress?.('');
  }
}

async function fetchInto(context: ProgramContext, download: Download, total: AbortSignal): Promise<void> {
  const { clock } = context;
  const { limits } = download;
  const stall = new AbortController();
  const isStalled = (): void => stall.abort(new DeadlineError(limits.idleMs));
  let forget = clock.after(limits.idleMs, isStalled);
  const restart = (): void => {
    forget();
    forget = clock.after(limits.idleMs, isStalled);
  };
  const signal = AbortSignal.any([total, stall.signal]);
  try {
    await transfer(context, download, { signal, onBytes: restart });
  } catch (error) {
    // Axios and streams replace the reason of an abort with their own errors.
    throw signal.aborted ? signal.reason : error;
  } finally {
    forget();
  }
}

interface Transfer {
  readonly signal: AbortSignal;
  readonly onBytes: () => void;
}

async function transfer(
  context: ProgramContext,
  { url, file, sha256, limits }: Download,
  { signal, onBytes }: Transfer,
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
    for await (const chunk of chunks) {
      onBytes();
      bytes += chunk.length;
      if (bytes > limits.bytes) throw new Error(`the file has more than ${limits.bytes} bytes`);
      hash.update(chunk);
      const nowMs = context.clock.monotonicMs();
      if (nowMs - shownMs >= PROGRESS_INTERVAL_MS) {
        context.progress?.(progressText(bytes, length));
        shownMs = nowMs;
      }
      yield chunk;
    }
  };
  if (length > limits.bytes) {
    data.destroy();
    throw new Error(`the file has ${length} bytes, at most ${limits.bytes} are expected`);
  }
  try {
    await pipeline(data, check, createWriteStream(file, { flags: 'wx' }), { signal });
  } catch (error) {
    if (bytes < length && !signal.aborted && isCutOff(error)) throw cutOff(bytes, length);
    throw error;
  }
  if (bytes < length) throw cutOff(bytes, length);
  const sum = hash.digest('hex');
  if (sum !== sha256) throw new Error(`its SHA-256 sum is ${sum}, must be ${sha256}`);
}

function progressText(bytes: number, length: number): string {
  const done = Math.floor(bytes / MIB);
  return Number.isNaN(length) ? `${done} MiB` : `${done} of ${Math.ceil(length / MIB)} MiB`;
}

function isCutOff(error: unknown): boolean {
  return /aborted|ECONNRESET|premature/i.test(String(error));
}

function cutOff(bytes: number, length: number): Error {
  return new Error(`the connection was closed after ${bytes} of ${length} bytes`);
}
