import { access, constants, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { describeReadError, FileError } from '../../files/read-bounded.js';
import { replaceFile, tryReplacement } from '../../files/replace-file.js';
import { errorCode } from '../../units/failure.js';
import { CommandError } from './io.js';

/** A file that a command writes when its work is done. */
export interface OutputFile {
  /**
   * Writes the whole file. A regular file is replaced atomically, so that a reader never sees a partial file, and the
   * old file remains after a failure. Throws `CommandError`.
   */
  readonly write: (text: string) => Promise<void>;
}

/**
 * Checks that a file can be written, so that a long run does not fail at its end. Does not change the file. Throws
 * `CommandError`; its message starts with `option`.
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
      attempt(() =>
        target.isReplaced ? replaceFile(target.path, text, target.mode) : writeFile(target.path, text),
      ),
  };
}

interface Target {
  readonly path: string;
  /** Permissions of the existing file; null: there is none yet. */
  readonly mode: number | null;
  /** False: the path is a device or a pipe, or a file in a directory that cannot be written. */
  readonly isReplaced: boolean;
}

async function findTarget(named: string, directory: string): Promise<Target> {
  // Replaces the file that a symbolic link refers to, not the link.
  const path = await realpath(named).catch(() => named);
  const found = await stat(path).catch(nullIfMissing);
  if (found === null) {
    await tryReplacement(path).catch((error: unknown) => {
      throw isCode(error, MISSING)
        ? new FileError(`there is no directory ${directory}. Create it first`)
        : error;
    });
    return { path, mode: null, isReplaced: true };
  }
  if (found.isDirectory()) throw new FileError('this is a directory, not a file');
  await access(path, constants.W_OK);
  const mode = found.mode & 0o777;
  if (!found.isFile()) return { path, mode, isReplaced: false };
  const isReplaced = await tryReplacement(path).then(
    () => true,
    (error: unknown) => {
      if (isCode(error, ['EACCES', 'EPERM', 'EROFS'])) return false;
      throw error;
    },
  );
  return { path, mode, isReplaced };
}

const MISSING = ['ENOENT', 'ENOTDIR'];

function nullIfMissing(error: unknown): null {
  if (isCode(error, MISSING)) return null;
  throw error;
}

function isCode(error: unknown, codes: readonly string[]): boolean {
  return codes.includes(errorCode(error) ?? '');
}
