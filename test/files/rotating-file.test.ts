import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readLines } from '../../src/files/read-bounded.js';
import { createRotatingFile } from '../../src/files/rotating-file.js';

let folder = '';
const pathOf = (name: string): string => join(folder, name);
const read = (name: string): string => readFileSync(pathOf(name), 'utf8');

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'promscaler-files-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a rotating file', () => {
  it('starts a new file before 10 bytes are exceeded, and keeps 3 files', async () => {
    const file = createRotatingFile(pathOf('a'), { maxFiles: 3, maxFileBytes: 10 });

    for (const line of ['one\n', 'two\n', 'three\n', 'four\n', 'five\n', 'six\n', 'seven\n'])
      await file.append(Buffer.from(line));

    expect(readdirSync(folder).sort()).toEqual(['a', 'a.1', 'a.2']);
    expect([read('a'), read('a.1'), read('a.2')]).toEqual(['seven\n', 'five\nsix\n', 'four\n']);
  });

  it('deletes all but 2 files after the limit was lowered from 4', async () => {
    const before = createRotatingFile(pathOf('a'), { maxFiles: 4, maxFileBytes: 4 });
    for (const line of ['1\n', '2\n', '3\n', '4\n', '5\n', '6\n', '7\n'])
      await before.append(Buffer.from(line));
    const file = createRotatingFile(pathOf('a'), { maxFiles: 2, maxFileBytes: 4 });

    for (const line of ['8\n', '9\n']) await file.append(Buffer.from(line));

    expect(readdirSync(folder).sort()).toEqual(['a', 'a.1']);
  });

  it('replaces a single file', async () => {
    const file = createRotatingFile(pathOf('a'), { maxFiles: 1, maxFileBytes: 5 });

    for (const line of ['one\n', 'two\n']) await file.append(Buffer.from(line));

    expect([readdirSync(folder), read('a')]).toEqual([['a'], 'two\n']);
  });

  it('ends an incomplete line of a killed process before the next line', async () => {
    appendFileSync(pathOf('a'), '{"cut');
    const file = createRotatingFile(pathOf('a'), { maxFiles: 2, maxFileBytes: 100 });

    await file.append(Buffer.from('{}\n'));

    expect(read('a')).toBe('{"cut\n{}\n');
  });

  it('rejects while its directory is missing, and continues when it is back', async () => {
    mkdirSync(pathOf('volume'));
    const file = createRotatingFile(pathOf('volume/a'), { maxFiles: 2, maxFileBytes: 100 });
    await file.append(Buffer.from('one\n'));
    renameSync(pathOf('volume'), pathOf('gone'));

    await expect(file.append(Buffer.from('two\n'))).rejects.toThrow(/ENOENT/);
    mkdirSync(pathOf('volume'));
    await file.append(Buffer.from('three\n'));

    expect([read('gone/a'), read('volume/a')]).toEqual(['one\n', 'three\n']);
  });

  it('rejects a device, without writing to it', async () => {
    const file = createRotatingFile('/dev/null', { maxFiles: 2, maxFileBytes: 100 });

    await expect(file.append(Buffer.from('one\n'))).rejects.toThrow(/not a regular file/);
    expect(existsSync('/dev/null.1')).toBe(false);
  });
});

describe('readLines', () => {
  const linesOf = async (mostBytes: number): Promise<readonly string[]> => {
    const lines: string[] = [];
    for await (const { number, text } of readLines(pathOf('a'), mostBytes)) lines.push(`${number}:${text}`);
    return lines;
  };

  it('returns lines with their numbers, an empty one and a last one without line break', async () => {
    appendFileSync(pathOf('a'), 'one\n\ntwö');

    expect(await linesOf(100)).toEqual(['1:one', '2:', '3:twö']);
  });

  it('returns a line that spans chunks of 1 MiB', async () => {
    const long = 'ö'.repeat(1_500_000);
    appendFileSync(pathOf('a'), `${long}\nend\n`);

    expect(await linesOf(4_000_000)).toEqual([`1:${long}`, '2:end']);
  });

  it('rejects a line of more than 2 MiB, if that is the limit', async () => {
    appendFileSync(pathOf('a'), 'x'.repeat(3 * 1024 * 1024 + 1));

    await expect(linesOf(2 * 1024 * 1024)).rejects.toThrow('longer than the maximum of 2 MiB');
  });
});
