import { randomUUID } from 'node:crypto';
import { chmod, rename, rm, writeFile } from 'node:fs/promises';
import { errorCode } from '../units/error-code.js';

/**
 * Replaces a file at once: a reader never sees half of it, and a failure leaves the previous one. `mode`: its
 * permissions, null: the default of the system. Throws the error of the system.
 */
export async function replaceFile(path: string, text: string, mode: number | null): Promise<void> {
  const partial = partialOf(path);
  try {
    await writeFile(partial, text, { flag: 'wx', ...(mode === null ? {} : { mode }) });
    // The umask may have reduced the permissions.
    if (mode !== null) await chmod(partial, mode);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    // A file that a container mounts cannot be replaced.
    if (errorCode(error) !== 'EBUSY') throw error;
    await writeFile(path, text);
  }
}

/**
 * Throws the error of the system if the directory of the file takes no new file. `access` does not know about quotas
 * and mounted volumes.
 */
export async function tryReplacement(path: string): Promise<void> {
  const partial = partialOf(path);
  await writeFile(partial, '', { flag: 'wx' });
  await rm(partial, { force: true });
}

function partialOf(path: string): string {
  return `${path}.${randomUUID().slice(0, 8)}.partial`;
}
