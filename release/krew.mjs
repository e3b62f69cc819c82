// Prints the krew manifest of an archive: node release/krew.mjs ARCHIVE
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from './sources.mjs';

const ROOT = join(import.meta.dirname, '..');
const [archive] = process.argv.slice(2);
if (archive === undefined) throw new Error('usage: node release/krew.mjs ARCHIVE');
const { repository, homepage } = readJson(ROOT, 'release/owner.json');
const values = {
  version: readJson(ROOT, 'package.json').version,
  repository,
  homepage,
  sha256: createHash('sha256').update(readFileSync(archive)).digest('hex'),
};
const template = readFileSync(join(ROOT, 'release/krew.yaml'), 'utf8');
process.stdout.write(
  template.replace(/\{\{(\w+)\}\}/g, (_match, name) => {
    const value = values[name];
    if (typeof value !== 'string') throw new Error(`release/owner.json: ${name} is missing`);
    return value;
  }),
);
