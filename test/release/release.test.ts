import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');
const PARTS = [
  'release',
  'package.json',
  'package-lock.json',
  'CHANGELOG.md',
  'charts/promscaler/Chart.yaml',
];
const OWNER = {
  repository: 'https://git.example/team/promscaler',
  homepage: 'https://promscaler.example',
  maintainerName: 'The team',
  maintainerUrl: 'https://git.example/team',
};

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'promscaler-release-'));
  for (const part of PARTS) cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (...args: readonly string[]): { code: number | null; out: string; error: string } => {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  return { code: status, out: stdout, error: stderr };
};

const setOwner = (values: object): void =>
  writeFileSync(join(folder, 'release/owner.json'), JSON.stringify(values));

const text = (file: string): string => readFileSync(join(folder, file), 'utf8');

const { version, bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
};

describe('npm run release:check', () => {
  it('names every missing value of the owner, and nothing else', () => {
    setOwner({ ...OWNER, repository: '', homepage: null, maintainerUrl: 'http://git.example' });

    const { code, error } = run('release/check.mjs');

    expect(code).toBe(1);
    expect(error.trimEnd().split('\n')).toEqual([
      'release/owner.json: repository is missing: the https URL of the Git repository',
      'release/owner.json: homepage is missing: the https URL of the home page',
      'release/owner.json: maintainerUrl is http://git.example, must be the https URL of the maintainer',
      expect.stringContaining('Chart.yaml: maintainers is not'),
    ]);
  });

  it('passes after release:write, also with the tag of the version', () => {
    setOwner(OWNER);
    expect(run('release/check.mjs').error).toContain('run npm run release:write');

    expect(run('release/write.mjs')).toMatchObject({ code: 0, error: '' });

    expect(run('release/check.mjs', `v${version}`)).toEqual({
      code: 0,
      out: `version ${version} can be published\n`,
      error: '',
    });
    expect(run('release/check.mjs', 'v9.9.9').error).toContain('the tag is v9.9.9');
  });

  it('finds a version without changes, and one that is not everywhere', () => {
    setOwner(OWNER);
    writeFileSync(join(folder, 'package.json'), text('package.json').replace(`"${version}"`, '"9.9.9"'));

    expect(run('release/check.mjs').error).toMatch(
      /Chart\.yaml: version is not "9\.9\.9".*Chart\.yaml: appVersion.*package-lock\.json: version.*CHANGELOG\.md: there is no section 9\.9\.9/s,
    );
  });
});

describe('npm run release:write', () => {
  it('writes the origin and the version, and keeps the rest of the files', () => {
    setOwner(OWNER);
    writeFileSync(join(folder, 'package.json'), text('package.json').replace(`"${version}"`, '"9.9.9"'));
    const before = text('charts/promscaler/Chart.yaml');

    run('release/write.mjs');

    expect(JSON.parse(text('package.json'))).toMatchObject({
      homepage: OWNER.homepage,
      repository: { type: 'git', url: `git+${OWNER.repository}.git` },
      bugs: { url: `${OWNER.repository}/issues` },
    });
    const after = text('charts/promscaler/Chart.yaml');
    expect(parse(after)).toMatchObject({
      version: '9.9.9',
      appVersion: '9.9.9',
      home: OWNER.homepage,
      sources: [OWNER.repository],
      maintainers: [{ name: OWNER.maintainerName, url: OWNER.maintainerUrl }],
    });
    expect(after.replaceAll('9.9.9', version).startsWith(before)).toBe(true);
  });

  it('changes nothing without values of the owner', () => {
    const before = ['package.json', 'charts/promscaler/Chart.yaml'].map(text);
    setOwner({ ...OWNER, repository: null, homepage: null, maintainerUrl: null });

    run('release/write.mjs');

    expect(['package.json', 'charts/promscaler/Chart.yaml'].map(text)).toEqual(before);
  });
});

describe('npm run release:krew', () => {
  it('fills in version, origin and sum of the archive', () => {
    setOwner(OWNER);
    writeFileSync(join(folder, 'archive.tar.gz'), 'abc');

    const { out, error } = run('release/krew.mjs', 'archive.tar.gz');

    expect(error).toBe('');
    const manifest = parse(out) as { spec: { shortDescription: string } };
    expect(manifest).toMatchObject({
      apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
      kind: 'Plugin',
      metadata: { name: 'promscaler' },
      spec: {
        version: `v${version}`,
        homepage: OWNER.homepage,
        platforms: [
          {
            selector: { matchExpressions: [{ key: 'os', operator: 'In', values: ['darwin', 'linux'] }] },
            uri: `${OWNER.repository}/releases/download/v${version}/promscaler-krew-${version}.tar.gz`,
            sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
            bin: bin['kubectl-promscaler'],
          },
        ],
      },
    });
    // The index of krew rejects longer ones.
    expect(manifest.spec.shortDescription.length).toBeLessThanOrEqual(50);
  });

  it('fails without the origin', () => {
    setOwner({ ...OWNER, homepage: null });
    writeFileSync(join(folder, 'archive.tar.gz'), 'abc');

    expect(run('release/krew.mjs', 'archive.tar.gz')).toMatchObject({
      code: 1,
      error: expect.stringContaining('release/owner.json: homepage is missing'),
    });
  });
});
