import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { PAUSE_ANNOTATIONS } from '../src/scaler/spec.js';
import { EVENTS } from '../src/control/cycle/kubernetes-events.js';
import { ACCEPTED_REASONS } from '../src/control/status/object-status.js';
import { CONDITION_REASONS, CONDITION_TYPES } from '../src/decision/result/condition.js';
import { LIMIT_LABELS, LIMIT_NAMES } from '../src/decision/result/limit-names.js';
import { FAILURE_REASONS } from '../src/units/failure.js';
import { PROBLEM_CLASSES } from '../src/scaler/problems/problem-codes.js';
import { QUERY_VARIABLES } from '../src/scaler/rules/query-rules.js';
import { METRIC_TABLE } from '../src/telemetry/metric-table.js';
import { PAGES, ROOT, filesBelow, pagesBelow, readPage, tableRows } from './docs/pages.js';

const CONDITIONS = readPage('docs/reference/conditions.md');

describe('hand-written tables of the reference', () => {
  it('have every problem code with its severity', () => {
    const documented = tableRows(readPage('docs/reference/problems.md'), 'code');

    expect(documented.map(([code, severity]) => [code, severity])).toEqual(
      Object.entries(PROBLEM_CLASSES).map(([code, kind]) => [code, kind === 'warning' ? 'warning' : 'error']),
    );
    expect(documented.filter((cells) => (cells[2] ?? '') === '')).toEqual([]);
  });

  it('have every limit in its order, with its name on the dashboard', () => {
    const documented = tableRows(CONDITIONS, 'limit').map(([name, label]) => [name, label]);

    expect(documented).toEqual(LIMIT_NAMES.map((name) => [name, LIMIT_LABELS[name]]));
  });

  it('have every limit in its order in the algorithm', () => {
    const [steps = ''] = /^6\. \*\*Limits\*\*.*?(?=\n\n)/ms.exec(readPage('docs/design/algorithm.md')) ?? [];
    const heads = Array.from(steps.matchAll(/^ +\d\. ([^:.]*)/gm), ([, head = '']) => head);

    const listed = heads.join(' ').match(/(?<=`)\w+(?=`)/g);
    expect(['untrusted_metric', ...(listed ?? [])]).toEqual(LIMIT_NAMES);
  });

  it('have every variable of queries', () => {
    const documented = tableRows(readPage('docs/guides/metrics-and-queries.md'), 'variable');

    expect(documented.map(([name]) => name)).toEqual(QUERY_VARIABLES.map((name) => `$${name}`));
  });

  it('have every label of the metrics, and every reason of a failed query', () => {
    const page = readPage('docs/reference/metrics.md');
    const documented = tableRows(page, 'label').flatMap(([labels = '']) =>
      labels.replaceAll('`', '').split(', '),
    );

    const known = new Set(METRIC_TABLE.flatMap(({ labels }) => labels));
    expect([...known].filter((label) => label !== 'version' && !documented.includes(label))).toEqual([]);
    expect(FAILURE_REASONS.filter((reason) => !page.includes(`\`${reason}\``))).toEqual([]);
  });

  it.each(CONDITION_TYPES)('have every reason of %s with its status', (type) => {
    const [section = ''] = new RegExp(`^## ${type}$.*?(?=^## )`, 'ms').exec(CONDITIONS) ?? [];
    const documented = tableRows(section, 'reason').map(([reason, status]) => [reason, status]);

    expect(documented).toEqual(Object.entries(CONDITION_REASONS[type]));
  });

  it('have every reason of Accepted with its status', () => {
    const documented = tableRows(CONDITIONS, 'type').filter(([type]) => type === 'Accepted');

    expect(documented.map(([, reason, status]) => [reason, status])).toEqual(
      Object.entries(ACCEPTED_REASONS),
    );
  });

  it('have every Event', () => {
    const documented = tableRows(CONDITIONS.slice(CONDITIONS.indexOf('## Events')), 'reason').flatMap(
      ([reasons = '', type]) =>
        reasons
          .replaceAll('`', '')
          .split(', ')
          .map((reason) => [reason, type]),
    );

    expect(documented).toEqual(Object.entries(EVENTS));
  });

  it('have every annotation', () => {
    const page = readPage('docs/reference/annotations.md');
    const used = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) =>
        Array.from(
          readFileSync(join(ROOT, 'src', name), 'utf8').matchAll(/'(promscaler\.dev\/[a-z-]+)'/g),
          ([, annotation = '']) => annotation,
        ),
      )
      .filter((name) => name !== 'promscaler.dev/v' && name !== 'promscaler.dev/scalers');

    expect(used).toEqual(expect.arrayContaining(Object.values(PAUSE_ANNOTATIONS)));
    expect(used.filter((annotation) => !page.includes(`\`${annotation}\``))).toEqual([]);
  });
});

const SOURCE_NAMES: ReadonlySet<string> = new Set(
  ['src', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((path) => basename(String(path))),
  ),
);

describe('a page', () => {
  it.each(PAGES)('%s has lines of at most 120 characters outside of tables and code', (page) => {
    const prose = readPage(page)
      .replace(/^<!-- generated: [\s\S]*?^<!-- end -->/gm, '')
      .replace(/^```[\s\S]*?^```/gm, '');

    expect(prose.split('\n').filter((line) => line.length > 120 && !line.startsWith('|'))).toEqual([]);
  });

  it.each(['CONTRIBUTING.md', 'docs/design/architecture.md', 'src/README.md'])(
    '%s names only files that exist',
    (page) => {
      const named = Array.from(
        readPage(page).matchAll(/`([\w.-]+\/[\w./-]+)`/g),
        ([, path = '']) => path,
      ).filter((path) => /\.(?:ts|tpl|yaml|json)$|^(?:src|test|config|charts|docs)\//.test(path));
      const isThere = (path: string): boolean =>
        ['', 'src', 'charts/promscaler'].some((place) => existsSync(join(ROOT, place, path)));

      expect(named.length).toBeGreaterThan(3);
      expect(named.filter((path) => !path.includes('NAME') && !isThere(path))).toEqual([]);
      const names = Array.from(readPage(page).matchAll(/`([\w.-]+\.ts)`/g), ([, name = '']) => name);
      expect(names.filter((name) => !SOURCE_NAMES.has(name))).toEqual([]);
    },
  );

  it('src/README.md lists, in the path of a query, only functions of the named files', () => {
    const path = readPage('src/README.md').split('## The path of a query')[1] ?? '';
    const missing: string[] = [];
    let file = '';
    let text = '';
    for (const [, name = ''] of path.matchAll(/`([^`]+)`/g)) {
      if (name.endsWith('.ts')) [file, text] = [name, readFileSync(join(ROOT, 'src', name), 'utf8')];
      else if (!new RegExp(`\\b${name}(?: = |[:(<,])`).test(text)) missing.push(`${name} in ${file}`);
    }

    expect(file).not.toBe('');
    expect(missing).toEqual([]);
  });

  it('of docs is in the index', () => {
    const index = readPage('docs/README.md');
    const pages = pagesBelow('docs').filter((page) => page !== 'docs/README.md');

    expect(pages.filter((page) => !index.includes(`(${page.slice('docs/'.length)})`))).toEqual([]);
  });
});

const LINKING = [...PAGES, ...['src', 'test', 'charts'].flatMap(pagesBelow)];

/** The anchors that a Markdown renderer gives to the headings of a page. */
function anchorsOf(page: string): ReadonlySet<string> {
  const text = readPage(page).replace(/^```[\s\S]*?^```/gm, '');
  return new Set(
    Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

describe('a link', () => {
  it.each(LINKING)('of %s leads to a file and a heading that exist', (page) => {
    const targets = Array.from(readPage(page).matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target);
    const local = targets.filter((target) => !/^(?:https?:|mailto:)/.test(target));

    const broken = local.filter((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      if (!existsSync(join(ROOT, file))) return true;
      return anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).has(anchor);
    });

    expect(broken).toEqual([]);
  });
});

it('no page, template or message advises `npx promscaler`, because npm may have that package from another owner', () => {
  const advising = [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'docs',
    'config',
    'charts',
    'src',
    'release',
  ]
    .flatMap((path) => (path.includes('.') ? [path] : filesBelow(path)))
    .filter((file) => /npx (?:-\S+ )*promscaler/.test(readPage(file)));

  expect(advising).toEqual([]);
});

describe('the version of Node.js', () => {
  interface Package {
    readonly dev?: boolean;
    readonly engines?: { readonly node?: string };
  }
  const { engines } = JSON.parse(readPage('package.json')) as Package;
  const lock = JSON.parse(readPage('package-lock.json')) as {
    readonly packages: Readonly<Record<string, Package>>;
  };
  const weightOf = (range = ''): number => {
    const [, major = 0, minor = 0] = /^>= ?(\d+)(?:\.(\d+))?/.exec(range) ?? [];
    return Number(major) * 1000 + Number(minor);
  };

  it('is the same in README and package.json, and suits every dependency of the service', () => {
    const needed = Object.values(lock.packages)
      .filter(({ dev }) => dev !== true)
      .map((one) => weightOf(one.engines?.node));

    expect(readPage('README.md')).toContain(`Node.js ${engines?.node?.slice(2)} or newer`);
    expect(Math.max(...needed)).toBe(weightOf(engines?.node));
  });
});
