import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { unpackTar, unpackZip } from '../../../../src/cli/demo/programs/unpack.js';
import { tarOf, zipOf } from './archive-builder.js';

let root: string;
let directory: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'promscaler-unpack-'));
  directory = await mkdtemp(join(root, 'directory-'));
});

afterEach(() => rm(root, { recursive: true, force: true }));

const archive = async (contents: Buffer): Promise<string> => {
  const path = join(root, 'archive');
  await writeFile(path, contents);
  return path;
};

const A = Buffer.from('first');
const KINDS = [
  ['tar.gz', unpackTar, (files: Readonly<Record<string, Buffer>>) => gzipSync(tarOf(files))],
  ['deflated zip', unpackZip, (files) => zipOf(files, { method: 'deflated' })],
  ['stored zip', unpackZip, (files) => zipOf(files, { method: 'stored', comment: 'made on a Friday' })],
] satisfies [string, typeof unpackTar, (files: Readonly<Record<string, Buffer>>) => Buffer][];

describe.each(KINDS)('a %s', (_kind, unpackFrom, build) => {
  const unpack = async (
    files: Readonly<Record<string, Buffer>>,
    names: readonly string[],
    mostBytes = 1_000_000,
  ): Promise<void> => unpackFrom(await archive(build(files)), { names, directory, strip: 'p/', mostBytes });

  it.each([0, 1, 511, 512, 513, 200_000])('has a file of %i bytes after another', async (length) => {
    const contents = Buffer.alloc(length, 'x');

    await unpack({ 'p/a': A, 'p/b': contents, 'p/c': contents }, ['p/b']);

    expect(await readFile(join(directory, 'b'))).toEqual(contents);
    expect((await stat(join(directory, 'b'))).mode & 0o111).toBe(0o111);
    expect(await readdir(directory)).toEqual(['b']);
  });

  it('writes nothing but the named files, whatever the names of the others are', async () => {
    await unpack({ '../evil': A, '/tmp/evil': A, 'p/../../evil': A, 'p/a': A }, ['p/a']);

    expect(await readdir(directory)).toEqual(['a']);
    expect((await readdir(root)).filter((name) => name.includes('evil'))).toEqual([]);
  });

  it('is rejected without a file, and with a name in another directory', async () => {
    await expect(unpack({ 'p/a': A }, ['a', 'p/b'])).rejects.toThrow(
      'the archive has no regular file a, p/b of at most 1000000 bytes',
    );
  });

  it('may have a file of 1000 bytes if that is the limit, and no more', async () => {
    const files = { 'p/a': Buffer.alloc(1000), 'p/b': Buffer.alloc(1001) };

    await unpack(files, ['p/a'], 1000);
    await expect(unpack(files, ['p/b'], 1000)).rejects.toThrow(
      'the archive has no regular file p/b of at most 1000 bytes',
    );
  });

  it('is rejected if it is truncated, or something else', async () => {
    const whole = build({ 'p/a': A });
    const unpacking = { names: ['p/a'], directory, strip: 'p/', mostBytes: 1000 };

    await expect(unpackFrom(await archive(whole.subarray(0, -20)), unpacking)).rejects.toThrow();
    await expect(unpackFrom(await archive(Buffer.from('nonsense')), unpacking)).rejects.toThrow();
    await expect(unpackFrom(await archive(Buffer.alloc(0)), unpacking)).rejects.toThrow();
  });
});

describe('unpackTar', () => {
  const unpack = async (contents: Buffer): Promise<void> =>
    unpackTar(await archive(contents), { names: ['p/a'], directory, strip: 'p/', mostBytes: 1000 });

  it.each([
    ['a hard link', '1', '../outside'],
    ['a symbolic link', '2', '../outside'],
    ['a device', '3', ''],
    ['a directory', '5', ''],
  ])('rejects %s in place of a file', async (_, type, linksTo) => {
    await expect(unpack(gzipSync(tarOf({ 'p/a': Buffer.alloc(0) }, type, linksTo)))).rejects.toThrow(
      'the archive has no regular file p/a',
    );
    expect(await readdir(directory)).toEqual([]);
  });

  it('follows no link of the archive out of the directory', async () => {
    const link = tarOf({ p: Buffer.alloc(0) }, '2', '../outside');
    const file = tarOf({ 'p/a': A });

    await unpack(gzipSync(Buffer.concat([link.subarray(0, 512), file])));

    expect(await readFile(join(directory, 'a'))).toEqual(A);
    expect((await readdir(root)).length).toBe(2);
  });

  it('rejects an entry without a size', async () => {
    const tar = tarOf({ 'p/a': A });
    tar.write('size', 124);

    await expect(unpack(gzipSync(tar))).rejects.toThrow();
  });
});

describe('unpackZip', () => {
  it('rejects a file that is shorter than the archive says, and never writes more than that', async () => {
    const contents = Buffer.from('kubectl '.repeat(1000));
    const unpacking = { names: ['a'], directory, strip: '', mostBytes: 10_000 };
    const shorter = zipOf({ a: contents }, { method: 'deflated' });
    deflateRawSync(contents.subarray(0, 100)).copy(shorter, 31);
    const longer = zipOf({ a: contents }, { method: 'deflated' });
    longer.writeUInt32LE(100, longer.indexOf('PK\x01\x02') + 24);

    await expect(unpackZip(await archive(shorter), unpacking)).rejects.toThrow(
      'the zip is damaged: a has 100 bytes instead of 8000',
    );
    await unpackZip(await archive(longer), unpacking).catch(() => undefined);

    for (const name of await readdir(directory)) expect((await stat(join(directory, name))).size).toBe(100);
  });
});
