import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { isExecutable } from './find-on-path.js';
import { MissingProgramError } from './context.js';
import type { ProgramContext } from './context.js';

/** A program in a directory of the cache that is either absent or complete. */
export interface CachedProgram {
  /** Name of the directory. */
  readonly name: string;
  /** Path of the program in the directory. */
  readonly program: string;
}

export interface CachedDirectory extends CachedProgram {
  /** Fills the empty directory. */
  readonly fill: (folder: string) => Promise<void>;
}

const PARTIAL = '.partial-';
const ABANDONED_MS = 3_600_000;

/**
 * Returns the cache directory: `$XDG_CACHE_HOME/promscaler`, else `~/.cache/promscaler`, on Windows below
 * `%LOCALAPPDATA%`. It may not exist.
 */
export function cacheDirectory(context: ProgramContext): string {
  const { XDG_CACHE_HOME: cache = '', HOME: home = '', LOCALAPPDATA: local = '' } = context.env;
  // The XDG specification declares relative paths invalid.
  if (isAbsolute(cache)) return join(cache, 'promscaler');
  if (isAbsolute(home)) return join(home, '.cache', 'promscaler');
  if (isAbsolute(local)) return join(local, 'promscaler');
  throw new MissingProgramError('no cache directory: neither XDG_CACHE_HOME nor HOME is set');
}

/** Returns the path of a program in the cache, or null. */
export async function cachedProgram(context: ProgramContext, wanted: CachedProgram): Promise<string | null> {
  const path = join(cacheDirectory(context), wanted.name, wanted.program);
  return (await isExecutable(path)) ? path : null;
}

/**
 * Returns the path of the program in the directory, and fills the directory first if it is absent. Fills it under a
 * temporary name and then renames it: a partial directory is never used, and the first of two processes wins.
 */
export async function programFromCache(context: ProgramContext, wanted: CachedDirectory): Promise<string> {
  const cache = cacheDirectory(context);
  const folder = join(cache, wanted.name);
  const program = join(folder, wanted.program);
  if (await isExecutable(program)) return program;
  await mkdir(cache, { recursive: true });
  await removeAbandoned(context, cache);
  const partial = await mkdtemp(join(cache, PARTIAL));
  try {
    await wanted.fill(partial);
    await putInPlace(partial, folder);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  if (await isExecutable(program)) return program;
  throw new Error(`${wanted.name} does not contain ${wanted.program}`);
}

async function putInPlace(partial: string, folder: string): Promise<void> {
  try {
    await rename(partial, folder);
  } catch (error) {
    // Another process has created the same directory first.
    if (!(await exists(folder))) throw error;
  }
}

async function removeAbandoned(context: ProgramContext, cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    if (!name.startsWith(PARTIAL)) continue;
    const ageMs = context.clock.now() - ((await changedMs(path)) ?? context.clock.now());
    if (ageMs > ABANDONED_MS) await rm(path, { recursive: true, force: true });
  }
}

/** Returns null if the path does not exist. */
async function changedMs(path: string): Promise<number | null> {
  try {
    // dpkg and tar set the mtime of a directory to that of the package, so a directory in use would look abandoned.
    return (await stat(path)).ctimeMs;
  } catch {
    return null;
  }
}

async function exists(path: string): Promise<boolean> {
  return (await changedMs(path)) !== null;
}
