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

/** Compressed bytes of all files whose name begins with one of these. */
function sizeOf(...names: readonly string[]): number {
  const files = builtFiles().filter(({ name }) => names.some((one) => name.startsWith(one)));
  expect(files.length).toBeGreaterThanOrEqual(names.length);
  return files.reduce((sum, { text }) => sum + gzipSync(text, { level: 9 }).length, 0);
}

describe('the built dashboard', () => {
  it.each([
    ['the list of scalers', 'fleet-view', 28_000],
    ['a scaler with its charts', 'scaler-content', 60_000],
    ['the health', 'health-content', 24_000],
  ])('opens %s with less than this, compressed and without what a click loads', (_page, part, most) => {
    expect(sizeOf('index', 'icon', 'jsxRuntime', 'badge', 'table', part)).toBeLessThan(most);
  });

  it('has less than 114 KB, compressed, for the code that decides', () => {
    expect(sizeOf('what-if-panel', 'arithmetic-list', 'read-snapshot')).toBeLessThan(114_000);
  });

  it('has no parts that these sizes leave out', () => {
    const parts = builtFiles().map(({ name }) => name.replace(/(?:-[\w-]{8})?\.\w+$/, ''));

    expect([...new Set(parts)].toSorted()).toEqual([
      'arithmetic-list',
      'badge',
      'chart-rows',
      'fleet-view',
      'health-content',
      'icon',
      'index',
      'jsxRuntime',
      'read-snapshot',
      'scaler-content',
      'table',
      'text-editor',
      'transitions',
      'what-if-panel',
    ]);
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
