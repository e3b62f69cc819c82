import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { readServiceConfig } from '../src/config/read-service-config.js';
import { readScalers } from '../src/scaler/read/read-scalers.js';
import { ManualClock } from './support/manual-clock.js';
import { folderOf, runCli } from './cli/fake-io.js';
import { type CodeBlock, codeBlocksOf } from './docs/code-blocks.js';
import { isObject } from './docs/json-object.js';
import { PAGES, ROOT, readPage } from './docs/pages.js';

const BLOCKS = PAGES.flatMap(codeBlocksOf);

/** Each mark is for blocks of one language. */
const MARKS: Readonly<Record<string, string>> = {
  /** The block equals this file. */
  file: 'yaml',
  /** Checked by test/cli/import/documented.test.ts: the input of `import`, or what it prints. */
  import: 'yaml',
  /** The name of the block for the commands of its page. */
  as: 'yaml',
  /** The codes of the warnings about it. */
  warns: 'yaml',
  /** A manifest or config of another program. */
  manifest: 'yaml',
  /** Values of the chart. */
  values: 'yaml',
  /** Run, at this time: the next block is the output. */
  run: 'sh',
};

const named = (blocks: readonly CodeBlock[]): [string, CodeBlock][] =>
  blocks.map((block) => [block.where, block]);

const ofLanguage = (language: string): readonly CodeBlock[] =>
  BLOCKS.filter((block) => block.language === language);

/** test/chart/alerts.test.ts runs promtool over the rules. */
function isRules(text: string): boolean {
  const value: unknown = parse(text);
  return isObject(value) && 'groups' in value;
}

const EXAMPLES = ofLanguage('yaml').filter(
  ({ mark, text }) => mark !== 'import' && mark !== 'manifest' && mark !== 'values' && !isRules(text),
);

describe('a code block', () => {
  it('has a language, and only a mark that exists', () => {
    expect([...new Set(BLOCKS.map(({ language }) => language))].sort()).toEqual([
      'csv',
      'json',
      'promql',
      'sh',
      'text',
      'yaml',
    ]);
    expect(
      BLOCKS.filter(({ mark, language }) => mark !== null && mark in MARKS && MARKS[mark] !== language),
    ).toEqual([]);
  });

  it.each(named(EXAMPLES))('%s is a valid document or service config', (_, { mark, argument, text }) => {
    const isDocument = /^kind: Scaler$/m.test(text);

    const { problems } = isDocument ? readScalers(text, 'example') : readServiceConfig(text, 'example');

    const expected = mark === 'warns' ? argument.split(', ') : [];
    expect(problems.map(({ code }) => code)).toEqual(expected);
    if (mark === 'file') expect(text).toBe(readFileSync(join(ROOT, argument), 'utf8'));
  });

  it.each(named(ofLanguage('yaml').filter(({ mark }) => mark === 'manifest' || mark === 'values')))(
    '%s is YAML, and no document of promscaler',
    (_, { text }) => {
      const documents = parseAllDocuments(text);

      expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
      const values = documents.map((document) => document.toJS() as unknown);
      expect(values.filter((value) => !isObject(value) || value['kind'] === 'Scaler')).toEqual([]);
    },
  );

  it.each(named(ofLanguage('promql')))('%s is a query without problems', (_, { text }) => {
    const member = /by \(pod\)|"pod", "\$1"/.test(text) ? 'pods' : 'external';
    const document = {
      apiVersion: 'promscaler.dev/v1',
      kind: 'Scaler',
      metadata: { name: 'web', namespace: 'shop' },
      spec: {
        scaleTargetRef: { name: 'web' },
        maxReplicas: 5,
        metrics: [{ [member]: { query: text.trim(), target: { averageValue: 1 } } }],
      },
    };

    const { problems } = readScalers(JSON.stringify(document), 'query');

    // The expression of an alert is a comparison, and may be a latency.
    const ofAlerts = ['comparison-filters', 'latency-target'];
    expect(problems.filter(({ code }) => !ofAlerts.includes(code))).toEqual([]);
  });

  it.each(named(ofLanguage('json')))('%s is JSON', (_, { text }) => {
    expect(JSON.parse(text)).toEqual(expect.anything());
  });

  it.each(named(BLOCKS.filter(({ mark }) => mark === 'run')))(
    '%s prints the next block',
    async (_, { page, argument, text, next }) => {
      const files = codeBlocksOf(page).filter(({ mark }) => mark === 'as');
      const cwd = folderOf(Object.fromEntries(files.map((file) => [file.argument, file.text])));
      const time = argument === '' ? {} : { clock: new ManualClock(argument) };
      let output = '';
      for (const line of text.trim().split('\n')) {
        const ran = await runCli(line.replace(/^promscaler /, '').split(' '), { cwd, ...time });
        output += ran.stdout + ran.stderr;
      }

      expect(next).toEqual(expect.objectContaining({ language: 'text', text: output }));
    },
  );

  it('shows each example file of config/scalers in the documentation', () => {
    const pages = PAGES.map(readPage).join('\n');
    const files = readdirSync(join(ROOT, 'config/scalers'));

    expect(files.filter((name) => !pages.includes(`scalers/${name}`))).toEqual([]);
    expect(EXAMPLES.filter(({ mark }) => mark === 'file').length).toBeGreaterThan(7);
  });
});
