import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Environment } from './context.js';

/** Returns the first executable file with this name on the PATH, or null. Skips relative entries of the PATH. */
export async function findOnPath(name: string, env: Environment): Promise<string | null> {
  const file = platform() === 'win32' ? `${name}.exe` : name;
  for (const folder of (env['PATH'] ?? env['Path'] ?? '').split(delimiter)) {
    if (isAbsolute(folder) && (await isExecutable(join(folder, file)))) return join(folder, file);
  }
  return null;
}

/** Returns whether `path` is a file that the current user may execute. */
export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
