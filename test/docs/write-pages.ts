import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { PAGES, ROOT, currentTables, fillPage, readPage } from './pages.js';

/** `npm run docs`: jest runs it, because only jest reads TypeScript here; `npm test` does not match this file. */
it('writes the generated blocks of all pages', async () => {
  const tables = await currentTables();

  const changed = PAGES.filter((page) => {
    const text = readPage(page);
    const filled = fillPage(text, tables);
    if (filled !== text) writeFileSync(join(ROOT, page), filled);
    return filled !== text;
  });

  for (const page of changed) process.stdout.write(`wrote ${page}\n`);
  expect(PAGES.filter((page) => fillPage(readPage(page), tables) !== readPage(page))).toEqual([]);
});
