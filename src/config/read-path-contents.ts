import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Stats } from 'node:fs';
import { readBounded, describeReadError } from '../files/read-bounded.js';
import { MAX_FILE_BYTES } from '../scaler/yaml/read-yaml.js';
import type { Clock } from '../units/clock.js';
import { errorCode } from '../units/failure.js';
import { mapAtOnce } from '../units/semaphore.js';
import { ENTRIES_AT_ONCE, type FoundFile, listPath, resolveData } from './list-path.js';

interface ReadFile {
  /** The name in messages: the path as in the config, followed by the path within that directory. */
  readonly name: string;
  /** Null: the file could not be read because of `error`. */
  readonly text: string | null;
  readonly error: string | null;
  /** Whether the file is mounted by `subPath`. The kubelet never updates such a file. */
  readonly isOwnMount: boolean;
}

export interface PathContents {
  readonly path: string;
  /** The files, sorted by name. */
  readonly files: readonly ReadFile[];
  /** Why the whole path could not be read; null: it was read. */
  readonly error: string | null;
  readonly isAbsent?: boolean;
}

const ATTEMPTS = 3;

/** Time limits for a file and for a path, in case a file system does not respond. */
const FILE_DEADLINE_MS = 20_000;
const PATH_DEADLINE_MS = 60_000;

/**
 * Reads a file, or the `*.yaml` and `*.yml` files in a directory and its subdirectories. Names that begin with a dot
 * are skipped. A mounted ConfigMap is read through its resolved `..data`, so that all files are of one version. If that
 * link changes during the read, all files are read again. An entry that cannot be read gets its own error (it is not a
 * regular file, is a broken link or is too long). `clock` measures the time limits; null: there are none. Never throws.
 * Source: reliability.md C1, C2.
 */
export async function readPathContents(path: string, clock: Clock | null): Promise<PathContents> {
  let error = '';
  let isAbsent = false;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      return { path, files: await withinDeadline(clock, readPath(path, clock)), error: null };
    } catch (failure) {
      error = whyPathFailed(failure, path);
      isAbsent = errorCode(failure) === 'ENOENT' && placeOf(failure) === path;
      if (errorCode(failure) !== 'ENOENT' && !(failure instanceof SwappedError)) break;
    }
  }
  return { path, files: [], error, ...(isAbsent ? { isAbsent } : {}) };
}

function withinDeadline<T>(clock: Clock | null, work: Promise<T>): Promise<T> {
  if (clock === null) return work;
  return new Promise((resolve, reject) => {
    const late = (): void =>
      reject(new Error(`reading the path takes longer than ${PATH_DEADLINE_MS / 1000} s`));
    const cancel = clock.after(PATH_DEADLINE_MS, late);
    work.then(resolve, reject).finally(cancel);
  });
}

export function fingerprint(generations: readonly PathContents[]): string {
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

export async function directoryToWatch(path: string): Promise<string> {
  try {
    return (await stat(path)).isDirectory() ? path : dirname(path);
  } catch {
    return dirname(path);
  }
}

async function readPath(path: string, clock: Clock | null): Promise<readonly ReadFile[]> {
  const { files, directories } = await listPath(path, 'reading');
  const contents = await mapAtOnce(files, ENTRIES_AT_ONCE, (file) => readOne(file, clock));
  // The kubelet replaces `..data` and then deletes the old files one by one. A directory that was read during that time
  // seems to have fewer documents or none, so it is read again.
  for (const { directory, real } of directories)
    if ((await resolveData(directory)) !== real)
      throw new SwappedError(`${directory} changed while it was read`);
  return contents;
}

class SwappedError extends Error {
  override name = 'SwappedError';
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a file. Throws if the file does not exist anymore, because the directory has then changed. Any other failure
 * becomes an error of the file.
 */
async function readOne(
  { name, path, directoryDev, stats, error }: FoundFile,
  clock: Clock | null,
): Promise<ReadFile> {
  if (error !== null) return { name, text: null, error, isOwnMount: false };
  try {
    const deadline = clock === null ? {} : { deadline: { clock, ms: FILE_DEADLINE_MS } };
    const { bytes, dev } = await readBounded(path, {
      mostBytes: MAX_FILE_BYTES,
      isRegular: stats === null || stats.isFile(),
      ...deadline,
    });
    const text = UTF_8.decode(bytes);
    return { name, text, error: null, isOwnMount: isMountPoint({ dev }, { dev: directoryDev }) };
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') throw cause;
    return { name, text: null, error: describeReadError(cause), isOwnMount: false };
  }
}

/** Returns whether a file is mounted separately (`subPath`): it is then on another device than its directory. */
export function isMountPoint(file: { readonly dev: number }, directory: { readonly dev: number }): boolean {
  return file.dev !== directory.dev;
}

/**
 * Returns why a path could not be read. If the error is about another path, such as a broken link in the directory, the
 * text names it.
 */
function whyPathFailed(error: unknown, path: string): string {
  const place = placeOf(error) ?? path;
  return `${place === path ? '' : `${place}: `}${describeReadError(error)}`;
}

function placeOf(error: unknown): string | null {
  const isPlaced = typeof error === 'object' && error !== null && 'path' in error;
  return isPlaced && typeof error.path === 'string' ? error.path : null;
}

/**
 * Detects possible changes of files by their metadata: reading 10,000 files every 10 s would take a fifth of a core.
 */
export interface ChangeDetector {
  /**
   * Remembers the metadata. Must be called before the files are read, so that a change during the read is not missed.
   */
  readonly note: () => Promise<void>;
  /**
   * Returns true if files may have changed since the last `note`: their metadata differs, or is too recent to prove
   * that they have not changed.
   */
  readonly mayHaveChanged: () => Promise<boolean>;
}

/**
 * Interval at which contents are compared even if the metadata is unchanged, because a file system may report wrong
 * metadata.
 */
const CONTENTS_INTERVAL_MS = 600_000;

/**
 * Minimum age of a timestamp that proves that a file is unchanged. A file with a younger timestamp may change again
 * without a new timestamp, because file systems have a resolution of up to 2 s (FAT).
 */
const RESOLUTION_MS = 3000;

interface Noted {
  readonly signature: string;
  readonly atMs: number;
}

/**
 * Creates a detector. `deadlines` measures the time limits for a file system that does not respond; null: there are
 * none.
 */
export function createChangeDetector(
  paths: readonly string[],
  { clock, deadlines }: { readonly clock: Clock; readonly deadlines: Clock | null },
): ChangeDetector {
  /**
   * The metadata at the last `note`; null: it could not be read, or was too recent to prove that a file is unchanged.
   */
  let noted: Noted | null = null;

  const sign = async (): Promise<Awaited<ReturnType<typeof signPaths>>> => {
    try {
      return await withinDeadline(deadlines, signPaths(paths));
    } catch {
      // Null means a change: the files are then read, which reports the same error.
      return null;
    }
  };

  return {
    note: async () => {
      const now = clock.now();
      const atMs = clock.monotonicMs();
      const signed = await sign();
      const isSettled = signed !== null && signed.newestMs < now - RESOLUTION_MS;
      noted = isSettled ? { signature: signed.signature, atMs } : null;
    },
    mayHaveChanged: async () => {
      if (noted === null || clock.monotonicMs() - noted.atMs >= CONTENTS_INTERVAL_MS) return true;
      return (await sign())?.signature !== noted.signature;
    },
  };
}

/**
 * Returns a hash of the metadata. The hash of a mounted ConfigMap includes only the directory of its current version.
 * Throws if something cannot be listed.
 */
async function signPaths(
  paths: readonly string[],
): Promise<{ readonly signature: string; readonly newestMs: number } | null> {
  const hash = createHash('sha256');
  let newestMs = -Infinity;
  const add = (path: string, { dev, ino, size, mtimeMs, ctimeMs }: Stats): void => {
    hash.update(JSON.stringify([path, dev, ino, size, mtimeMs, ctimeMs]));
    newestMs = Math.max(newestMs, mtimeMs, ctimeMs);
  };
  for (const path of paths) {
    const { files, directories } = await listPath(path, 'signing');
    for (const { real, stats } of directories) add(real, stats);
    for (const { path: file, stats, error } of files) {
      if (stats === null) hash.update(JSON.stringify([file, error]));
      else add(file, stats);
    }
  }
  return { signature: hash.digest('hex'), newestMs };
}
