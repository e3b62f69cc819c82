import { gunzipSync, inflateRawSync } from 'node:zlib';

const TAR_BLOCK = 512;
const ZIP_END = 0x06054b50;
const ZIP_END_LENGTH = 22;
const ZIP_COMMENT_MAX = 65_535;
const ZIP_ENTRY = 0x02014b50;
const ZIP_ENTRY_LENGTH = 46;
const ZIP_LOCAL = 0x04034b50;
const ZIP_LOCAL_LENGTH = 30;
const STORED = 0;
const DEFLATED = 8;

/**
 * Returns a file of a `.tar.gz`, or null if it is not in it. Supports names of up to 100 bytes, as npm packs them. Not
 * every machine has the programs `tar` and `unzip`.
 */
export function readTarFile(archive: Buffer, name: string): Buffer | null {
  const tar = gunzipSync(archive);
  let offset = 0;
  while (offset + TAR_BLOCK <= tar.length) {
    const header = tar.subarray(offset, offset + TAR_BLOCK);
    const size = parseInt(textOf(header.subarray(124, 136)).trim(), 8);
    const start = offset + TAR_BLOCK;
    if (textOf(header.subarray(0, 100)) === name) return tar.subarray(start, start + size);
    // The archive ends with empty blocks, which have no size.
    if (Number.isNaN(size)) return null;
    offset = start + Math.ceil(size / TAR_BLOCK) * TAR_BLOCK;
  }
  return null;
}

function textOf(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? field.length : end);
}

/** Returns a file of a zip (without zip64), or null if it is not in it. Throws if the zip is damaged. */
export function readZipFile(archive: Buffer, name: string): Buffer | null {
  const end = findZipEnd(archive);
  let offset = archive.readUInt32LE(end + 16);
  for (let entry = 0; entry < archive.readUInt16LE(end + 10); entry += 1) {
    if (archive.readUInt32LE(offset) !== ZIP_ENTRY) throw new Error(`the zip is damaged at byte ${offset}`);
    const nameLength = archive.readUInt16LE(offset + 28);
    const nameStart = offset + ZIP_ENTRY_LENGTH;
    if (archive.toString('utf8', nameStart, nameStart + nameLength) === name) return inflate(archive, offset);
    offset = nameStart + nameLength + archive.readUInt16LE(offset + 30) + archive.readUInt16LE(offset + 32);
  }
  return null;
}

function findZipEnd(archive: Buffer): number {
  const first = Math.max(0, archive.length - ZIP_END_LENGTH - ZIP_COMMENT_MAX);
  for (let offset = archive.length - ZIP_END_LENGTH; offset >= first; offset -= 1) {
    if (archive.readUInt32LE(offset) === ZIP_END) return offset;
  }
  throw new Error('this is not a zip file: it has no end record');
}

/** Sizes come from the central directory: they may be zero in the local header. */
function inflate(archive: Buffer, entry: number): Buffer {
  const method = archive.readUInt16LE(entry + 10);
  const size = archive.readUInt32LE(entry + 24);
  const local = archive.readUInt32LE(entry + 42);
  if (archive.readUInt32LE(local) !== ZIP_LOCAL) throw new Error(`the zip is damaged at byte ${local}`);
  const start =
    local + ZIP_LOCAL_LENGTH + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const packed = archive.subarray(start, start + archive.readUInt32LE(entry + 20));
  if (method !== STORED && method !== DEFLATED) throw new Error(`the zip uses method ${method}, not 0 or 8`);
  const contents = method === STORED ? packed : inflateRawSync(packed, { maxOutputLength: size + 1 });
  if (contents.length !== size)
    throw new Error(`the zip is damaged: ${contents.length} bytes instead of ${size}`);
  return contents;
}
