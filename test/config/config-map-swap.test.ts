/**
 * `node:fs/promises` is replaced for `src`, too.
 *
 * @isolated-modules
 */
import type { Dirent } from 'node:fs';
import * as promises from 'node:fs/promises';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';

let onRead: (directory: string) => Promise<void> = () => Promise.resolve();

jest.unstable_mockModule('node:fs/promises', () => ({
  ...promises,
  readdir: async (path: string, options: { withFileTypes: true }): Promise<readonly Dirent[]> => {
    await onRead(path);
    return promises.readdir(path, options);
  },
}));
const { readPathContents } = await import('../../src/config/read-path-contents.js');

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'half-seen-swap-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function addGeneration(number: number, names: readonly string[]): Promise<void> {
  const data = `..2026_${number}`;
  await mkdir(join(directory, data));
  for (const name of names) await writeFile(join(directory, data, name), `# ${name}`);
  await symlink(data, join(directory, '..data_tmp'));
  await rename(join(directory, '..data_tmp'), join(directory, '..data'));
}

async function namesOf(path: string): Promise<readonly string[] | string> {
  const { files, error } = await readPathContents(path, null);
  return error ?? files.map(({ name }) => name.slice(path.length + 1));
}

it.each([
  ['the one file of', ['a.yaml'], '.', ''],
  ['the first of two files of', ['a.yaml', 'b.yaml'], '.', ''],
  ['a directory around', ['a.yaml'], '..', ''],
])(
  'reads the new generation if the kubelet deletes %s the old one meanwhile',
  async (_what, names, place) => {
    const outer = directory;
    directory = join(outer, 'mount');
    await mkdir(directory);
    await addGeneration(1, names);
    let reads = 0;
    onRead = async (read) => {
      if (!read.includes('..2026_1')) return;
      reads += 1;
      // The kubelet swaps `..data` first and then deletes the files of the old generation one by one.
      await addGeneration(2, names);
      await rm(join(read, 'a.yaml'));
    };

    const seen = await namesOf(join(directory, place));
    directory = outer;

    expect(reads).toBe(1);
    expect(seen).toEqual(names.map((name) => (place === '.' ? name : join('mount', name))));
  },
);

it('a directory is unreadable, not empty, if generations change faster than they can be read', async () => {
  await addGeneration(1, ['a.yaml']);
  let number = 1;
  onRead = async (read) => {
    await addGeneration((number += 1), ['a.yaml']);
    await rm(join(read, 'a.yaml'));
  };

  expect(await namesOf(directory)).toBe(`${directory} changed while it was read`);
});
