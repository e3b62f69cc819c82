import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { generatedTables } from './tables.js';

export const ROOT = join(import.meta.dirname, '../..');

/** Pages at the root of the repository that are documentation. */
const ROOT_PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];

/** All Markdown pages for users and contributors, as paths below the root. */
export const PAGES: readonly string[] = [...ROOT_PAGES, ...pagesBelow('docs'), ...pagesBelow('config')];

/** Returns the Markdown pages below a directory of the repository. */
export function pagesBelow(directory: string): readonly string[] {
  return filesBelow(directory).filter((file) => file.endsWith('.md'));
}

/** Returns the files below a directory of the repository, as paths below the root. */
export function filesBelow(directory: string): readonly string[] {
  return readdirSync(join(ROOT, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)))
    .sort();
}

export function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** Returns all generated blocks of this checkout, by name. */
export function currentTables(): Promise<Readonly<Record<string, string>>> {
  return generatedTables(readdirSync(join(ROOT, 'src')));
}

const BLOCK = /<!-- generated: ([^>]+?) -->\n[\s\S]*?<!-- end -->/g;

/** Returns the names of the generated blocks of a page, in order. */
export function blocksOf(text: string): readonly string[] {
  return Array.from(text.matchAll(BLOCK), ([, name = '']) => name);
}

/** Returns the page with each generated block replaced by the table of its name. Throws for an unknown name. */
export function fillPage(text: string, tables: Readonly<Record<string, string>>): string {
  return text.replace(BLOCK, (_, name: string) => {
    const table = tables[name];
    if (table === undefined) throw new Error(`no table is called "${name}"`);
    return `<!-- generated: ${name} -->\n\n${table}\n\n<!-- end -->`;
  });
}

/** Returns the cells of all tables of a page whose first header cell is `header`; one pair of backticks is removed. */
export function tableRows(text: string, header: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let isInside = false;
  for (const line of text.split('\n')) {
    if (!line.startsWith('|')) isInside = false;
    else if (line.startsWith(`| ${header} |`)) isInside = true;
    else if (isInside && !line.startsWith('| --- |')) rows.push(cellsOf(line));
  }
  return rows;
}

function cellsOf(line: string): string[] {
  const cells = line.split(/(?<!\\)\|/).slice(1, -1);
  return cells.map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1'));
}
