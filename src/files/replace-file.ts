import { randomUUID } from 'node:crypto';
import { chmod, rename, rm, writeFile } from 'node:fs/promises';
import { errorCode } from '../units/failure.js';

/**
 * Replaces a file atomically: a reader never sees a partial file, and a failure leaves the previous file. `mode`: file
 * permissions, null: system default. Throws the system error.
 */
export async function replaceFile(path: string, text: string, mode: number | null): Promise<void> {
  const partial = partialOf(path);
  try {
    await writeFile(partial, text, { flag: 'wx', ...(mode === null ? {} : { mode }) });
    // The umask may have removed permissions.
    if (mode !== null) await chmod(partial, mode);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    // A file that is mounted into a container cannot be replaced.
    if (errorCode(error) !== 'EBUSY') throw error;
    await writeFile(path, text);
  }
}

/**
 * Throws the system error if no file can be created in the directory of the file. `access` does not check quotas and
 * mounted volumes.
 */
export async function tryReplacement(path: string): Promise<void> {
  const partial = partialOf(path);
  await writeFile(partial, '', { flag: 'wx' });
  await rm(partial, { force: true });
}

function partialOf(path: string): string {
  return `${path}.${randomUUID().slice(0, 8)}.partial`;
}
