import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Bug } from './bug.js';

/**
 * Copies the compiled service into its own directory next to the simulation and inserts a bug into the copy; returns
 * the directory. Throws if the text to be replaced does not occur exactly once: then the code has changed, and the bug
 * must follow.
 */
export function plantBug(bug: Bug, dist: URL, copies: URL): URL {
  const root = new URL(`${bug.name}/`, copies);
  const copy = new URL('dist/', root);
  rmSync(root, { recursive: true, force: true });
  cpSync(dist, copy, { recursive: true });
  for (const { file, find, replace } of bug.edits) {
    const path = fileURLToPath(new URL(file, copy));
    writeFileSync(path, replaceOnce(readFileSync(path, 'utf8'), { file, find, replace }));
  }
  return copy;
}

/** White space is that of the compiler's output. */
export function replaceOnce(
  text: string,
  { file, find, replace }: { readonly file: string; readonly find: string; readonly replace: string },
): string {
  const words = find
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(words.join('\\s+'), 'g');
  const count = [...text.matchAll(pattern)].length;
  if (count !== 1) throw new Error(`${file} holds ${count} times: ${find}`);
  return text.replace(pattern, () => replace);
}
