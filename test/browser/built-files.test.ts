import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';

const DASHBOARD = join(import.meta.dirname, '../../dist/dashboard');

function builtFiles(): readonly { readonly name: string; readonly text: string }[] {
  return readdirSync(DASHBOARD, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => ({ name, text: readFileSync(join(parentPath, name), 'utf8') }));
}

const bytesOf = (text: string): number => gzipSync(text, { level: 9 }).length;

/** Returns the files that are loaded with these parts: what their scripts import, and styles of the same names. */
function loadedWith(parts: readonly string[]): ReadonlySet<string> {
  const files = builtFiles();
  const partOf = (name: string): string => name.replace(/-[\w-]{8}\.\w+$/, '');
  const found = new Set(files.filter(({ name }) => parts.includes(partOf(name))).map(({ name }) => name));
  expect(new Set([...found].map(partOf))).toEqual(new Set(parts));
  for (const name of found) {
    const text = files.find((file) => file.name === name)?.text ?? '';
    for (const [, path = ''] of text.matchAll(/(?:from|import) ?["']\.\/([^"']+)["']/g)) {
      for (const file of files) if (partOf(file.name) === partOf(path)) found.add(file.name);
    }
  }
  return found;
}

/** Compressed bytes of the files that are loaded with these parts, but not with `without`. */
function sizeOf(parts: readonly string[], without: readonly string[] = []): number {
  const loaded = loadedWith(parts);
  const others = without.length === 0 ? new Set() : loadedWith(without);
  return builtFiles()
    .filter(({ name }) => loaded.has(name) && !others.has(name))
    .reduce((sum, { text }) => sum + bytesOf(text), 0);
}

/** The page itself. */
const SHELL = ['index.html', 'index', 'icon'];

/** What the page of a scaler loads without a click. */
const SCALER = ['scaler-content', 'service-line', 'keys', 'below-charts'];

describe('the built dashboard', () => {
  it.each([
    // 29,600 until the page of a scaler without trouble did not load the code for what to do: 7 KB less there.
    ['the list of scalers', 'fleet-view', 30_000],
    // 58,700 until it named the generation of the document.
    ['a scaler with its charts', 'scaler-content', 59_600],
    // 23,720 until the times in its messages were in the zone of the viewer.
    ['the health', 'health-content', 24_400],
  ])('opens %s with less than this, compressed and without what a click loads', (_page, part, most) => {
    expect(sizeOf([...SHELL, part])).toBeLessThan(most);
  });

  it('loads less than 77 KB, compressed, for a scaler without trouble and all its parts, without a click', () => {
    const parts = [...SHELL, ...SCALER];

    // 82,400 until the limit strip and the decision did not load the code for what to do.
    expect(sizeOf(parts)).toBeLessThan(77_000);
    expect([...loadedWith(parts)].filter((name) => /^(?:what-to-do|remedy)-/.test(name))).toEqual([]);
  });

  it.each([
    [
      'the list with scalers that cannot follow',
      ['fleet-view', 'service-line', 'keys', 'start-here'],
      52_000,
    ],
    ['a scaler that cannot follow', [...SCALER, 'what-to-do'], 87_000],
  ])('loads %s and all its parts with less than this, compressed, without a click', (_page, parts, most) => {
    expect(sizeOf([...SHELL, ...parts])).toBeLessThan(most);
  });

  it('has less than 123.3 KB, compressed, for the code that decides', () => {
    const page = [...SHELL, 'scaler-content', 'below-charts'];

    // 122,700 until a list that is commented out was a warning and messages were whole sentences.
    expect(sizeOf(['what-if-panel', 'arithmetic-list'], page)).toBeLessThan(123_300);
  });

  it('names no hosts but those in the names of SVG', () => {
    const hosts = builtFiles().flatMap(({ text }) => text.match(/https?:\/\/[a-z\d-]+\.[a-z\d.-]+/g) ?? []);

    expect([...new Set(hosts)]).toEqual(['http://www.w3.org']);
  });

  it('has no inline script, style or handler, and only relative paths', () => {
    const page = builtFiles().find(({ name }) => name === 'index.html')?.text ?? '';

    expect(page).not.toMatch(/<style| style=| on\w+=|javascript:/);
    expect([...page.matchAll(/<script([^>]*)>/g)].map(([, attributes]) => attributes)).toEqual([
      expect.stringContaining(' src="./assets/'),
    ]);
    const paths = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, path]) => path);
    expect(paths.every((path) => path?.startsWith('./assets/') === true)).toBe(true);
  });
});
