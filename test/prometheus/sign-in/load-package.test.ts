import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { CredentialError } from '../../../src/http/credentials.js';
import { loadPackage } from '../../../src/prometheus/sign-in/sign-in.js';

const ROOT = join(import.meta.dirname, '../../..');
const SIGN_IN = join(ROOT, 'src/prometheus/sign-in');
const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly optionalDependencies: Readonly<Record<string, string>>;
};

describe('loadPackage', () => {
  it('names the package that the image lacks', async () => {
    const missing = Object.assign(new Error("Cannot find package 'x'"), { code: 'ERR_MODULE_NOT_FOUND' });

    const loading = loadPackage('x', () => Promise.reject(missing));

    await expect(loading).rejects.toThrow(CredentialError);
    await expect(loading).rejects.toThrow(
      'the package x is not installed: install the optional dependencies',
    );
  });

  it('rethrows the errors of the package', async () => {
    const broken = new Error('broken');

    await expect(loadPackage('x', () => Promise.reject(broken))).rejects.toBe(broken);
  });
});

describe('the optional dependencies', () => {
  const texts = readdirSync(SIGN_IN).map((name) => readFileSync(join(SIGN_IN, name), 'utf8'));

  // Only the demo uses these.
  const ofDemo = ['@marcbachmann/cel-js', 'fflate', 'tar'];

  it.each(Object.keys(optionalDependencies).filter((name) => !ofDemo.includes(name)))(
    '%s is loaded by only one sign-in method, and only when that is used',
    (name) => {
      const imports = texts.flatMap((text) => text.match(/^import[^;]*?from '[^']+';$/gm) ?? []);
      const early = imports.filter((line) => line.includes(`'${name}'`) && !line.startsWith('import type'));

      expect(early).toEqual([]);
      expect(texts.filter((text) => text.includes(`import('${name}')`))).toHaveLength(1);
    },
  );
});
