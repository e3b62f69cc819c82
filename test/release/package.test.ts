import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { productionPackages, succeed } from '../image/production-packages.js';

jest.setTimeout(240_000);

const ROOT = join(import.meta.dirname, '../..');

interface Manifest {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
}

/** The package that `npm pack` writes, in an empty directory, without network: its dependencies are links. */
describe('the npm package', () => {
  let folder: string;
  let installed: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'promscaler-package-'));
    installed = join(folder, 'node_modules/promscaler');
    linkProductionPackages(folder);
    mkdirSync(installed, { recursive: true });
    const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
    spawnSync('npm', pack, { cwd: ROOT });
    const [archive = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    succeed('tar', ['-xzf', join(folder, archive), '-C', installed, '--strip-components=1']);
    mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
    for (const [name, path] of Object.entries(manifest().bin))
      symlinkSync(join('../promscaler', path), join(folder, 'node_modules/.bin', name));
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const manifest = (): Manifest =>
    JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Manifest;

  /** Runs `promscaler`, or with npx. */
  const run = (
    args: readonly string[],
    [file, ...first]: readonly [string, ...string[]] = ['node_modules/.bin/promscaler'],
  ): { code: number | null; stdout: string; stderr: string } => {
    const { status, stdout, stderr } = spawnSync(file, [...first, ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
    // npm may print notices about itself.
    return { code: status, stdout, stderr: stderr.replace(/^npm .*\n/gm, '') };
  };

  it('validates its examples, and prints its version', () => {
    const npx = ['npx', '--no-install', '--offline', 'promscaler'] as const;
    expect(run(['validate', join(installed, 'config/scalers')], npx)).toMatchObject({ code: 0, stderr: '' });
    expect(run(['version']).stdout).toBe(`promscaler ${manifest().version}\n`);
  });

  it('runs the demo', () => {
    const { code, stdout } = run(['demo', '--duration', '3', '--port', '0']);

    expect(stdout).toContain('The demo ended: ');
    expect(stdout).toContain('promscaler status --kubeconfig');
    expect(code).toBe(0);
  });

  it('holds no tests, no sources and no bundle, but all pages that its README and its documentation link', () => {
    expect(readdirSync(installed).sort()).toEqual([
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'charts',
      'config',
      'dist',
      'docs',
      'package.json',
    ]);
    expect(readdirSync(join(installed, 'dist'))).not.toContain('bundle');
    const pages = readdirSync(join(installed, 'docs'), { recursive: true, encoding: 'utf8' });
    const files = [
      'README.md',
      ...pages.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
    ];
    expect(files.length).toBeGreaterThan(20);
    const dead = files.flatMap((file) => {
      const links = readFileSync(join(installed, file), 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g);
      return (
        [...links]
          .map(([, link = '']) => join(dirname(file), link))
          // The design refers to tests of the repository.
          .filter((path) => !path.startsWith('test/') && !existsSync(join(installed, path)))
          .map((path) => `${file}: ${path}`)
      );
    });
    expect(dead).toEqual([]);
  });
});

/** Links the directories of the dependencies; copies would take longer than all tests. */
function linkProductionPackages(folder: string): void {
  const isNested = (path: string): boolean => path.lastIndexOf('node_modules/') > 0;
  for (const path of productionPackages().filter((one) => !isNested(one))) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(folder, path));
  }
}
