import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isMountPoint } from '../../src/config/read-generation.js';
import { type LoadedScalers, createScalerFiles } from '../../src/config/scaler-files.js';
import { ManualClock, eventually } from '../support/manual-clock.js';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scaler-files-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

function documentText(name: string, max: number | string = 10): string {
  return `apiVersion: promscaler.dev/v1
kind: Scaler
metadata: { name: ${name}, namespace: shop }
spec: { scaleTargetRef: { name: web }, maxReplicas: ${max} }
`;
}

function write(file: string, text: string): Promise<void> {
  return writeFile(join(folder, file), text);
}

function filesOf(...paths: readonly string[]): ReturnType<typeof createScalerFiles> {
  const clock = new ManualClock();
  return createScalerFiles({ paths: paths.length > 0 ? paths : [folder], clock });
}

function namesOf({ scalers }: LoadedScalers): readonly string[] {
  return scalers.map(({ name, spec }) => `${name} ${spec.maxReplicas}`);
}

function codesOf({ problems }: LoadedScalers): readonly string[] {
  return problems.map(({ code }) => code);
}

describe('load', () => {
  it('lets others have a turn between two documents of a large file', async () => {
    await write(
      'all.yaml',
      Array.from({ length: 30 }, (_, index) => documentText(`w${index}`)).join('---\n'),
    );
    const clock = new ManualClock();
    let turns = 0;
    // Each document takes 10 ms and a little.
    const slow = {
      now: clock.now,
      random: clock.random,
      monotonicMs: () => (clock.advance(11), clock.monotonicMs()),
      after: (_ms: number, callback: () => void) => {
        turns += 1;
        setImmediate(callback);
        return () => undefined;
      },
    };

    const { scalers } = await createScalerFiles({ paths: [folder], clock: slow }).load();

    expect(scalers).toHaveLength(30);
    expect(turns).toBeGreaterThanOrEqual(10);
  });

  it('reads *.yaml and *.yml of a folder and its subfolders, and nothing else', async () => {
    await mkdir(join(folder, 'team'));
    await mkdir(join(folder, '.git'));
    await write('b.yaml', documentText('b'));
    await write('a.yml', documentText('a'));
    await write('team/c.yaml', documentText('c'));
    await write('.hidden.yaml', documentText('x'));
    await write('.git/x.yaml', documentText('x'));
    await write('notes.txt', 'no yaml');

    const loaded = await filesOf().load();

    expect(namesOf(loaded)).toEqual(['a 10', 'b 10', 'c 10']);
    expect(loaded).toMatchObject({ problems: [], changed: true });
  });

  it('says with the second reading that nothing has changed, and gives the same objects', async () => {
    await write('a.yaml', documentText('a'));
    const files = filesOf();
    const first = await files.load();

    const second = await files.load();

    expect(second.changed).toBe(false);
    expect(second.scalers[0]).toBe(first.scalers[0]);
  });

  it('gives the same object for a document that did not change beside one that did', async () => {
    await write('all.yaml', `${documentText('a')}---\n${documentText('b')}`);
    const files = filesOf();
    const first = await files.load();
    await write('all.yaml', `${documentText('a')}---\n${documentText('b', 20)}`);

    const second = await files.load();

    expect(namesOf(second)).toEqual(['a 10', 'b 20']);
    expect(second.changed).toBe(true);
    expect(second.scalers[0]).toBe(first.scalers[0]);
  });

  it('keeps the last good version of a document that has become wrong; the others change', async () => {
    await write('a.yaml', documentText('a'));
    await write('b.yaml', documentText('b'));
    const files = filesOf();
    await files.load();
    await write('a.yaml', documentText('a', 'many'));
    await write('b.yaml', documentText('b', 20));

    const loaded = await files.load();

    expect(namesOf(loaded)).toEqual(['a 10', 'b 20']);
    expect(codesOf(loaded)).toEqual(['wrong-type']);
  });

  it('keeps the documents of a file that is no YAML any more', async () => {
    await write('all.yaml', `${documentText('a')}---\n${documentText('b')}`);
    const files = filesOf();
    await files.load();
    await write('all.yaml', `${documentText('a', 20)}---\n{ broken`);

    const loaded = await files.load();

    expect(namesOf(loaded)).toEqual(['a 20', 'b 10']);
    expect(codesOf(loaded)).toEqual(['yaml-syntax']);
  });

  it('starts without a document that is wrong from the first', async () => {
    await write('a.yaml', documentText('a', 'many'));
    await write('b.yaml', documentText('b'));

    expect(namesOf(await filesOf().load())).toEqual(['b 10']);
  });

  it('keeps the version that runs when a second document of its name appears', async () => {
    await write('a.yaml', documentText('a'));
    const files = filesOf();
    await files.load();
    await write('b.yaml', documentText('a', 20));

    const loaded = await files.load();

    expect(namesOf(loaded)).toEqual(['a 10']);
    expect(codesOf(loaded)).toEqual(['duplicate-document', 'duplicate-document']);
  });

  it('removes a document that is gone from a folder that can be read', async () => {
    await write('a.yaml', documentText('a'));
    await write('b.yaml', documentText('b'));
    const files = filesOf();
    await files.load();
    await rm(join(folder, 'a.yaml'));

    const loaded = await files.load();

    expect(namesOf(loaded)).toEqual(['b 10']);
    expect(loaded).toMatchObject({ problems: [], changed: true });
  });

  it('keeps all documents of a folder that is empty or gone, and only of that one', async () => {
    const [one, two] = [join(folder, 'one'), join(folder, 'two')];
    await mkdir(one);
    await mkdir(two);
    await write('one/a.yaml', documentText('a'));
    await write('two/b.yaml', documentText('b'));
    const files = filesOf(one, two);
    await files.load();
    await rm(join(one, 'a.yaml'));
    await write('two/b.yaml', documentText('c'));

    const empty = await files.load();
    await rm(one, { recursive: true });
    const gone = await files.load();

    expect(namesOf(empty)).toEqual(['a 10', 'c 10']);
    expect(codesOf(empty)).toEqual(['unreadable']);
    expect(namesOf(gone)).toEqual(['a 10', 'c 10']);
    expect(codesOf(gone)).toEqual(['unreadable']);
  });

  it('keeps the documents of a file that is no longer UTF-8, and says so', async () => {
    await write('a.yaml', documentText('a'));
    await write('b.yaml', documentText('b'));
    const files = filesOf();
    await files.load();
    await writeFile(join(folder, 'a.yaml'), Buffer.from([0xff, 0xfe, 0x61, 0x00]));

    const broken = await files.load();

    expect(namesOf(broken)).toEqual(['a 10', 'b 10']);
    expect(broken.problems).toMatchObject([
      { code: 'unreadable', message: `reading ${join(folder, 'a.yaml')}: the file is not UTF-8 text` },
    ]);
  });

  it('says in words that a path, or what a link in it leads to, is not there', async () => {
    await symlink('nowhere', join(folder, 'link.yaml'));
    const missing = join(folder, 'missing');

    const { problems } = await filesOf(missing, folder).load();

    expect(problems.map(({ message }) => message)).toEqual([
      `reading ${missing}: there is no such file or folder`,
      `reading ${folder}: ${join(folder, 'link.yaml')}: there is no such file or folder`,
    ]);
  });

  it('warns of a folder without documents at the start', async () => {
    expect((await filesOf().load()).problems).toMatchObject([{ code: 'no-documents', severity: 'warning' }]);
  });

  it('reads one generation of a mounted ConfigMap through ..data', async () => {
    await mkdir(join(folder, '..2026_1'));
    await write('..2026_1/a.yaml', documentText('a'));
    await symlink('..2026_1', join(folder, '..data'));
    await symlink('..data/a.yaml', join(folder, 'a.yaml'));
    const files = filesOf();
    const first = await files.load();
    await mkdir(join(folder, '..2026_2'));
    await write('..2026_2/b.yaml', documentText('b'));
    await symlink('..2026_2', join(folder, '..data_tmp'));
    await rename(join(folder, '..data_tmp'), join(folder, '..data'));

    // The kubelet swaps ..data first and removes the link of the old file afterwards.
    const second = await files.load();

    expect(namesOf(first)).toEqual(['a 10']);
    expect(namesOf(second)).toEqual(['b 10']);
    expect(second.problems).toEqual([]);
  });
});

describe('watch', () => {
  it('calls after a change, by the poll of 10 s at the latest, and ends with its signal', async () => {
    await write('a.yaml', documentText('a'));
    const clock = new ManualClock();
    const files = createScalerFiles({ paths: [folder], clock });
    const ending = new AbortController();
    await files.load();
    const seen: (readonly string[])[] = [];
    const watching = files.watch(async () => {
      seen.push(namesOf(await files.load()));
    }, ending.signal);

    await write('a.yaml', documentText('a', 20));
    await eventually(() => {
      clock.advance(10_000);
      return seen.length > 0;
    }, 'the change');
    clock.advance(30_000);
    ending.abort();
    await watching;

    expect(seen).toEqual([['a 20']]);
  });

  it('calls for nothing while nothing changes', async () => {
    await write('a.yaml', documentText('a'));
    const clock = new ManualClock();
    const files = createScalerFiles({ paths: [folder], clock });
    const ending = new AbortController();
    await files.load();
    let calls = 0;
    const watching = files.watch(() => {
      calls += 1;
    }, ending.signal);

    clock.advance(60_000);
    ending.abort();
    await watching;

    expect(calls).toBe(0);
  });
});

describe('isMountPoint', () => {
  it('finds a file on another device than its folder', () => {
    expect(isMountPoint({ dev: 2 }, { dev: 1 })).toBe(true);
    expect(isMountPoint({ dev: 1 }, { dev: 1 })).toBe(false);
  });
});
