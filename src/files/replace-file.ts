import { randomUUID } from 'node:crypto';
import { chmod, rename, rm, writeFile } from 'node:fs/promises';
import { errorCode } from '../units/failure.js';

/**
 * Replaces a file atomically: a reader never sees a partial file, and after a failure the previous file remains.
 * `mode`: the permissions of the file; null: the default of the system. Throws the error of the system.
 */
export async function replaceFile(path: string, text: string, mode: number | null): Promise<void> {
  const partial = partialOf(path);
  try {
    await writeFile(partial, text, { flag: 'wx', ...(mode === null ? {} : { mode }) });
    // Sets the permissions again, because the umask may have removed some.
    if (mode !== null) await chmod(partial, mode);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    // EBUSY: a file that is mounted into a container cannot be replaced, so it is overwritten.
    if (errorCode(error) !== 'EBUSY') throw error;
    await writeFile(path, text);
  }
}

/**
 * Creates and removes a file in the directory of `path`, because `access` does not check quotas and mounted volumes.
 * Throws the error of the system if that fails.
 */
export async function tryReplacement(path: string): Promise<void> {
  const partial = partialOf(path);
  await writeFile(partial, '', { flag: 'wx' });
  await rm(partial, { force: true });
}

function partialOf(path: string): string {
  return `${path}.${randomUUID().slice(0, 8)}.partial`;
}
