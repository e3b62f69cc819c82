import { access, mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ProgramContext, findProgram } from '../../../../src/cli/demo/programs/find-program.js';
import { addSeconds } from '../../../../src/units/time.js';
import { type Machine, createMachine } from '../../../programs/machine.js';

let machine: Machine;

beforeEach(async () => {
  machine = await createMachine();
});

afterEach(() => machine.remove());

const write = (directory: string): Promise<void> =>
  writeFile(join(directory, 'run'), '#!/bin/sh\n', { mode: 0o755 });

/** Finds the program `run`, which `download` writes to its directory in the cache. */
const find = (
  directory: string,
  download: (into: string) => Promise<void> = write,
  context: ProgramContext = machine.context(),
): Promise<string> =>
  findProgram(context, {
    title: 'a program',
    binary: 'run',
    origins: [
      {
        title: 'a test',
        directory,
        path: (binary) => binary,
        isPossible: () => Promise.resolve(true),
        download: (_context, into) => download(into),
      },
    ],
    probe: [],
    install: {},
    page: '',
  });

/** A process whose clock is ahead of the time at which files were changed. */
function later(seconds: number): ProgramContext {
  const context = machine.context();
  return { ...context, clock: { ...context.clock, now: () => addSeconds(context.clock.now(), seconds) } };
}

describe('the cache of findProgram', () => {
  it('keeps what another process unpacks, although dpkg dates the directory back to the package', async () => {
    const path = await find('first', async (directory) => {
      await writeFile(join(directory, 'archive.deb'), '');
      await utimes(directory, new Date('2020-01-01'), new Date('2020-01-01'));
      await find('second');
      await access(join(directory, 'archive.deb'));
      await write(directory);
    });

    expect(path).toBe(join(machine.root, 'cache/promscaler/first/run'));
    expect(await readdir(join(machine.root, 'cache/promscaler'))).toEqual(['first', 'second']);
  });

  it.each([
    ['keeps', 3500, ['.partial-old', 'first']],
    ['removes', 3700, ['first']],
  ])('%s a download that was interrupted %i s ago', async (_, seconds, left) => {
    await mkdir(join(machine.root, 'cache/promscaler/.partial-old'), { recursive: true });

    await find('first', write, later(seconds));

    expect(await readdir(join(machine.root, 'cache/promscaler'))).toEqual(left);
  });

  it('does not keep a download without the program', async () => {
    await expect(find('first', () => Promise.resolve())).rejects.toThrow('ENOENT');

    expect(await readdir(join(machine.root, 'cache/promscaler'))).toEqual([]);
  });
});
