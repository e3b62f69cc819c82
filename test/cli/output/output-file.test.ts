import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openOutputFile } from '../../../src/cli/output/output-file.js';
import { folderOf } from '../fake-io.js';

describe('an output file', () => {
  it('is created or replaced, with the permissions of the previous one, and leaves no other file', async () => {
    const cwd = folderOf({ 'old.html': 'old' });
    chmodSync(join(cwd, 'old.html'), 0o640);

    for (const name of ['old.html', 'new.html'])
      await (await openOutputFile('--html', name, cwd)).write('new');

    expect(readdirSync(cwd).sort()).toEqual(['new.html', 'old.html']);
    expect(['old.html', 'new.html'].map((name) => readFileSync(join(cwd, name), 'utf8'))).toEqual([
      'new',
      'new',
    ]);
    expect(statSync(join(cwd, 'old.html')).mode & 0o777).toBe(0o640);
  });

  it('does not change until it is written', async () => {
    const cwd = folderOf({ 'old.html': 'old' });

    await openOutputFile('--html', 'old.html', cwd);
    await openOutputFile('--html', 'new.html', cwd);

    expect(readdirSync(cwd)).toEqual(['old.html']);
    expect(readFileSync(join(cwd, 'old.html'), 'utf8')).toBe('old');
  });

  it('behind a link is replaced, and the link stays one', async () => {
    const cwd = folderOf({ 'old.html': 'old' });
    symlinkSync('old.html', join(cwd, 'link'));

    await (await openOutputFile('--html', 'link', cwd)).write('new');

    expect(readFileSync(join(cwd, 'old.html'), 'utf8')).toBe('new');
    expect(readdirSync(cwd).sort()).toEqual(['link', 'old.html']);
  });

  it('may be a device, which stays one', async () => {
    const file = await openOutputFile('--html', '/dev/null', '/');
    await file.write('new');

    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
    expect(existsSync('/dev/null.partial')).toBe(false);
  });

  it.each([
    ['none/new.html', 'there is no directory none. Create it first'],
    ['directory', 'this is a directory, not a file'],
    ['', 'this is a directory, not a file'],
    ['old.html/new.html', 'there is no directory old.html. Create it first'],
  ])('%j is rejected before it is written', async (path, why) => {
    const cwd = folderOf({ 'old.html': 'old' });
    mkdirSync(join(cwd, 'directory'));

    await expect(openOutputFile('--html', path, cwd)).rejects.toThrow(`--html: writing ${path}: ${why}`);
  });

  it('keeps its previous content if the disk is full', async () => {
    const file = await openOutputFile('--html', '/dev/full', '/');

    await expect(file.write('new')).rejects.toThrow(
      /^--html: writing \/dev\/full: .*ENOSPC: no space left on device/,
    );
  });
});
