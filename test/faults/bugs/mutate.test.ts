import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { BUGS } from './bugs.js';
import { replaceOnce } from './mutate.js';

const SRC = new URL('../../../src/', import.meta.url);

const compiled = new Map<string, string>();

/** Returns a module as the simulation runs it. Several bugs change the same module, which is compiled once. */
function compile(file: string): string {
  const known = compiled.get(file);
  if (known !== undefined) return known;
  const source = readFileSync(new URL(file.replace(/\.js$/, '.ts'), SRC), 'utf8');
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };
  const { outputText } = ts.transpileModule(source, { compilerOptions });
  compiled.set(file, outputText);
  return outputText;
}

describe('the planted bugs', () => {
  it.each(BUGS.map((bug) => [bug.name, bug] as const))('%s has a matching place in the code', (_, bug) => {
    for (const edit of bug.edits) {
      const text = compile(edit.file);

      expect(replaceOnce(text, edit)).not.toBe(text);
    }
  });

  it('throws for a place that does not exist, and for one that occurs twice', () => {
    const edit = { file: 'a.js', find: 'x = 1', replace: 'x = 2' };

    expect(() => replaceOnce('y = 1', edit)).toThrow('a.js holds 0 times: x = 1');
    expect(() => replaceOnce('x = 1; x =\n  1', edit)).toThrow('a.js holds 2 times: x = 1');
  });
});
