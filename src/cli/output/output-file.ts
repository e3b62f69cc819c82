import { randomUUID } from 'node:crypto';
import { access, chmod, constants, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { describeReadError } from '../../config/describe-read-error.js';
import { FileError } from '../../files/file-error.js';
import { CommandError } from '../process/io.js';

/** A file that a command writes when its work is done. */
export interface OutputFile {
  /**
   * Writes the whole file. A regular file is replaced at once: a reader never sees half of it, and a failure leaves the
   * previous one. Throws `CommandError`.
   */
  readonly write: (text: string) => Promise<void>;
}

/**
 * Checks that a file can be written, so that a long run does not fail at its end. Does not change it. Throws
 * `CommandError`, with `option` as the place.
 */
export async function openOutputFile(option: string, path: string, cwd: string): Promise<OutputFile> {
  const failed = (error: unknown): CommandError =>
    new CommandError(`${option}: writing ${path}: ${describeReadError(error)}`);
  const attempt = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw failed(error);
    }
  };
  const target = await attempt(() => findTarget(resolve(cwd, path), dirname(path)));
  return {
    write: (text) =>
      attempt(() => (target.isReplaced ? replace(target, text) : writeFile(target.path, text))),
  };
}

interface Target {
  readonly path: string;
  /** Permissions of the file that is replaced; null: there is none yet. */
  readonly mode: number | null;
  /** False: a device, a pipe, or a file in a directory that cannot be written. */
  readonly isReplaced: boolean;
}

async function findTarget(named: string, directory: string): Promise<Target> {
  // A link stays one: the file that it leads to is replaced.
  const path = await realpath(named).catch(() => named);
  const found = await stat(path).catch(nullIfMissing);
  if (found === null) {
    await tryDirectory(path).catch((error: unknown) => {
      throw isCode(error, MISSING)
        ? new FileError(`there is no directory ${directory}. Create it first`)
        : error;
    });
    return { path, mode: null, isReplaced: true };
  }
  if (found.isDirectory()) throw new FileError('this is a directory, a file was expected');
  await access(path, constants.W_OK);
  const mode = found.mode & 0o777;
  if (!found.isFile()) return { path, mode, isReplaced: false };
  const isReplaced = await tryDirectory(path).then(
    () => true,
    (error: unknown) => {
      if (isCode(error, ['EACCES', 'EPERM', 'EROFS'])) return false;
      throw error;
    },
  );
  return { path, mode, isReplaced };
}

/** `access` does not know about quotas and mounted volumes. */
async function tryDirectory(path: string): Promise<void> {
  const partial = partialOf(path);
  await writeFile(partial, '', { flag: 'wx' });
  await rm(partial, { force: true });
}

async function replace({ path, mode }: Target, text: string): Promise<void> {
  const partial = partialOf(path);
  try {
    await writeFile(partial, text, { flag: 'wx' });
    if (mode !== null) await chmod(partial, mode);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    // A file that a container mounts cannot be replaced.
    if (!isCode(error, ['EBUSY'])) throw error;
    await writeFile(path, text);
  }
}

function partialOf(path: string): string {
  return `${path}.${randomUUID().slice(0, 8)}.partial`;
}

const MISSING = ['ENOENT', 'ENOTDIR'];

function nullIfMissing(error: unknown): null {
  if (isCode(error, MISSING)) return null;
  throw error;
}

function isCode(error: unknown, codes: readonly string[]): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    typeof error.code === 'string' &&
    codes.includes(error.code)
  );
}
