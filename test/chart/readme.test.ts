import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { readScalers } from '../../src/scaler/read/read-scalers.js';
import { folderOf, runCli } from '../cli/fake-io.js';
import { pagesBelow } from '../docs/pages.js';
import { CHART, HELM_TIMEOUT_MS, ROOT, startHelm } from './helm.js';
import type { Helm } from './helm.js';

const PAGES = ['README.md', 'charts/promscaler/README.md', ...pagesBelow('docs')];

/** The command lines of a page's `sh` blocks, continued lines joined, remarks taken off. */
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

/** The words of a command line as a shell takes them apart: quotes are all that is used here. */
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

  it('holds an installation, an upgrade with a document and a handful of commands', () => {
    expect(HELM_LINES.length).toBeGreaterThanOrEqual(5);
    expect(OWN_LINES.length).toBeGreaterThanOrEqual(5);
  });

  it('writes a first document that is valid', () => {
    expect(readScalers(written, 'php-apache.yaml')).toMatchObject({
      scalers: [{ namespace: 'default', name: 'php-apache' }],
      problems: [],
    });
  });

  it.each(HELM_LINES)('%s: helm takes %s', (_, line) => {
    const cwd = folderOf({ 'php-apache.yaml': written, 'checkout.yaml': written });
    // The chart by its own path, the files by theirs; what an upgrade takes from the release before is not needed here.
    const args = wordsOf(line)
      .slice(2)
      .filter((word) => !/^--(create-namespace|reuse-values|reset-then-reuse-values)$/.test(word))
      .map((word) => (word === 'charts/promscaler' ? CHART : word.replace(/=([\w-]+\.yaml)$/, `=${cwd}/$1`)));

    const { code, stderr } = helm(['template', ...args]);

    expect(stderr).toBe('');
    expect(code).toBe(0);
  });

  it.each(OWN_LINES)('%s: the command line knows %s', async (_, line) => {
    const [, command = '', ...args] = wordsOf(line.replace(/>.*$/, ''));

    const { exitCode, stdout } = await runCli([command, '--help']);

    expect(exitCode).toBe(0);
    const known = new Set(
      Array.from(stdout.matchAll(/^ {2}(-\w)?(?:, )?(--[\w-]+)?/gm), (match) => match.slice(1)).flat(),
    );
    expect(args.filter((word) => word.startsWith('-') && !known.has(word))).toEqual([]);
  });
});
