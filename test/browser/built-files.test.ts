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
  it('opens with less than 30 KB, compressed', () => {
    expect(sizeOf('index', 'icon')).toBeLessThan(30_000);
  });

  it('opens the page of a scaler with less than 70 KB, compressed, without what is loaded on demand', () => {
    expect(sizeOf('index', 'icon', 'scaler-content')).toBeLessThan(70_000);
  });

  it('names no hosts but those in the names of SVG and JSON Schema', () => {
    const hosts = builtFiles().flatMap(({ text }) => text.match(/https?:\/\/[a-z\d-]+\.[a-z\d.-]+/g) ?? []);

    expect([...new Set(hosts)].toSorted()).toEqual([
      'http://json-schema.org',
      'http://www.w3.org',
      'https://json-schema.org',
    ]);
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
