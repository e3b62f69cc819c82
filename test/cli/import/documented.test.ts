import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { folderOf, runCli } from '../fake-io.js';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/guides/migrate-from-hpa.md'), 'utf8');

/** The examples of the page by their marks, such as `hpa input`. */
const BLOCKS = new Map(
  Array.from(
    PAGE.matchAll(/<!-- import: (.+) -->\n```yaml\n([\s\S]*?)```\n/g),
    ([, name = '', text = '']) => [name, text] as const,
  ),
);

function block(name: string): string {
  const text = BLOCKS.get(name);
  if (text === undefined) throw new Error(`no example ${name}`);
  return text;
}

describe('the migration guide', () => {
  it.each([
    ['hpa output', 'hpa input', null],
    ['hpa adapted', 'hpa input', 'hpa adapter'],
    ['keda output', 'keda input', null],
    ['chpa output', 'chpa input', null],
    ['wpa output', 'wpa input', null],
  ])(
    'has as %s the output of import, which is valid unless it has placeholders',
    async (output, input, adapter) => {
      const cwd = folderOf(adapter === null ? {} : { 'adapter.yaml': block(adapter) });
      const options = adapter === null ? [] : ['--adapter-config', 'adapter.yaml'];
      const ran = await runCli(['import', '-', ...options], { cwd, stdin: block(input) });

      expect(ran.stdout).toBe(block(output));
      expect(ran.exitCode).toBe(0);
      const validated = await runCli(['validate', '-'], { stdin: ran.stdout });
      const isOpen = /: FILL IN$/m.test(ran.stdout);
      expect(validated.exitCode).toBe(isOpen ? 1 : 0);
      expect(validated.stdout.includes('[placeholder]')).toBe(isOpen);
    },
  );

  it('has no other examples', () => {
    expect(BLOCKS.size).toBe(10);
  });
});
