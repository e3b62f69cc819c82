import { inflateRawSync } from 'node:zlib';

const END = 0x06054b50;
const END_LENGTH = 22;
const COMMENT_MAX = 65_535;
const ENTRY = 0x02014b50;
const ENTRY_LENGTH = 46;
const LOCAL = 0x04034b50;
const LOCAL_LENGTH = 30;
const STORED = 0;
const DEFLATED = 8;

/**
 * Returns a file of a zip (without zip64), or null if the zip does not contain it. Throws if the zip is damaged. The
 * program `unzip` is not available on all machines.
 */
export function readZipFile(archive: Buffer, name: string): Buffer | null {
  const end = findEnd(archive);
  let offset = archive.readUInt32LE(end + 16);
  for (let entry = 0; entry < archive.readUInt16LE(end + 10); entry += 1) {
    if (archive.readUInt32LE(offset) !== ENTRY) throw new Error(`the zip is damaged at byte ${offset}`);
    const nameLength = archive.readUInt16LE(offset + 28);
    const nameStart = offset + ENTRY_LENGTH;
    if (archive.toString('utf8', nameStart, nameStart + nameLength) === name) return inflate(archive, offset);
    offset = nameStart + nameLength + archive.readUInt16LE(offset + 30) + archive.readUInt16LE(offset + 32);
  }
  return null;
}

function findEnd(archive: Buffer): number {
  const first = Math.max(0, archive.length - END_LENGTH - COMMENT_MAX);
  for (let offset = archive.length - END_LENGTH; offset >= first; offset -= 1) {
    if (archive.readUInt32LE(offset) === END) return offset;
  }
  throw new Error('this is not a zip file: it has no end record');
}

/** Uses the sizes in the central directory, because those in the local header may be zero. */
function inflate(archive: Buffer, entry: number): Buffer {
  const method = archive.readUInt16LE(entry + 10);
  const size = archive.readUInt32LE(entry + 24);
  const local = archive.readUInt32LE(entry + 42);
  if (archive.readUInt32LE(local) !== LOCAL) throw new Error(`the zip is damaged at byte ${local}`);
  const start = local + LOCAL_LENGTH + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const packed = archive.subarray(start, start + archive.readUInt32LE(entry + 20));
  if (method !== STORED && method !== DEFLATED) throw new Error(`the zip uses method ${method}, not 0 or 8`);
  const contents = method === STORED ? packed : inflateRawSync(packed, { maxOutputLength: size + 1 });
  if (contents.length !== size)
    throw new Error(`the zip is damaged: ${contents.length} bytes instead of ${size}`);
  return contents;
}
