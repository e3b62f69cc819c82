import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readBounded } from '../../src/files/read-bounded.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'promscaler-files-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function fileOf(length: number): Promise<{ path: string; bytes: Buffer }> {
  const bytes = Buffer.from(Array.from({ length }, (_, index) => index % 251));
  const path = join(folder, 'file');
  await writeFile(path, bytes);
  return { path, bytes };
}

describe('readBounded', () => {
  it.each([0, 1, 65_535, 65_536, 65_537, 200_000])(
    'reads %d bytes, and no more than allowed',
    async (length) => {
      const { path, bytes } = await fileOf(length);
      for (const isRegular of [false, true]) {
        const read = await readBounded(path, { mostBytes: length, isRegular });
        expect(Buffer.compare(Buffer.from(read.bytes), bytes)).toBe(0);
      }
      if (length > 0)
        await expect(readBounded(path, { mostBytes: length - 1 })).rejects.toThrow('longer than');
    },
  );

  it('reads a file of the system, whose size is 0', async () => {
    const { bytes } = await readBounded('/proc/self/status', { mostBytes: 100_000 });
    expect(Buffer.from(bytes).toString()).toContain('VmRSS');
    await expect(readBounded('/proc/self/status', { mostBytes: 100 })).rejects.toThrow('longer than');
  });

  it('rejects what is not a regular file, also if it was one before', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    for (const isRegular of [false, true]) {
      await expect(readBounded(folder, { mostBytes: 10, isRegular })).rejects.toThrow('directory');
      await expect(readBounded(join(folder, 'pipe'), { mostBytes: 10, isRegular })).rejects.toThrow('pipe');
    }
  });

  it('closes what it has opened', async () => {
    const { path } = await fileOf(10);
    const before = await readdir('/proc/self/fd');
    for (let count = 0; count < 20; count += 1) {
      await readBounded(path, { mostBytes: 10 });
      await expect(readBounded(path, { mostBytes: 9 })).rejects.toThrow('longer than');
    }
    expect((await readdir('/proc/self/fd')).length).toBeLessThan(before.length + 10);
  });

  it('rejects a file that is missing with the error of the system', async () => {
    for (const isRegular of [false, true])
      await expect(readBounded(join(folder, 'none'), { mostBytes: 1, isRegular })).rejects.toMatchObject({
        code: 'ENOENT',
      });
  });
});
