import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

export interface Unpacking {
  /**
   * Name in the archive -> path of the file to write. Other entries are skipped, so entry names are never used as
   * paths.
   */
  readonly files: ReadonlyMap<string, string>;
  /** Limit of each file. */
  readonly mostBytes: number;
}

const BLOCK = 512;

/**
 * Writes files of a `.tar.gz` as executables. Supports names of up to 100 bytes. Throws if the archive is damaged or
 * truncated, or if a file is missing or not regular. The program `tar` is not available on all machines.
 */
export async function unpackTar(archive: string, unpacking: Unpacking): Promise<void> {
  const missing = new Set(unpacking.files.keys());
  const reader = createTarReader(unpacking, missing);
  let damage: unknown;
  const read = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    try {
      for await (const chunk of chunks) await reader.take(chunk);
    } catch (error) {
      damage = error;
      throw error;
    }
  };
  try {
    await pipeline(createReadStream(archive), createGunzip(), read);
  } catch (error) {
    // The pipeline may replace an error of `read` with the error of an abort.
    throw damage ?? error;
  } finally {
    await reader.close();
  }
  if (missing.size > 0) throw new Error(`the archive has no ${[...missing].join(', ')}`);
}

interface TarReader {
  readonly take: (chunk: Buffer) => Promise<void>;
  readonly close: () => Promise<void>;
}

function createTarReader({ files, mostBytes }: Unpacking, missing: Set<string>): TarReader {
  let header = Buffer.alloc(0);
  /** Remaining bytes of the current entry, without and with the padding to whole blocks. */
  let contentBytes = 0;
  let paddedBytes = 0;
  let file: FileHandle | null = null;
  const close = async (): Promise<void> => {
    await file?.close();
    file = null;
  };
  const begin = async (): Promise<void> => {
    const { name, size, isRegular } = parseHeader(header);
    header = Buffer.alloc(0);
    [contentBytes, paddedBytes] = [size, Math.ceil(size / BLOCK) * BLOCK];
    await close();
    const path = files.get(name);
    if (path === undefined || !missing.delete(name)) return;
    if (!isRegular) throw new Error(`${name} in the archive is not a regular file`);
    if (size > mostBytes) throw new Error(`${name} in the archive has ${size} bytes, at most ${mostBytes}`);
    file = await open(path, 'wx', 0o755);
  };
  const take = async (chunk: Buffer): Promise<void> => {
    let rest = chunk;
    while (rest.length > 0) {
      if (paddedBytes > 0) {
        const part = rest.subarray(0, paddedBytes);
        await file?.writeFile(part.subarray(0, contentBytes));
        contentBytes = Math.max(0, contentBytes - part.length);
        paddedBytes -= part.length;
        rest = rest.subarray(part.length);
      } else {
        const part = rest.subarray(0, BLOCK - header.length);
        header = Buffer.concat([header, part]);
        rest = rest.subarray(part.length);
        if (header.length === BLOCK) await begin();
      }
    }
  };
  return { take, close };
}

interface TarHeader {
  readonly name: string;
  readonly size: number;
  readonly isRegular: boolean;
}

/** Empty blocks end the archive. They have no name and no size. */
function parseHeader(header: Buffer): TarHeader {
  const size = textOf(header.subarray(124, 136)).trim();
  if (!/^[0-7]*$/.test(size)) throw new Error('the archive is damaged: an entry has no size');
  const type = header[156] ?? 0;
  return {
    name: textOf(header.subarray(0, 100)),
    size: size === '' ? 0 : parseInt(size, 8),
    isRegular: type === 0 || type === '0'.charCodeAt(0),
  };
}

function textOf(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? field.length : end);
}
