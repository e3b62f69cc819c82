import { chmod, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type LoadedScalers, createScalerFiles } from '../../src/config/scaler-files.js';
import type { ObjectSource } from '../../src/config/read-objects.js';
import { ManualClock } from '../support/manual-clock.js';
import { shortScalerYaml } from '../support/scaler-yaml.js';

let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'scaler-files-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

function write(file: string, text: string): Promise<void> {
  return writeFile(join(directory, file), text);
}

function filesOf(...paths: readonly string[]): ReturnType<typeof createScalerFiles> {
  const clock = new ManualClock();
  return createScalerFiles({ paths: paths.length > 0 ? paths : [directory], clock });
}

function namesOf({ scalers }: LoadedScalers): readonly string[] {
  return scalers.map(({ name, spec }) => `${name} ${spec.maxReplicas}`);
}

function codesOf({ problems }: LoadedScalers): readonly string[] {
  return problems.map(({ code }) => code);
}

describe('originOf', () => {
  const origin = async (files: ReturnType<typeof filesOf>, key = 'shop/web') => {
    await files.load();
    const { file, newest } = files.originOf(key);
    return { file, ...newest() };
  };

  it('is the file of a document in effect, with its part of the file and the comments in it', async () => {
    const own = `# for the sale\n${shortScalerYaml('web')}# until January\n`;
    await write(
      'all.yaml',
      `# all\n---\n${shortScalerYaml('api')}---\n${own}--- # last\n${shortScalerYaml('cart')}`,
    );
    const files = filesOf();

    expect(await origin(files)).toEqual({
      file: join(directory, 'all.yaml'),
      documentText: own.trimEnd(),
      rejectedChanges: [],
    });
    expect(await origin(files, 'shop/none')).toEqual({ file: null, documentText: null, rejectedChanges: [] });
  });

  it('has no text of more than 20,000 characters', async () => {
    const rest = 20_000 - shortScalerYaml('web').length - 2;
    const textWith = (length: number): string => `${shortScalerYaml('web')}# ${'x'.repeat(length)}`;
    await write('web.yaml', textWith(rest));
    const files = filesOf();

    expect((await origin(files)).documentText).toHaveLength(20_000);
    await write('web.yaml', textWith(rest + 1));
    expect((await origin(files)).documentText).toBeNull();
  });

  it('names the fields in which a rejected version differs from the one in effect, with the defaults of the config', async () => {
    const clock = new ManualClock();
    const read = { defaults: { tolerance: 0.2 } };
    const files = createScalerFiles({ paths: [directory], clock, read });
    await write('web.yaml', shortScalerYaml('web', 10));
    await origin(files);
    await write('web.yaml', shortScalerYaml('web', -1));

    const { documentText: text, rejectedChanges } = await origin(files);

    expect(text).toContain('maxReplicas: -1');
    expect(rejectedChanges).toEqual([{ field: 'spec.maxReplicas', current: '10', proposed: '-1' }]);
  });

  it('names them of an object', async () => {
    let specText = '{"scaleTargetRef":{"name":"web"},"maxReplicas":10}';
    const objects: ObjectSource = {
      list: () => [{ namespace: 'shop', name: 'web', specText }],
      isComplete: () => true,
      onChange: () => () => undefined,
    };
    const files = createScalerFiles({ paths: [directory], clock: new ManualClock(), objects });
    await origin(files);
    specText = specText.replace('10', '0');

    expect(await origin(files)).toEqual({
      file: null,
      documentText: null,
      rejectedChanges: [{ field: 'spec.maxReplicas', current: '10', proposed: '0' }],
    });
  });
});

describe('load', () => {
  it('does not block the event loop between two documents of a large file', async () => {
    await write(
      'all.yaml',
      Array.from({ length: 30 }, (_, index) => shortScalerYaml(`w${index}`)).join('---\n'),
    );
    const clock = new ManualClock();
    let turns = 0;
    // Each document takes 10 ms and a little.
    const slow = {
      now: clock.now,
      random: clock.random,
      monotonicMs: () => (clock.advance(11), clock.monotonicMs()),
      after: (ms: number, callback: () => void) => {
        if (ms > 0) return () => undefined;
        turns += 1;
        setImmediate(callback);
        return () => undefined;
      },
    };

    const { scalers } = await createScalerFiles({ paths: [directory], clock: slow }).load();

    expect(scalers).toHaveLength(30);
    expect(turns).toBeGreaterThanOrEqual(10);
  });

  it('reads *.yaml and *.yml of a directory and its subdirectories, and nothing else', async () => {
    await mkdir(join(directory, 'team'));
    await mkdir(join(directory, '.git'));
    await write('b.yaml', shortScalerYaml('b'));
    await write('a.yml', shortScalerYaml('a'));
    await write('team/c.yaml', shortScalerYaml('c'));
    await write('.hidden.yaml', shortScalerYaml('x'));
    await write('.git/x.yaml', shortScalerYaml('x'));
    await write('notes.txt', 'no yaml');

    const loaded = await filesOf().load();

    expect(namesOf(loaded)).toEqual(['a 10', 'b 10', 'c 10']);
    expect(loaded).toMatchObject({ problems: [], changed: true });
  });

  it('reports no change at the second reading, and returns the same objects', async () => {
    await write('a.yaml', shortScalerYaml('a'));
    const files = filesOf();
    const first = await files.load();

    const second = await files.load();

    expect(second.changed).toBe(false);
    expect(second.scalers[0]).toBe(first.scalers[0]);
  });

  it('returns the same object for an unchanged document next to a changed one', async () => {
    await write('all.yaml', `${shortScalerYaml('a')}---\n${shortScalerYaml('b')}`);
    const files = filesOf();
    const first = await files.load();
    await write('all.yaml', `${shortScalerYaml('a')}---\n${shortScalerYaml('b', 20)}`);

    const second = await files.load();

    expect(namesOf(second)).toEqual(['a 10', 'b 20']);
    expect(second.changed).toBe(true);
    expect(second.scalers[0]).toBe(first.scalers[0]);
  });

  it('keeps the last valid version of a document that became invalid, and applies the changes of others', async () => {
    await write('a.yaml', shortScalerYaml('a'));
    await write('b.yaml', shortScalerYaml('b'));
    const files = filesOf();
    await files.load();
    await write('a.yaml', shortScalerYaml('a', 'many'));
    await write('b.yaml', shortScalerYaml('b', 20));

    const loaded = await files.load();

    expect(namesOf(loaded)).toEqual(['a 10', 'b 20']);
    expect(codesOf(loaded)).toEqual(['wrong-type']);
  });

  it('keeps the documents of a file that is no longer YAML', async () => {
    await write('all.yaml', `${shortScalerYaml('a')}---\n${shortScalerYaml('b')}`);
    const files = filesOf();
    await files.load();
    await write('all.yaml', `${shortScalerYaml('a', 20)}---\n{ broken`);

    const loaded = await files.load();

    expect(namesOf(loaded)).toEqual(['a 20', 'b 10']);
    expect(codesOf(loaded)).toEqual(['yaml-syntax']);
  });

  it('starts without a document that was never valid', async () => {
    await write('a.yaml', shortScalerYaml('a', 'many'));
    await write('b.yaml', shortScalerYaml('b'));

    expect(namesOf(await filesOf().load())).toEqual(['b 10']);
  });

  it('keeps the version in effect when a second document with its name appears', async () => {
    await write('a.yaml', shortScalerYaml('a'));
    const files = filesOf();
    await files.load();
    await write('b.yaml', shortScalerYaml('a', 20));

    const loaded = await files.load();

    expect(namesOf(loaded)).toEqual(['a 10']);
    expect(codesOf(loaded)).toEqual(['duplicate-document']);
    expect(loaded.problems[0]?.message).toContain('a version that is already in effect stays in effect');
  });

  it('removes a document that was deleted from a readable directory', async () => {
    await write('a.yaml', shortScalerYaml('a'));
    await write('b.yaml', shortScalerYaml('b'));
    const files = filesOf();
    await files.load();
    await rm(join(directory, 'a.yaml'));

    const loaded = await files.load();

    expect(namesOf(loaded)).toEqual(['b 10']);
    expect(loaded).toMatchObject({ problems: [], changed: true });
  });

  it('removes all documents of an empty directory, and keeps those of a deleted one, and only those', async () => {
    const [one, two] = [join(directory, 'one'), join(directory, 'two')];
    await mkdir(one);
    await mkdir(two);
    await write('one/a.yaml', shortScalerYaml('a'));
    await write('two/b.yaml', shortScalerYaml('b'));
    const files = filesOf(one, two);
    await files.load();
    await rm(join(one, 'a.yaml'));

    const empty = await files.load();
    await rm(two, { recursive: true });
    const gone = await files.load();

    expect(namesOf(empty)).toEqual(['b 10']);
    expect(empty).toMatchObject({
      changed: true,
      problems: [{ code: 'no-documents', message: `${one} has no scaler documents` }],
    });
    expect(namesOf(gone)).toEqual(['b 10']);
    expect(gone.problems).toMatchObject([
      { code: 'no-documents' },
      {
        code: 'unreadable',
        message: `reading ${two}: no such file or directory; the document last read from the path stays in effect`,
      },
    ]);
  });

  it.each([
    ['without a byte', ''],
    ['of blank lines and comments', '\n# web moved to another cluster\n\n'],
    ['of document separators', '---\n---\n'],
  ])('removes the documents of a file %s', async (_what, text) => {
    const path = join(directory, 'a.yaml');
    await write('a.yaml', shortScalerYaml('a'));
    const files = filesOf(path);
    await files.load();
    await write('a.yaml', text);

    const loaded = await files.load();

    expect(namesOf(loaded)).toEqual([]);
    expect(codesOf(loaded)).toEqual(['no-documents']);
  });

  it('keeps the documents of a configured file that is deleted, and reads a file that replaces it', async () => {
    const path = join(directory, 'a.yaml');
    await write('a.yaml', shortScalerYaml('a'));
    const files = filesOf(path);
    await files.load();
    await rm(path);

    const gone = await files.load();
    await write('a.yaml', shortScalerYaml('b'));
    const back = await files.load();

    expect(namesOf(gone)).toEqual(['a 10']);
    expect(codesOf(gone)).toEqual(['unreadable']);
    expect(namesOf(back)).toEqual(['b 10']);
    expect(back.problems).toEqual([]);
  });

  it('keeps the documents if a file replaces their directory, and if permission is denied', async () => {
    const place = join(directory, 'scalers');
    await mkdir(place);
    await write('scalers/a.yaml', shortScalerYaml('a'));
    const files = filesOf(place);
    await files.load();
    await chmod(place, 0);

    const denied = await files.load();
    await chmod(place, 0o700);
    await rm(place, { recursive: true });
    await symlink('scalers', place);
    const loop = await files.load();

    expect(namesOf(denied)).toEqual(['a 10']);
    expect(namesOf(loop)).toEqual(['a 10']);
    expect(codesOf(loop)).toEqual(['unreadable']);
  });

  it('keeps the documents of a file that is no longer UTF-8, and reports that', async () => {
    await write('a.yaml', shortScalerYaml('a'));
    await write('b.yaml', shortScalerYaml('b'));
    const files = filesOf();
    await files.load();
    await writeFile(join(directory, 'a.yaml'), Buffer.from([0xff, 0xfe, 0x61, 0x00]));

    const broken = await files.load();

    expect(namesOf(broken)).toEqual(['a 10', 'b 10']);
    expect(broken.problems).toMatchObject([
      { code: 'unreadable', message: `reading ${join(directory, 'a.yaml')}: the file is not UTF-8 text` },
    ]);
  });

  it('reports that a path, or the target of a link in it, does not exist', async () => {
    await symlink('nowhere', join(directory, 'link.yaml'));
    const missing = join(directory, 'missing');

    const { problems } = await filesOf(missing, directory).load();

    expect(problems.map(({ message }) => message)).toEqual([
      `reading ${missing}: no such file or directory`,
      `reading ${join(directory, 'link.yaml')}: the symbolic link leads to nothing`,
    ]);
  });

  it('warns at startup about a directory without documents', async () => {
    expect((await filesOf().load()).problems).toMatchObject([{ code: 'no-documents', severity: 'warning' }]);
  });

  it('reads one generation of a mounted ConfigMap through ..data', async () => {
    await mkdir(join(directory, '..2026_1'));
    await write('..2026_1/a.yaml', shortScalerYaml('a'));
    await symlink('..2026_1', join(directory, '..data'));
    await symlink('..data/a.yaml', join(directory, 'a.yaml'));
    const files = filesOf();
    const first = await files.load();
    await mkdir(join(directory, '..2026_2'));
    await write('..2026_2/b.yaml', shortScalerYaml('b'));
    await symlink('..2026_2', join(directory, '..data_tmp'));
    await rename(join(directory, '..data_tmp'), join(directory, '..data'));

    // The kubelet swaps ..data first and removes the link of the old file afterwards.
    const second = await files.load();

    expect(namesOf(first)).toEqual(['a 10']);
    expect(namesOf(second)).toEqual(['b 10']);
    expect(second.problems).toEqual([]);
  });

  it('removes the last document of a mounted ConfigMap when it is deleted', async () => {
    await mkdir(join(directory, '..2026_1'));
    await write('..2026_1/a.yaml', shortScalerYaml('a'));
    await symlink('..2026_1', join(directory, '..data'));
    const files = filesOf();
    const first = await files.load();
    await mkdir(join(directory, '..2026_2'));
    await symlink('..2026_2', join(directory, '..data_tmp'));
    await rename(join(directory, '..data_tmp'), join(directory, '..data'));

    const second = await files.load();

    expect(namesOf(first)).toEqual(['a 10']);
    expect(namesOf(second)).toEqual([]);
    expect(codesOf(second)).toEqual(['no-documents']);
  });
});
