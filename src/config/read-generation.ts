import { createHash } from 'node:crypto';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readBounded } from '../files/read-bounded.js';
import { MAX_DOCUMENTS, MAX_FILE_BYTES } from '../scaler/yaml/read-yaml.js';
import type { Clock } from '../units/clock.js';
import { whyUnreadable } from './describe-read-error.js';

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
  /** That was because there is no such file or folder. */
  readonly isAbsent?: boolean;
}

const ATTEMPTS = 3;
const DEEPEST_FOLDER = 8;
const FILES_AT_ONCE = 16;
const DOCUMENT_FILE = /\.ya?ml$/;

/** The link in a mounted ConfigMap that is swapped to change all its files at once. */
const DATA_LINK = '..data';

/** How long a file server that does not answer is waited for, by one file and by a whole path. */
const FILE_DEADLINE_MS = 20_000;
const PATH_DEADLINE_MS = 60_000;

/**
 * The documents of a file, or of a folder and its subfolders (`*.yaml` and `*.yml`; names that begin with a dot are
 * left out). A mounted ConfigMap is read through its resolved `..data`, so that one generation is seen as a whole;
 * where that vanishes meanwhile, all is read again. An entry that cannot be read (no regular file, a link that leads
 * nowhere, too long) is an error of its own. `clock` measures how long a file server is waited for; null: as long as
 * it takes. `name` is what the path is called in the names of its files. Never throws.
 * Source: reliability.md C1, C2.
 */
export async function readGeneration(
  path: string,
  clock: Clock | null,
  name: string = path,
): Promise<Generation> {
  let error = '';
  let isAbsent = false;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      return { path, files: await withinDeadline(clock, readPath(path, name, clock)), error: null };
    } catch (failure) {
      error = whyPathFailed(failure, path);
      isAbsent = codeOf(failure) === 'ENOENT' && placeOf(failure) === path;
      if (codeOf(failure) !== 'ENOENT' && !(failure instanceof SwappedError)) break;
    }
  }
  return { path, files: [], error, ...(isAbsent ? { isAbsent } : {}) };
}

function withinDeadline<T>(clock: Clock | null, work: Promise<T>): Promise<T> {
  if (clock === null) return work;
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Error(`reading it takes longer than ${PATH_DEADLINE_MS / 1000} s`));
    const cancel = clock.after(PATH_DEADLINE_MS, late);
    work.then(resolve, reject).finally(cancel);
  });
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

/** A document file that is there, or an entry that could not be looked at. */
interface FoundFile {
  readonly name: string;
  readonly path: string;
  /** The device of its folder. */
  readonly folderDev: number;
  readonly error: string | null;
}

async function readPath(path: string, name: string, clock: Clock | null): Promise<readonly ReadFile[]> {
  const read = (file: FoundFile): Promise<ReadFile> => readOne(file, clock);
  if (!(await stat(path)).isDirectory()) {
    // A file of a mounted ConfigMap is a link to ..data/NAME, so the name alone already gives one generation.
    return [await read({ name, path, folderDev: (await stat(dirname(path))).dev, error: null })];
  }
  const found: FoundFile[] = [];
  const folders: ListedFolder[] = [];
  await listFolder({ name, path, depth: 0 }, { found, folders, seen: new Set() });
  const files = await inBatches(found, read);
  // The kubelet deletes the files of a generation one by one after it has swapped `..data`: a directory that is read
  // meanwhile seems to hold fewer documents, or none.
  for (const { folder, real } of folders)
    if ((await resolveData(folder)) !== real)
      throw new SwappedError(`${folder} was swapped while it was read`);
  return files;
}

/** The directory that was read is no longer the one that `path` leads to. */
class SwappedError extends Error {
  override name = 'SwappedError';
}

/** A directory that was listed, and what it led to. */
interface ListedFolder {
  readonly folder: string;
  readonly real: string;
}

interface Folder {
  readonly name: string;
  readonly path: string;
  readonly depth: number;
}

interface Listing {
  readonly found: FoundFile[];
  readonly folders: ListedFolder[];
  /** The folders that were listed: links may lead back to one of them. */
  readonly seen: Set<string>;
}

async function listFolder(folder: Folder, listing: Listing): Promise<void> {
  const real = await resolveData(folder.path);
  const { dev, ino } = await stat(real);
  if (listing.seen.has(`${dev} ${ino}`)) return;
  listing.seen.add(`${dev} ${ino}`);
  listing.folders.push({ folder: folder.path, real });
  const names = (await readdir(real)).filter((entry) => !entry.startsWith('.')).sort();
  const kinds = await inBatches(names, (entry) => kindOf(join(real, entry)));
  for (const [index, entry] of names.entries()) {
    const at = { name: join(folder.name, entry), path: join(real, entry), folderDev: dev };
    const kind = kinds[index] ?? null;
    if (kind === 'folder') await listSubfolder({ ...at, depth: folder.depth + 1 }, listing);
    else if (DOCUMENT_FILE.test(entry)) listing.found.push({ ...at, error: kind === 'file' ? null : kind });
    if (listing.found.length > MAX_DOCUMENTS)
      throw new Error(`it holds more than ${MAX_DOCUMENTS} document files`);
  }
}

/** A subfolder that cannot be listed is an error of its own, like a file that cannot be read. */
async function listSubfolder(folder: Folder & FolderOf, listing: Listing): Promise<void> {
  if (folder.depth > DEEPEST_FOLDER) return;
  try {
    await listFolder(folder, listing);
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error;
    listing.found.push({ ...folder, error: whyUnreadable(error) });
  }
}

type FolderOf = Pick<FoundFile, 'folderDev'>;

/** Anything but `folder` and `file` says why the entry could not be looked at. Throws where it is gone. */
async function kindOf(path: string): Promise<string> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file';
  } catch (error) {
    // Throws where the entry itself is gone, and with it the generation; else it is a link to what is not there.
    const entry = await lstat(path);
    return codeOf(error) === 'ENOENT' && entry.isSymbolicLink()
      ? 'this link leads to nothing'
      : whyUnreadable(error);
  }
}

/** The results in the order of the items. One after the other takes 0.35 s for 1,000 files, 16 at once 0.1 s. */
async function inBatches<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += FILES_AT_ONCE) {
    results.push(...(await Promise.all(items.slice(from, from + FILES_AT_ONCE).map(work))));
  }
  return results;
}

async function resolveData(folder: string): Promise<string> {
  try {
    return await realpath(join(folder, DATA_LINK));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return realpath(folder);
    throw error;
  }
}

/** A file that is gone is a generation that is gone, and thrown; one that may not be read, or is no text, is told. */
async function readOne({ name, path, folderDev, error }: FoundFile, clock: Clock | null): Promise<ReadFile> {
  if (error !== null) return { name, text: null, error, isOwnMount: false };
  try {
    const deadline = clock === null ? {} : { deadline: { clock, ms: FILE_DEADLINE_MS } };
    const { bytes, dev } = await readBounded(path, { mostBytes: MAX_FILE_BYTES, ...deadline });
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { name, text, error: null, isOwnMount: isMountPoint({ dev }, { dev: folderDev }) };
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') throw cause;
    return { name, text: null, error: whyUnreadable(cause), isOwnMount: false };
  }
}

/** A file on another device than its folder is mounted there by itself (`subPath`), and never changes again. */
export function isMountPoint(file: { readonly dev: number }, folder: { readonly dev: number }): boolean {
  return file.dev !== folder.dev;
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
}

/** What is wrong need not be the path itself: a link in a folder may lead nowhere. */
function whyPathFailed(error: unknown, path: string): string {
  const place = placeOf(error) ?? path;
  return `${place === path ? '' : `${place}: `}${whyUnreadable(error)}`;
}

function placeOf(error: unknown): string | null {
  const isPlaced = typeof error === 'object' && error !== null && 'path' in error;
  return isPlaced && typeof error.path === 'string' ? error.path : null;
}
