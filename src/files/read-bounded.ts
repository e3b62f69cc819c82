import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Clock } from '../units/clock.js';
import { FileError, tooLong } from './file-error.js';
import { readPipe } from './read-pipe.js';

interface ReadBounds {
  /** A longer file is rejected. Reads at most one byte more. */
  readonly mostBytes: number;
  /** Time limit for a file system that does not respond. Default: none. */
  readonly deadline?: { readonly clock: Clock; readonly ms: number };
  /**
   * Also reads a pipe, such as `<(command)` of a shell, to its end or until `signal` is aborted. Default: only regular
   * files.
   */
  readonly pipe?: { readonly signal?: AbortSignal };
}

interface BoundedFile {
  readonly bytes: Uint8Array;
  readonly dev: number;
}

/**
 * Reads in progress. Each occupies one of the four libuv threads for files and host names, even after its caller
 * stopped waiting, so callers for the same file share one read.
 */
const underWay = new Map<string, Promise<BoundedFile>>();

/**
 * Reads a regular file, or a link to one. Other files are rejected: a named pipe may block, a device never ends, and
 * opening a device may have side effects. Throws `FileError`, or the error of the system.
 */
export async function readBounded(path: string, bounds: ReadBounds): Promise<BoundedFile> {
  if (bounds.pipe !== undefined) return readFound(path, bounds);
  const key = `${bounds.mostBytes} ${path}`;
  const reading = underWay.get(key) ?? readFound(path, bounds).finally(() => underWay.delete(key));
  underWay.set(key, reading);
  const { deadline } = bounds;
  if (deadline === undefined) return reading;
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new FileError(`reading it takes longer than ${deadline.ms / 1000} s`));
    const cancel = deadline.clock.after(deadline.ms, late);
    reading.then(resolve, reject).finally(cancel);
  });
}

/** Replaces invalid UTF-8, because a bundle of certificates may have comments in any encoding. */
export async function readBoundedText(path: string, bounds: ReadBounds): Promise<string> {
  const { bytes } = await readBounded(path, bounds);
  return new TextDecoder().decode(bytes);
}

async function readFound(path: string, { mostBytes, pipe }: ReadBounds): Promise<BoundedFile> {
  const found = await stat(path);
  if (found.isFIFO() && pipe !== undefined) {
    return { bytes: await readPipe(path, mostBytes, pipe.signal), dev: found.dev };
  }
  mustBeRegular(found);
  // The file may have become a pipe since the check. Without O_NONBLOCK, opening a pipe waits for a writer.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const opened = await handle.stat();
    mustBeRegular(opened);
    if (opened.size > mostBytes) throw tooLong(mostBytes);
    return { bytes: await readHandle(handle, mostBytes), dev: opened.dev };
  } finally {
    await handle.close();
  }
}

interface FileKind {
  readonly isFile: () => boolean;
  readonly isDirectory: () => boolean;
}

function mustBeRegular(found: FileKind): void {
  if (found.isDirectory()) throw new FileError('this is a directory, a file was expected');
  if (!found.isFile()) throw new FileError('this is a pipe, socket or device, a regular file was expected');
}

const CHUNK_BYTES = 65_536;

/** The size is only a hint: a file may grow, and files in /proc have size 0. */
async function readHandle(handle: FileHandle, mostBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const wanted = Math.min(CHUNK_BYTES, mostBytes + 1 - length);
    const { bytesRead, buffer } = await handle.read(new Uint8Array(wanted), 0, wanted, null);
    if (bytesRead === 0) return Buffer.concat(chunks, length);
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
    if (length > mostBytes) throw tooLong(mostBytes);
  }
}
