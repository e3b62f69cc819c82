import { close, constants, fstat, open, read, type Stats } from 'node:fs';
import { open as openFile, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import type { Clock } from '../units/clock.js';
import { errorCode, errorMessage } from '../units/failure.js';

/** A file is rejected, because it is too large or not a regular file. */
export class FileError extends Error {
  override name = 'FileError';
}

export function tooLong(mostBytes: number): FileError {
  const mebibytes = mostBytes / 1024 / 1024;
  const shown = Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${mostBytes} bytes`;
  return new FileError(`the file is longer than the maximum of ${shown}`);
}

export interface ReadBounds {
  /** Maximum length. At most one byte more than that is read. */
  readonly mostBytes: number;
  /** Time limit, in case a file system does not respond. Default: none. */
  readonly deadline?: { readonly clock: Clock; readonly ms: number };
  /**
   * Allows a pipe, such as `<(command)` of a shell. It is read until it ends or `signal` is aborted. Default: only
   * regular files are allowed.
   */
  readonly pipe?: { readonly signal?: AbortSignal };
  /** Whether the caller has just checked that the file is regular. Default: it is checked here. */
  readonly isRegular?: boolean;
}

interface BoundedFile {
  readonly bytes: Uint8Array;
  readonly dev: number;
}

/**
 * Reads in progress. Callers for the same file share a read, because a read occupies one of the four threads of libuv,
 * even after its caller has stopped waiting.
 */
const underWay = new Map<string, Promise<BoundedFile>>();

/**
 * Reads a regular file, or a link to one. Other files are rejected: a named pipe may block, a device has no end, and
 * opening a device may have side effects. Throws `FileError` or the error of the system.
 */
export async function readBounded(path: string, bounds: ReadBounds): Promise<BoundedFile> {
  if (bounds.pipe !== undefined) return readFound(path, bounds);
  const key = `${bounds.mostBytes} ${path}`;
  const reading = underWay.get(key) ?? readFound(path, bounds).finally(() => underWay.delete(key));
  underWay.set(key, reading);
  const { deadline } = bounds;
  if (deadline === undefined) return reading;
  return new Promise((resolve, reject) => {
    const late = (): void =>
      reject(new FileError(`reading the file takes longer than ${deadline.ms / 1000} s`));
    const cancel = deadline.clock.after(deadline.ms, late);
    reading.then(resolve, reject).finally(cancel);
  });
}

/**
 * Returns the content as text. Invalid UTF-8 is replaced and not rejected, because comments in a bundle of certificates
 * may have any encoding.
 */
export async function readBoundedText(path: string, bounds: ReadBounds): Promise<string> {
  const { bytes } = await readBounded(path, bounds);
  return new TextDecoder().decode(bytes);
}

async function readFound(path: string, { mostBytes, pipe, isRegular }: ReadBounds): Promise<BoundedFile> {
  if (isRegular !== true || pipe !== undefined) {
    const found = await stat(path);
    if (found.isFIFO() && pipe !== undefined)
      return { bytes: await readPipe(path, mostBytes, pipe.signal), dev: found.dev };
    mustBeRegular(found);
  }
  // O_NONBLOCK: the file may have become a pipe since the check, and opening a pipe would wait for a writer.
  const file = await settled<number>((done) => open(path, constants.O_RDONLY | constants.O_NONBLOCK, done));
  try {
    const opened = await settled<Stats>((done) => fstat(file, done));
    mustBeRegular(opened);
    if (opened.size > mostBytes) throw tooLong(mostBytes);
    return { bytes: await readOpened(file, { mostBytes, size: opened.size }), dev: opened.dev };
  } finally {
    await settled((done) => close(file, done));
  }
}

type Done<T> = (error: Error | null | undefined, value?: T) => void;

/**
 * Returns the result of a function that takes a callback. The variants with promises take three times as long, which
 * matters for 10,000 files.
 */
function settled<T>(start: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => {
      if (error === null || error === undefined) resolve(value as T);
      else reject(error);
    });
  });
}

interface FileKind {
  readonly isFile: () => boolean;
  readonly isDirectory: () => boolean;
}

function mustBeRegular(found: FileKind): void {
  if (found.isDirectory()) throw new FileError('this is a directory, not a file');
  if (!found.isFile()) throw new FileError('this is a pipe, socket or device, not a regular file');
}

const CHUNK_BYTES = 65_536;

/**
 * Reads to the end of a file. The size is only a hint: a file may grow, and files in /proc have size 0. The first read
 * requests one byte more than the size: a regular file has ended if a read returns less than requested.
 */
async function readOpened(
  file: number,
  { mostBytes, size }: { readonly mostBytes: number; readonly size: number },
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const expected = size > length ? size - length + 1 : CHUNK_BYTES;
    const chunk = Buffer.allocUnsafe(Math.min(expected, CHUNK_BYTES, mostBytes + 1 - length));
    const count = await settled<number>((done) => read(file, chunk, 0, chunk.length, null, done));
    length += count;
    if (length > mostBytes) throw tooLong(mostBytes);
    if (count > 0) chunks.push(chunk.subarray(0, count));
    if (count === 0 || (length === size && count < chunk.length)) return concat(chunks, length);
  }
}

function concat(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, length);
}

/**
 * Reads a pipe to its end, or until `signal` is aborted. Waits for a writer if none has opened the pipe yet. A socket
 * is used, because a thread that waits for a file cannot be canceled and keeps the process from exiting.
 */
async function readPipe(path: string, mostBytes: number, signal?: AbortSignal): Promise<Uint8Array> {
  const fd = await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const socket = new Socket({
    fd,
    readable: true,
    writable: false,
    ...(signal === undefined ? {} : { signal }),
  });
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of socket as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > mostBytes) throw tooLong(mostBytes);
    }
    return Buffer.concat(chunks, length);
  } finally {
    socket.destroy();
  }
}

interface Line {
  /** The number of the line, starting at 1. */
  readonly number: number;
  readonly text: string;
}

const LINES_CHUNK_BYTES = 1024 * 1024;

/**
 * Yields the lines of a regular file. Only one line is in memory. The last line may have no line break. Throws
 * `FileError` for a line longer than `mostBytes`, or the error of the system.
 */
export async function* readLines(path: string, mostBytes: number): AsyncGenerator<Line> {
  const file = await openFile(path, 'r');
  try {
    if ((await file.stat()).isDirectory()) throw new FileError('this is a directory, not a file');
    let number = 0;
    let pieces: Uint8Array[] = [];
    let length = 0;
    const finish = (rest: Uint8Array): Line => {
      number += 1;
      const text = Buffer.concat([...pieces, rest]).toString();
      pieces = [];
      length = 0;
      return { number, text };
    };
    for (;;) {
      const { bytesRead, buffer } = await file.read(
        new Uint8Array(LINES_CHUNK_BYTES),
        0,
        LINES_CHUNK_BYTES,
        null,
      );
      if (bytesRead === 0) break;
      let from = 0;
      for (let end = buffer.indexOf(10); end >= 0 && end < bytesRead; end = buffer.indexOf(10, from)) {
        yield finish(buffer.subarray(from, end));
        from = end + 1;
      }
      pieces.push(buffer.subarray(from, bytesRead));
      length += bytesRead - from;
      if (length > mostBytes) throw tooLong(mostBytes);
    }
    if (length > 0) yield finish(new Uint8Array());
  } finally {
    await file.close();
  }
}

export function describeReadError(error: unknown): string {
  switch (errorCode(error)) {
    case 'ABORT_ERR':
      return 'interrupted';
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return 'the file is not UTF-8 text';
    case 'ENOENT':
      return 'no such file or directory';
    case 'EACCES':
      return 'permission denied';
    case 'ELOOP':
      return 'the symbolic link leads to itself';
    case 'EISDIR':
      return 'this is a directory, not a file';
    default:
      return errorMessage(error);
  }
}
