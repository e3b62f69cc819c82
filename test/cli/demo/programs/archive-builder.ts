import { deflateRawSync } from 'node:zlib';

/** Builds a tar of regular files, or of entries of another type, with two empty blocks at its end. */
export function tarOf(files: Readonly<Record<string, Buffer>>, type = '0', linksTo = ''): Buffer {
  const blocks = Object.entries(files).flatMap(([name, contents]) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write('0000644 ', 100);
    header.write(`${contents.length.toString(8).padStart(11, '0')} `, 124);
    // The sum is computed with spaces in its place.
    header.write('        ', 148);
    header.write(type, 156);
    header.write(linksTo, 157);
    header.write('ustar\u000000', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, contents, Buffer.alloc((512 - (contents.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** Builds a zip of files, all packed by one method; checksums are zero. */
export function zipOf(
  files: Readonly<Record<string, Buffer>>,
  options: { readonly method: 'stored' | 'deflated'; readonly comment?: string },
): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, contents] of Object.entries(files)) {
    const packed = options.method === 'stored' ? contents : deflateRawSync(contents);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(options.method === 'stored' ? 0 : 8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(contents.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, Buffer.from(name), packed);
    entries.push(entry, Buffer.from(name));
    offset += local.length + name.length + packed.length;
  }
  const end = Buffer.alloc(22);
  const comment = Buffer.from(options.comment ?? '');
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(files).length, 8);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...locals, ...entries, end, comment]);
}
