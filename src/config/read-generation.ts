import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { readFile, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** One file as it was read. */
export interface ReadFile {
  /** As the user named it, or a folder that holds it. */
  readonly name: string;
  /** Null where it could not be read; `error` says why. */
  readonly text: string | null;
  readonly error: string | null;
  /** A mount of its own, which the kubelet never updates. */
  readonly isOwnMount: boolean;
}

/** What one path of the config holds at one moment. */
export interface Generation {
  readonly path: string;
  /** In the order of their names. */
  readonly files: readonly ReadFile[];
  /** Why the path as a whole could not be read; null: it could. */
  readonly error: string | null;
}

const ATTEMPTS = 3;
const DEEPEST_FOLDER = 8;
const DOCUMENT_FILE = /\.ya?ml$/;

/** The link in a mounted ConfigMap that is swapped to change all its files at once. */
const DATA_LINK = '..data';

/**
 * The documents of a file, or of a folder and its subfolders (`*.yaml` and `*.yml`; names that begin with a dot are
 * left out). A mounted ConfigMap is read through its resolved `..data`, so that one generation is seen as a whole;
 * where that vanishes meanwhile, all is read again. `name` is what the
 * path is called in the names of its files. Never throws. Source: reliability.md C1, C2.
 */
export async function readGeneration(path: string, name: string = path): Promise<Generation> {
  let error = '';
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      return { path, files: await readPath(path, name), error: null };
    } catch (failure) {
      error = messageOf(failure);
      if (codeOf(failure) !== 'ENOENT') break;
    }
  }
  return { path, files: [], error };
}

/** Tells generations apart by what stands in them. */
export function fingerprint(generations: readonly Generation[]): string {
  const hash = createHash('sha256');
  for (const { path, files, error } of generations) {
    hash.update(JSON.stringify([path, error]));
    for (const { name, text, error: fileError } of files) {
      hash.update(JSON.stringify([name, fileError, text?.length]));
      hash.update(text ?? '');
    }
  }
  return hash.digest('hex');
}

/** The folder whose changes are changes of `path`. */
export async function folderToWatch(path: string): Promise<string> {
  try {
    return (await stat(path)).isDirectory() ? path : dirname(path);
  } catch {
    return dirname(path);
  }
}

async function readPath(path: string, name: string): Promise<readonly ReadFile[]> {
  const found = await stat(path);
  if (!found.isDirectory()) {
    // A file of a mounted ConfigMap is a link to ..data/NAME, so the name alone already gives one generation.
    return [await readOne(name, path, await isMount(path, found))];
  }
  return readFolder(name, path, 0);
}

async function readFolder(name: string, folder: string, depth: number): Promise<readonly ReadFile[]> {
  const real = await resolveData(folder);
  const entries = (await readdir(real)).filter((entry) => !entry.startsWith('.')).sort();
  const files: ReadFile[] = [];
  for (const entry of entries) {
    const at = join(real, entry);
    const found = await stat(at);
    if (found.isDirectory()) {
      if (depth < DEEPEST_FOLDER) files.push(...(await readFolder(join(name, entry), at, depth + 1)));
    } else if (DOCUMENT_FILE.test(entry)) {
      files.push(await readOne(join(name, entry), at, await isMount(at, found)));
    }
  }
  return files;
}

async function resolveData(folder: string): Promise<string> {
  try {
    return await realpath(join(folder, DATA_LINK));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return realpath(folder);
    throw error;
  }
}

/** A file that is gone is a generation that is gone, and thrown; one that may not be read is told. */
async function readOne(name: string, path: string, isOwnMount: boolean): Promise<ReadFile> {
  try {
    return { name, text: await readFile(path, 'utf8'), error: null, isOwnMount };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw error;
    return { name, text: null, error: messageOf(error), isOwnMount };
  }
}

async function isMount(path: string, found: Stats): Promise<boolean> {
  return isMountPoint(found, await stat(dirname(path)));
}

/** A file on another device than its folder is mounted there by itself (`subPath`), and never changes again. */
export function isMountPoint(file: { readonly dev: number }, folder: { readonly dev: number }): boolean {
  return file.dev !== folder.dev;
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
