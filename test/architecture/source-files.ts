import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Returns all TypeScript files below `directory` of the repository, below the root, with slashes: `src/units/time.ts`. */
export function listSources(root: string, directory: string): readonly string[] {
  return readdirSync(join(root, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort((a, b) => a.localeCompare(b));
}
