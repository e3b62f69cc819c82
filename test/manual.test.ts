import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { documentJsonSchema, serviceJsonSchema } from '../src/cli/schema/json-schema.js';
import { readServiceConfig } from '../src/config/read-service-config.js';
import { LIMITS } from '../src/decision/limits/limits.js';
import { BUILT_IN, PRESETS } from '../src/scaler/schema/presets.js';
import { PROBLEM_CLASSES } from '../src/scaler/problems/problem-codes.js';
import { QUERY_VARIABLES } from '../src/scaler/rules/query-rules.js';
import { readScalers } from '../src/scaler/read-scalers.js';
import { METRIC_TABLE } from '../src/telemetry/metric-table.js';
import { runCli } from './cli/fake-io.js';
import { expandBraces, schemaRows } from './cli/schema-rows.js';

const ROOT = join(import.meta.dirname, '..');
const MANUAL = readFileSync(join(ROOT, 'config/README.md'), 'utf8');

/** The cells of all tables whose first header cell is this, without the header; code marks taken off. */
function tableRows(header: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let isInside = false;
  for (const line of MANUAL.split('\n')) {
    if (!line.startsWith('|')) isInside = false;
    else if (line.startsWith(`| ${header} |`)) isInside = true;
    else if (isInside && !line.startsWith('| --- |')) rows.push(cellsOf(line));
  }
  return rows;
}

function cellsOf(line: string): string[] {
  const cells = line.split(/(?<!\\)\|/).slice(1, -1);
  return cells.map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1'));
}

describe('the tables of fields', () => {
  it('have every field of both schemas once, with its type, default and range', () => {
    const documented = tableRows('path').flatMap(([path = '', type, standard, range]) =>
      expandBraces(path).map((one) => ({ path: one, type, range, default: standard })),
    );
    const isOwn = ({ path }: { readonly path: string }): boolean => !path.startsWith('defaults.');
    const fields = [...schemaRows(documentJsonSchema()), ...schemaRows(serviceJsonSchema()).filter(isOwn)];

    const byPath = (a: { readonly path: string }, b: { readonly path: string }): number =>
      a.path < b.path ? -1 : 1;
    expect([...documented].sort(byPath)).toEqual([...fields].sort(byPath));
  });

  it('say in words what each field means', () => {
    expect(tableRows('path').filter((cells) => (cells[4] ?? '') === '')).toEqual([]);
  });
});

describe('the table of presets', () => {
  it('has every value on which presets differ', () => {
    const documented = tableRows('field').flatMap(([field = '', ...values]) =>
      Object.hasOwn(PRESETS.hpa, field) ? [[field, ...values]] : [],
    );

    const shown = (preset: keyof typeof PRESETS, field: keyof typeof PRESETS.hpa): string => {
      const value = PRESETS[preset][field];
      const isLimit = field === 'scaleUpLimitFactor' || field === 'scaleUpLimitMinimum';
      if (value === null && isLimit) return String(BUILT_IN[field]);
      return isLimit ? `${String(value)}, also beside \`behavior\`` : String(value);
    };
    const fields = Object.keys(PRESETS.hpa) as (keyof typeof PRESETS.hpa)[];
    expect(documented).toEqual(
      fields.map((field) => [field, shown('hpa', field), shown('chpa', field), shown('hpa-1.11', field)]),
    );
  });
});

describe('the other tables', () => {
  it('have every metric with its type, labels and help', () => {
    const documented = tableRows('metric').map(([name, type, labels = '', help]) => ({
      name,
      type,
      labels: labels.replaceAll('`', ''),
      help,
    }));

    expect(documented).toEqual(
      METRIC_TABLE.map(({ name, type, labels, help }) => ({ name, type, labels: labels.join(', '), help })),
    );
  });

  it('have every code of a problem with its severity', () => {
    const documented = tableRows('code').map(([code, severity]) => [code, severity]);

    expect(documented).toEqual(
      Object.entries(PROBLEM_CLASSES).map(([code, kind]) => [code, kind === 'warning' ? 'warning' : 'error']),
    );
  });

  it('have every limit in its order', () => {
    const documented = tableRows('limit').flatMap(([names = '']) => names.replaceAll('`', '').split(', '));

    expect(documented).toEqual(['untrusted_metric', ...LIMITS.map(({ name }) => name)]);
  });

  it('have every variable of queries', () => {
    expect(tableRows('variable').map(([name]) => name)).toEqual(QUERY_VARIABLES.map((name) => `$${name}`));
  });
});

describe('the table of commands', () => {
  it('has every command of the command line, and no other', async () => {
    const { stdout } = await runCli(['--help']);
    const commands = Array.from(stdout.matchAll(/^ {2}([a-z]+) (?:\[|<)/gm), ([, name]) => name);

    const documented = tableRows('command').map(([line = '']) => line.split(' ')[1]);

    const known = commands.filter((name) => name !== 'help').sort();
    expect(known.length).toBeGreaterThan(0);
    expect([...documented].sort()).toEqual(known);
  });

  it.each(tableRows('command').map((cells) => [cells[0]?.split(' ')[1] ?? '', cells.join(' ')]))(
    'names no option that %s does not have',
    async (command, text) => {
      const { stdout } = await runCli([command, '--help']);

      const options = Array.from(text.matchAll(/--[a-z-]+/g), ([option]) => option);
      expect(options.filter((option) => !stdout.includes(`${option} `))).toEqual([]);
    },
  );
});

interface Example {
  readonly where: string;
  readonly file: string | null;
  readonly text: string;
}

function examplesOf(name: string): readonly Example[] {
  const text = readFileSync(join(ROOT, name), 'utf8');
  return Array.from(
    text.matchAll(/(?:<!-- file: (\S+) -->\n)?```yaml\n(.*?)```/gs),
    ([, file, yaml = ''], index) => ({
      where: `${name}, example ${index + 1}`,
      file: file ?? null,
      text: yaml,
    }),
  );
}

const EXAMPLES = ['README.md', 'config/README.md'].flatMap(examplesOf);

describe('an example', () => {
  it.each(EXAMPLES.map((example) => [example.where, example] as const))(
    '%s is valid',
    (_, { file, text }) => {
      const isDocument = /^kind: Scaler$/m.test(text);

      const { problems } = isDocument ? readScalers(text, 'example') : readServiceConfig(text, 'example');

      expect(problems).toEqual([]);
      if (file !== null) expect(text).toBe(readFileSync(join(ROOT, file), 'utf8'));
    },
  );

  it('is in both pages', () => {
    expect(new Set(EXAMPLES.map(({ where }) => where.split(',')[0]))).toEqual(
      new Set(['README.md', 'config/README.md']),
    );
  });
});

const PAGES = ['.', 'config', 'src', 'test', 'charts']
  .filter((folder) => existsSync(join(ROOT, folder)))
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: folder !== '.' })
      .map((name) => join(folder, String(name)))
      .filter((name) => name.endsWith('.md')),
  );

describe('a link', () => {
  it.each(PAGES)('of %s leads somewhere', (page) => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    const targets = Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target);
    const local = targets.filter((target) => !/^(?:https?:|mailto:)/.test(target));

    const broken = local.filter((target) => {
      const [path = ''] = target.split('#');
      return path !== '' && !existsSync(join(ROOT, dirname(page), path));
    });

    expect(broken).toEqual([]);
  });
});
