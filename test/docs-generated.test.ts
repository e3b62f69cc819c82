import { beforeAll, describe, expect, it } from '@jest/globals';
import { markdownTable } from './docs/markdown.js';
import { PAGES, blocksOf, currentTables, fillPage, readPage, tableRows } from './docs/pages.js';

let tables: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  tables = await currentTables();
});

describe('the generated tables of the documentation', () => {
  it.each(PAGES)('%s has the rows of the code; `npm run docs` writes it', (page) => {
    const text = readPage(page);

    expect(text).toBe(fillPage(text, tables));
  });

  it('are each in exactly one page', () => {
    const blocks = PAGES.flatMap((page) => blocksOf(readPage(page)));

    expect([...blocks].sort()).toEqual(Object.keys(tables).sort());
  });

  it('are not empty and describe every field', () => {
    const rows = Object.values(tables).flatMap((table) => tableRows(table, 'field'));
    const fields = rows.filter((cells) => cells.length === 5);

    expect(Object.entries(tables).filter(([, table]) => table.split('\n').length < 3)).toEqual([]);
    expect(fields.length).toBeGreaterThan(150);
    expect(fields.filter((cells) => cells[4] === '')).toEqual([]);
  });

  it('have the full path of a field, so that a search finds it', () => {
    expect(tables['fields: resource metrics']).toContain(
      '| `spec.metrics[].resource.target.averageUtilization` |',
    );
    expect(tables['fields: sign-in']).toContain('| `prometheus.NAME.oauth2.tokenUrl` | string | required |');
    expect(tables['fields: target and bounds']).toContain(
      '| `spec.minReplicas` | integer | `1` | 0 to 2147483647 |',
    );
  });

  it('have the options of each command with their joined description', () => {
    expect(tables['command: run']).toMatch(/^\| `--config <file>` \| .+ \|$/m);
    expect(tables['command: validate']).toMatch(/^\| `-o, --output <format>` \| .*"json".* \|$/m);
    expect(tables['command: new']).toMatch(/^\| `target` \| .+ \|$/m);
  });
});

describe('fillPage', () => {
  it('replaces a block and keeps the rest', () => {
    const page = 'a\n<!-- generated: x -->\nold\n<!-- end -->\nb\n';

    expect(fillPage(page, { x: 'new' })).toBe('a\n<!-- generated: x -->\n\nnew\n\n<!-- end -->\nb\n');
    expect(fillPage(fillPage(page, { x: 'new' }), { x: 'new' })).toBe(fillPage(page, { x: 'new' }));
  });

  it('fails for a name without a table', () => {
    expect(() => fillPage('<!-- generated: y -->\n<!-- end -->', { x: '' })).toThrow('"y"');
  });
});

describe('markdownTable', () => {
  it('escapes characters that would end a cell', () => {
    expect(markdownTable(['a'], [['x | y\nz']])).toBe('| a |\n| --- |\n| x \\| y z |');
  });
});
