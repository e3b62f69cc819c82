import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Clock } from '../units/clock.js';
import { FileError, tooLong } from './file-error.js';
import { readPipe } from './read-pipe.js';

export interface ReadBounds {
  /** A longer file is refused; no more than one byte past this is ever read. */
  readonly mostBytes: number;
  /** How long a file server that does not answer is waited for. Default: as long as it takes. */
  readonly deadline?: { readonly clock: Clock; readonly ms: number };
  /** Also reads a pipe to its end, such as a shell's `<(command)`, until `signal` is aborted. Default: regular files alone. */
  readonly pipe?: { readonly signal?: AbortSignal };
}

/** What is read of a file, and the device that it is on. */
export interface BoundedFile {
  readonly bytes: Uint8Array;
  readonly dev: number;
}

/**
 * Reads under way. Each holds one of the four threads that all files and host names share, also when nobody waits for
 * it any longer, so that whoever wants the same file waits for the same read.
 */
const underWay = new Map<string, Promise<BoundedFile>>();

/**
 * Reads a regular file, or a link to one. A named pipe would be waited for without end, a device never ends, and some
 * devices do something when they are opened. Throws `FileError`, or what the system says.
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

/** The same as text. What is not UTF-8 in it is replaced: a bundle of certificates may have comments in any encoding. */
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
  // It may have become a pipe since: opening one without this flag waits for a writer.
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

/** The size of a file is a hint alone: it may grow, and files of /proc have none. */
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
