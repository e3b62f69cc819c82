import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const BUNDLE = join(import.meta.dirname, '../../dist/bundle');

function textOf(name: string): string {
  return readFileSync(join(BUNDLE, name), 'utf8');
}

/** What a file imports when it is loaded. */
function importsOf(name: string): readonly string[] {
  return [...textOf(name).matchAll(/^import (?:[^"]* from )?"([^"]+)";$/gm)].map(([, path]) => path ?? '');
}

/** The file, and all that it imports. */
function loadedBy(name: string): ReadonlySet<string> {
  const found = new Set([name]);
  for (const file of found)
    for (const path of importsOf(file)) if (path.startsWith('./')) found.add(path.slice(2));
  return found;
}

describe('the bundle', () => {
  it('loads for `run` at most 60 files, and only prom-client and iconv-lite from packages', () => {
    const loaded = [...loadedBy('main.js'), ...loadedBy('run-service.js')];
    const imported = loaded.flatMap(importsOf).filter((path) => !path.startsWith('.') && !isBuiltin(path));
    const required = loaded.flatMap((name) =>
      [...textOf(name).matchAll(/\b__require\("([^"]+)"\)/g)].map(([, path]) => path ?? ''),
    );

    expect(new Set(loaded).size).toBeLessThanOrEqual(60);
    expect(new Set(imported)).toEqual(new Set(['prom-client']));
    expect(new Set(required.filter((path) => !isBuiltin(path)))).toEqual(new Set(['iconv-lite']));
  });
});
