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

describe('the built dashboard', () => {
  it('has less than 60 KB, compressed, in all', () => {
    const sizes = builtFiles().map(({ text }) => gzipSync(text).length);

    expect(sizes.length).toBeGreaterThanOrEqual(4);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(60_000);
  });

  it('names no other address than that of the namespace of SVG', () => {
    const addresses = builtFiles().flatMap(({ text }) => text.match(/https?:\/\/[^\s"'`\\)]+/g) ?? []);

    expect([...new Set(addresses)].filter((one) => !one.startsWith('http://www.w3.org/'))).toEqual([]);
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
