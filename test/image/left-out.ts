import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCKERFILE = join(import.meta.dirname, '../../Dockerfile');

/** Returns the paths that the Dockerfile removes from the built and installed files: `dist/simulator`. */
export function leftOutOfImage(): readonly string[] {
  const removals = readFileSync(DOCKERFILE, 'utf8').match(/^RUN rm .*/gm) ?? [];
  return removals.flatMap((line) => line.split(' ').filter((word) => word.includes('/')));
}
