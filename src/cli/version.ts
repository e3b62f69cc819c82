import { readFileSync } from 'node:fs';

/** The version of this build, read from the package's own description. */
export const VERSION: string = readVersion();

function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const description: unknown = JSON.parse(text);
  if (typeof description !== 'object' || description === null || !('version' in description))
    return 'unknown';
  return String(description.version);
}
