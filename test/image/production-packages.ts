import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Returns the packages that `npm ci --omit=dev` installs, according to the lock file. */
export function productionPackages(): readonly string[] {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { readonly dev?: boolean }>>;
  };
  return Object.entries(lock.packages).flatMap(([path, { dev }]) =>
    path === '' || dev === true ? [] : [path],
  );
}

/** Copies paths of the repository. One process for each directory: there are thousands of files. */
export function copyInto(folder: string, paths: readonly string[]): void {
  for (const parent of new Set(paths.map(dirname))) {
    const children = paths.filter((path) => dirname(path) === parent);
    mkdirSync(join(folder, parent), { recursive: true });
    succeed('cp', ['-RL', ...children.map((path) => join(ROOT, path)), join(folder, parent)]);
  }
}

/** Runs a program; throws with its last words if it fails. */
export function succeed(file: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(file, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${file} ended with ${status}: ${stderr}`);
}
