import { mkdir, mkdtemp, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createChangeDetector, type ChangeDetector } from '../../src/config/read-path-contents.js';
import { ManualClock } from '../support/manual-clock.js';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'change-detector-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

const OLD = '..2026_01_01_00_00_00.1234567890';
const NEW = '..2026_01_01_00_01_00.2345678901';

/** A clock long after every file was written. */
function laterClock(): ManualClock {
  return new ManualClock('2999-01-01T00:00:00Z');
}

function detect(clock: ManualClock, paths: readonly string[] = [directory]): ChangeDetector {
  return createChangeDetector(paths, { clock, deadlines: null });
}

async function writeVersion(version: string, text: string): Promise<void> {
  await mkdir(join(directory, version));
  await writeFile(join(directory, version, 'a.yaml'), text);
}

async function pointTo(version: string): Promise<void> {
  await symlink(version, join(directory, '..tmp'));
  await rename(join(directory, '..tmp'), join(directory, '..data'));
}

describe('a plain directory', () => {
  it('may have changed before the first note, and has not changed after it', async () => {
    await writeFile(join(directory, 'a.yaml'), 'a');
    const detector = detect(laterClock());
    const first = await detector.mayHaveChanged();
    await detector.note();
    expect([first, await detector.mayHaveChanged(), await detector.mayHaveChanged()]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it.each([
    ['a longer file', () => writeFile(join(directory, 'a.yaml'), 'aa')],
    ['another file', () => writeFile(join(directory, 'b.yaml'), 'b')],
    ['a removed file', () => rm(join(directory, 'a.yaml'))],
    ['a file in a subdirectory', () => writeFile(join(directory, 'sub', 'c.yaml'), 'cc')],
    ['a link that leads to nothing', () => symlink('nothing', join(directory, 'd.yaml'))],
    [
      'the same size and modification time',
      async () => {
        await writeFile(join(directory, 'a.yaml'), 'b');
        await utimes(join(directory, 'a.yaml'), 1, 1);
      },
    ],
    ['a deleted directory', () => rm(directory, { recursive: true })],
  ])('may have changed after %s', async (_, change) => {
    await mkdir(join(directory, 'sub'));
    await writeFile(join(directory, 'sub', 'c.yaml'), 'c');
    await writeFile(join(directory, 'a.yaml'), 'a');
    await utimes(join(directory, 'a.yaml'), 1, 1);
    const detector = detect(laterClock());
    await detector.note();
    await change();
    expect(await detector.mayHaveChanged()).toBe(true);
  });

  it('may always have changed while its newest timestamp is at most 3 s old', async () => {
    const file = join(directory, 'a.yaml');
    await writeFile(file, 'a');
    const { ctimeMs } = await stat(file);
    const changed = async (ms: number): Promise<boolean> => {
      const detector = detect(new ManualClock(new Date(ctimeMs + ms).toISOString()), [file]);
      await detector.note();
      return detector.mayHaveChanged();
    };
    expect([await changed(2999), await changed(3001), await changed(-86_400_000)]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

describe('a mounted ConfigMap', () => {
  it('may have changed after the swap of ..data', async () => {
    await writeVersion(OLD, 'a');
    await pointTo(OLD);
    const detector = detect(laterClock());
    await detector.note();
    await writeVersion(NEW, 'b');
    const beforeSwap = await detector.mayHaveChanged();
    await pointTo(NEW);
    expect([beforeSwap, await detector.mayHaveChanged()]).toEqual([false, true]);
  });

  it('is compared by content every 10 minutes, whatever its metadata', async () => {
    await writeVersion(OLD, 'a');
    await pointTo(OLD);
    const clock = laterClock();
    const detector = detect(clock);
    await detector.note();
    await writeFile(join(directory, OLD, 'a.yaml'), 'aa');
    clock.advance(599_999);
    const before = await detector.mayHaveChanged();
    clock.advance(1);
    expect([before, await detector.mayHaveChanged()]).toEqual([false, true]);
  });

  it('is checked file by file if ..data points to a directory that is not a version', async () => {
    await writeVersion('current', 'a');
    await pointTo('current');
    const detector = detect(laterClock());
    await detector.note();
    await writeFile(join(directory, 'current', 'a.yaml'), 'aa');
    expect(await detector.mayHaveChanged()).toBe(true);
  });
});
