import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { unpackTar } from '../../../../src/cli/demo/programs/unpack-tar.js';
import { tarOf } from './archive-builder.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'promscaler-tar-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const archive = async (contents: Buffer): Promise<string> => {
  const path = join(folder, 'archive');
  await writeFile(path, contents);
  return path;
};

const unpack = (path: string, names: readonly string[], mostBytes = 1_000_000): Promise<void> =>
  unpackTar(path, {
    files: new Map(names.map((name) => [name, join(folder, name.replaceAll('/', '_'))])),
    mostBytes,
  });

describe('unpackTar', () => {
  it.each([0, 1, 511, 512, 513, 200_000])(
    'writes a file of %i bytes after another as executable',
    async (length) => {
      const contents = Buffer.alloc(length, 'x');
      const path = await archive(
        gzipSync(tarOf({ 'p/a': Buffer.from('first'), 'p/b': contents, 'p/c': contents })),
      );

      await unpack(path, ['p/b']);

      expect(await readFile(join(folder, 'p_b'))).toEqual(contents);
      expect((await stat(join(folder, 'p_b'))).mode & 0o111).toBe(0o111);
    },
  );

  it('writes nothing but the named files, whatever the names of the others are', async () => {
    const entries = { '../evil': Buffer.from('a'), '/tmp/evil': Buffer.from('b'), 'p/a': Buffer.from('c') };
    const path = await archive(gzipSync(tarOf(entries)));

    await unpack(path, ['p/a']);

    expect(await readdir(folder)).toEqual(['archive', 'p_a']);
  });

  it('throws for a missing file, and for a name with another directory', async () => {
    const path = await archive(gzipSync(tarOf({ 'p/a': Buffer.from('first') })));

    await expect(unpack(path, ['a', 'p/b'])).rejects.toThrow('the archive has no a, p/b');
  });

  it('throws for a link in place of a file', async () => {
    const path = await archive(gzipSync(tarOf({ 'p/a': Buffer.alloc(0) }, '2')));

    await expect(unpack(path, ['p/a'])).rejects.toThrow('p/a in the archive is not a regular file');
  });

  it('accepts 1000 bytes if that is the limit, and no more', async () => {
    const path = await archive(gzipSync(tarOf({ 'p/a': Buffer.alloc(1000), 'p/b': Buffer.alloc(1001) })));

    await unpack(path, ['p/a'], 1000);
    await expect(unpack(path, ['p/b'], 1000)).rejects.toThrow(
      'p/b in the archive has 1001 bytes, at most 1000',
    );
  });

  it('throws for a truncated archive and for other input than gzip', async () => {
    const whole = gzipSync(tarOf({ 'p/a': Buffer.from('first') }));

    await expect(unpack(await archive(whole.subarray(0, whole.length - 20)), ['p/a'])).rejects.toThrow(
      'unexpected end of file',
    );
    await expect(unpack(await archive(Buffer.from('nonsense')), ['p/b'])).rejects.toThrow(
      'incorrect header check',
    );
  });

  it('throws for an entry without a size', async () => {
    const tar = tarOf({ 'p/a': Buffer.from('first') });
    tar.write('size', 124);

    await expect(unpack(await archive(gzipSync(tar)), ['p/a'])).rejects.toThrow('an entry has no size');
  });
});
