import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type LoadedScalers, createScalerFiles } from '../../src/config/scaler-files.js';
import { MAX_FILE_BYTES } from '../../src/scaler/yaml/read-yaml.js';
import { ManualClock } from '../support/manual-clock.js';
import { shortScalerYaml } from '../support/scaler-yaml.js';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hostile-files-'));
  await writeFile(join(directory, 'good.yaml'), shortScalerYaml('good'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

function load(...paths: readonly string[]): Promise<LoadedScalers> {
  return createScalerFiles({
    paths: paths.length > 0 ? paths : [directory],
    clock: new ManualClock(),
  }).load();
}

function namesOf({ scalers }: LoadedScalers): readonly string[] {
  return scalers.map(({ name }) => name);
}

function messagesOf({ problems }: LoadedScalers): readonly string[] {
  return problems.map(({ message }) => message.replaceAll(`${directory}/`, ''));
}

const NO_FILE = 'this is a pipe, socket or device, not a regular file';

describe('a directory with an entry that is not a regular file', () => {
  it('reports a named pipe, and reads the other files', async () => {
    execFileSync('mkfifo', [join(directory, 'pipe.yaml')]);

    const loaded = await load();

    expect(namesOf(loaded)).toEqual(['good']);
    expect(messagesOf(loaded)).toEqual([`reading pipe.yaml: ${NO_FILE}`]);
  });

  it('reports a link to an endless device, and a socket', async () => {
    await symlink('/dev/zero', join(directory, 'zero.yaml'));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(directory, 'socket.yaml'), resolve));

    const loaded = await load();
    server.close();

    expect(namesOf(loaded)).toEqual(['good']);
    expect(messagesOf(loaded)).toEqual([`reading socket.yaml: ${NO_FILE}`, `reading zero.yaml: ${NO_FILE}`]);
  });

  it('reports a broken link, and one that points to itself', async () => {
    await symlink(join(directory, 'missing'), join(directory, 'dangling.yaml'));
    await symlink(join(directory, 'loop.yaml'), join(directory, 'loop.yaml'));

    const loaded = await load();

    expect(namesOf(loaded)).toEqual(['good']);
    expect(messagesOf(loaded)).toEqual([
      'reading dangling.yaml: the symbolic link leads to nothing',
      'reading loop.yaml: the symbolic link leads to itself',
    ]);
  });

  it('skips any entry whose name is not that of a document file', async () => {
    execFileSync('mkfifo', [join(directory, 'pipe')]);
    await symlink('/dev/zero', join(directory, 'zero.txt'));
    await symlink(join(directory, 'missing'), join(directory, 'dangling'));

    const loaded = await load();

    expect(namesOf(loaded)).toEqual(['good']);
    expect(messagesOf(loaded)).toEqual([]);
  });

  it('reports a configured path that is a pipe', async () => {
    const pipe = join(directory, 'pipe.yaml');
    execFileSync('mkfifo', [pipe]);

    expect(messagesOf(await load(pipe))).toEqual([`reading pipe.yaml: ${NO_FILE}`]);
  });
});

describe('a directory with subdirectories', () => {
  it('follows a link to a directory, and lists a directory with circular links once', async () => {
    const other = await mkdtemp(join(tmpdir(), 'hostile-files-'));
    await writeFile(join(other, 'far.yaml'), shortScalerYaml('far'));
    await symlink(other, join(directory, 'other'));
    for (let index = 0; index < 10; index += 1) await symlink(directory, join(directory, `loop-${index}`));

    const loaded = await load();
    await rm(other, { recursive: true });

    expect(namesOf(loaded)).toEqual(['far', 'good']);
    expect(messagesOf(loaded)).toEqual([]);
  });

  it('keeps the documents of a directory that can no longer be listed', async () => {
    const inner = join(directory, 'inner');
    await mkdir(inner);
    await writeFile(join(inner, 'web.yaml'), shortScalerYaml('web'));
    const files = createScalerFiles({ paths: [directory], clock: new ManualClock() });
    await files.load();
    await chmod(inner, 0);
    // Root can read everything, so nothing fails.
    const loaded = await files.load();
    await chmod(inner, 0o700);

    expect(namesOf(loaded)).toEqual(['good', 'web']);
  });
});

describe('a large file', () => {
  it('is read up to 1 MiB', async () => {
    const text = shortScalerYaml('large');
    await writeFile(join(directory, 'large.yaml'), text.padEnd(MAX_FILE_BYTES, ' '));

    expect(namesOf(await load())).toEqual(['good', 'large']);
  });

  it('is an error of that file at 1 MiB plus one byte, and with 8 TiB of zeros', async () => {
    await writeFile(join(directory, 'large.yaml'), shortScalerYaml('large').padEnd(MAX_FILE_BYTES + 1, ' '));
    await writeFile(join(directory, 'sparse.yaml'), '');
    await truncate(join(directory, 'sparse.yaml'), 2 ** 43);

    const loaded = await load();

    expect(namesOf(loaded)).toEqual(['good']);
    expect(messagesOf(loaded)).toEqual([
      'reading large.yaml: the file is longer than the maximum of 1 MiB',
      'reading sparse.yaml: the file is longer than the maximum of 1 MiB',
    ]);
  });
});

it('a directory with 5,000 entries is read', async () => {
  const names = Array.from({ length: 5000 }, (_, index) => `n${index}`);
  await Promise.all(names.map((name) => writeFile(join(directory, name), '')));

  expect(namesOf(await load())).toEqual(['good']);
});
