import { access, mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ProgramContext } from '../../../../src/cli/demo/programs/context.js';
import { programFromCache } from '../../../../src/cli/demo/programs/program-cache.js';
import { addSeconds } from '../../../../src/units/time.js';
import { type Machine, createMachine } from '../../../programs/machine.js';

let machine: Machine;

beforeEach(async () => {
  machine = await createMachine();
});

afterEach(() => machine.remove());

const program = async (folder: string): Promise<void> => {
  await writeFile(join(folder, 'run'), '#!/bin/sh\n', { mode: 0o755 });
};

/** A process whose clock is ahead of the time at which files were changed. */
function later(seconds: number): ProgramContext {
  const context = machine.context();
  return { ...context, clock: { ...context.clock, now: () => addSeconds(context.clock.now(), seconds) } };
}

describe('programFromCache', () => {
  it('keeps what another process unpacks, although dpkg dates the directory back to the package', async () => {
    const wanted = { name: 'first', program: 'run' };
    const fill = async (folder: string): Promise<void> => {
      await writeFile(join(folder, 'archive.deb'), '');
      await utimes(folder, new Date('2020-01-01'), new Date('2020-01-01'));
      await programFromCache(machine.context(), { name: 'second', program: 'run', fill: program });
      await access(join(folder, 'archive.deb'));
      await program(folder);
    };

    const path = await programFromCache(machine.context(), { ...wanted, fill });

    expect(path).toBe(join(machine.root, 'cache/promscaler/first/run'));
    expect(await readdir(join(machine.root, 'cache/promscaler'))).toEqual(['first', 'second']);
  });

  it.each([
    ['keeps', 3500, ['.partial-old', 'first']],
    ['removes', 3700, ['first']],
  ])('%s a download that was interrupted %i s ago', async (_, seconds, left) => {
    await mkdir(join(machine.root, 'cache/promscaler/.partial-old'), { recursive: true });

    await programFromCache(later(seconds), { name: 'first', program: 'run', fill: program });

    expect(await readdir(join(machine.root, 'cache/promscaler'))).toEqual(left);
  });
});
