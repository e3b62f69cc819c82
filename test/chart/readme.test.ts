import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { readScalers } from '../../src/scaler/read/read-scalers.js';
import { folderOf, runCli } from '../cli/fake-io.js';
import { pagesBelow } from '../docs/pages.js';
import { CHART, HELM_TIMEOUT_MS, ROOT, startHelm } from './helm.js';
import type { Helm } from './helm.js';

const PAGES = ['README.md', 'charts/promscaler/README.md', ...pagesBelow('docs')];

/** Returns the commands of a page's `sh` blocks, with continued lines joined and comments removed. */
function commandsOf(page: string): readonly string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return Array.from(text.matchAll(/^```sh\n([\s\S]*?)^```/gm), ([, block = '']) => block).flatMap((block) =>
    block
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .map((line) => line.replace(/\s+#.*$/, '').trim())
      .filter((line) => line !== ''),
  );
}

/** Splits a command into words like a shell; only quotes are supported. */
function wordsOf(line: string): readonly string[] {
  return Array.from(
    line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g),
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  );
}

const COMMANDS = PAGES.flatMap((page) => commandsOf(page).map((line) => [page, line] as const));
const HELM_LINES = COMMANDS.filter(([, line]) => /^helm (install|upgrade) promscaler /.test(line));
const OWN_LINES = COMMANDS.map(
  ([page, line]) => [page, line.replace(/^kubectl promscaler /, 'promscaler ')] as const,
).filter(([, line]) => line.startsWith('promscaler '));

describe('the commands of the READMEs and of docs', () => {
  let helm: Helm;
  let written = '';

  beforeAll(async () => {
    helm = await startHelm();
    const [, line = ''] = OWN_LINES.find(([, one]) => one.includes(' new ')) ?? [];
    const args = wordsOf(line.replace(/>.*$/, '')).slice(1);
    written = (await runCli([...args, '--offline'])).stdout;
  }, HELM_TIMEOUT_MS);

  it('include an installation, an upgrade with a document and several commands', () => {
    expect(HELM_LINES.length).toBeGreaterThanOrEqual(5);
    expect(OWN_LINES.length).toBeGreaterThanOrEqual(5);
  });

  it('include a valid first document', () => {
    expect(readScalers(written, 'php-apache.yaml')).toMatchObject({
      scalers: [{ namespace: 'default', name: 'php-apache' }],
      problems: [],
    });
  });

  it.each(HELM_LINES)('%s: helm accepts %s', (_, line) => {
    const cwd = folderOf({ 'php-apache.yaml': written, 'checkout.yaml': written });
    // The chart and the files with their actual paths; an upgrade needs no previous release here.
    const args = wordsOf(line)
      .slice(2)
      .filter((word) => !/^--(create-namespace|reuse-values|reset-then-reuse-values)$/.test(word))
      .map((word) => (word === 'charts/promscaler' ? CHART : word.replace(/=([\w-]+\.yaml)$/, `=${cwd}/$1`)));

    const { code, stderr } = helm(['template', ...args]);

    expect(stderr).toBe('');
    expect(code).toBe(0);
  });

  it.each(OWN_LINES)('%s: the command line accepts %s', async (_, line) => {
    const [, command = '', ...args] = wordsOf(line.replace(/>.*$/, ''));

    const { exitCode, stdout } = await runCli([command, '--help']);

    expect(exitCode).toBe(0);
    const known = new Set(
      Array.from(stdout.matchAll(/^ {2}(-\w)?(?:, )?(--[\w-]+)?/gm), (match) => match.slice(1)).flat(),
    );
    expect(args.filter((word) => word.startsWith('-') && !known.has(word))).toEqual([]);
  });
});
