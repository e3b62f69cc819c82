import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { filesLoadedBy } from './architecture/import-graph.js';
import { PACKAGE_TABLE, findBreaches, findCycles, findUnused } from './architecture/rules.js';
import { listSources } from './architecture/source-files.js';
import { parseSource, readSources } from './architecture/sources.js';
import { leftOutOfImage } from './image/left-out.js';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = readSources(ROOT, 'src');

describe('src', () => {
  it('has sources', () => {
    expect(SOURCES.map(({ file }) => file)).toContain('src/units/time.ts');
  });

  it('follows the import table, the package table and the naming rules', () => {
    expect(findBreaches(SOURCES)).toEqual([]);
  });

  it('needs every entry of the import table and the package table', () => {
    expect(findUnused(SOURCES)).toEqual([]);
  });

  it('has no import cycle among files, and none among directories at any depth', () => {
    expect(findCycles(SOURCES)).toEqual([]);
  });
});

/** Directories that the image does not contain. */
const DEMO_DIRECTORIES = ['cli/demo', 'simulator'];

function isLeftOut(file: string | null): boolean {
  return DEMO_DIRECTORIES.some((directory) => file?.startsWith(`src/${directory}/`) === true);
}

describe('the image', () => {
  it('has everything but the demo, the simulator and the packages that only those use', () => {
    const packages = Object.entries(PACKAGE_TABLE).flatMap(([name, places]) =>
      places.every((place) => isLeftOut(`src/${place}`)) ? [`node_modules/${name}`] : [],
    );

    expect(leftOutOfImage()).toEqual([
      ...DEMO_DIRECTORIES.map((directory) => `dist/${directory}`),
      ...packages,
    ]);
    expect(packages).not.toEqual([]);
    for (const directory of DEMO_DIRECTORIES)
      expect(SOURCES.filter(({ file }) => file.startsWith(`src/${directory}/`))).not.toEqual([]);
  });

  it('has all that `run` loads', () => {
    const roots = ['main.ts', 'commands/run-service.ts'].map((file) => `src/cli/${file}`);
    const loaded = filesLoadedBy(SOURCES, [...roots, 'src/config/reading-worker.ts']);

    for (const file of ['cli/program.ts', 'control/cycle/cycle.ts', 'kubernetes/requests/transport.ts'])
      expect(loaded).toContain(`src/${file}`);
    expect([...loaded].filter(isLeftOut)).toEqual([]);
  });

  it('has everything that commands other than `demo` import', () => {
    const imports = SOURCES.filter(({ file }) => !isLeftOut(file)).flatMap((source) =>
      source.imports.flatMap(({ file, isTypeOnly, isDynamic }) =>
        isLeftOut(file) && !isTypeOnly ? [{ from: source.file, to: file, isDynamic }] : [],
      ),
    );

    expect(imports).toEqual([
      { from: 'src/cli/command-line/service-commands.ts', to: 'src/cli/demo/run-demo.ts', isDynamic: true },
    ]);
  });
});

describe('a test that starts a built program', () => {
  it('is in the list of tests before which the programs are built', async () => {
    const { startsProgram } = (await import(join(ROOT, 'test/support/programs-of-tests.mjs'))) as {
      readonly startsProgram: (path: string) => boolean;
    };
    // `/app` is a path in the image.
    const program = /(?<!\/app\/)\bdist\/(?:bundle|cli|config)\b/;
    const starting = listSources(ROOT, 'test').filter(
      (file) => file.endsWith('.test.ts') && program.test(readFileSync(join(ROOT, file), 'utf8')),
    );

    expect(starting).toContain('test/cli/interrupted.test.ts');
    expect(starting.filter((file) => !startsProgram(file))).toEqual([]);
  });
});

describe('findBreaches', () => {
  it.each([
    [
      'src/decision/a.ts',
      "import { x } from '../control/b.js';",
      'decision may not import control (../control/b.js)',
    ],
    [
      'src/units/a.ts',
      "import type { X } from '../scaler/b.js';",
      'units may not import scaler (../scaler/b.js)',
    ],
    [
      'src/prometheus/a.ts',
      "import { x } from '../kubernetes/b.js';",
      'prometheus may not import kubernetes',
    ],
    ['src/server/a.ts', "import { x } from '../scaler/b.js';", 'server may import only types from scaler'],
    [
      'src/control/a.ts',
      "import { type X, y } from '../config/b.js';",
      'control may import only types from config',
    ],
    ['src/server/a.ts', "export * from '../cli/run.js';", 'server may not import cli'],
    ['src/control/a.ts', "const x = await import('../server/b.js');", 'control may not import server'],
    ['src/units/a.ts', "let x: import('../scaler/b.js').X;", 'units may not import scaler'],
    [
      'src/nowhere/a.ts',
      "import { x } from '../units/b.js';",
      'directory nowhere is not in the import table',
    ],
    ['src/cli/a.ts', "import { x } from '../../test/b.js';", '../../test/b.js is not in src'],
    ['src/cli/new/a.ts', "import { x } from '../pause/b.js';", 'new may not import the command pause'],
    ['src/cli/reach/a.ts', "import type { X } from '../new/b.js';", 'reach may not import the command new'],
    ['src/decision/a.ts', "import { x } from 'node:fs';", 'decision uses no node: module (node:fs)'],
    ['src/cli/a.ts', "import p from 'node:process';", 'node:process is never imported'],
    [
      'src/prometheus/metric-source.ts',
      "import axios from 'axios';",
      'package axios is only for http/http-client.ts, cli/',
    ],
    [
      'src/telemetry/ledger.ts',
      "import type { X } from 'prom-client';",
      'package prom-client is only for telemetry',
    ],
    ['src/scaler/a.ts', "import x from 'left-pad/y';", 'package left-pad is not in the package table'],
    ['src/control/a.ts', 'const x = process.env;', 'process is only for src/cli/main.ts'],
    ['src/control/a.ts', 'const x = { process };', 'process is only for src/cli/main.ts'],
    ['src/control/a.ts', 'const x = Date.now();', 'Date.now: take time'],
    ['src/control/a.ts', 'const x = new Date();', 'new Date(): take time'],
    ['src/control/a.ts', 'setTimeout(f, 1);', 'setTimeout: take time'],
    ['src/control/a.ts', 'export default function f() {}', 'a default export: name it'],
    ['src/control/a.ts', 'export default 1;', 'a default export: name it'],
    ['src/control/aB.ts', '', 'aB is not kebab-case'],
    ['src/control/Sub/a.ts', '', 'Sub is not kebab-case'],
  ])('finds in %s: %s', (file, text, breach) => {
    const found = findBreaches([parseSource(file, text)]);

    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`${file}:1: ${breach}`);
  });

  it.each([
    ['src/server/a.ts', "import type { X } from '../scaler/b.js';"],
    ['src/control/a.ts', "import { type X } from '../config/b.js';"],
    ['src/decision/limits/a.ts', "import { x } from '../b.js';"],
    ['src/cli/run.ts', "import { x } from '../control/b.js';"],
    ['src/cli/new/a.ts', "import { x } from '../reach/b.js';"],
    ['src/cli/program.ts', "import { x } from './new/b.js';"],
    ['src/cli/command-line/a.ts', "const { x } = await import('../new/b.js');"],
    ['src/cli/main.ts', 'const x = process.argv;'],
    ['src/cli/system-clock.ts', 'const x = Date.now();'],
    ['src/http/http-client.ts', "import axios from 'axios';"],
    ['src/control/a.ts', 'const x = { process: 1 }; const y = x.process; new Date(5);'],
    ['src/control/a.ts', 'interface X { readonly process: boolean; setTimeout(): void }'],
  ])('finds nothing in %s: %s', (file, text) => {
    expect(findBreaches([parseSource(file, text)])).toEqual([]);
  });

  it.each([
    [400, 0],
    [401, 1],
  ])('reports a source of %i lines as %i breaches', (lines, breaches) => {
    const source = parseSource('src/units/a.ts', 'let x;\n'.repeat(lines));

    expect(findBreaches([source])).toHaveLength(breaches);
  });

  it('returns the line of the breach', () => {
    const source = parseSource(
      'src/control/a.ts',
      "import { x } from '../units/b.js';\n\nsetInterval(x, 1);\n",
    );

    expect(findBreaches([source])[0]).toMatch(/^src\/control\/a\.ts:3: setInterval/);
  });
});

describe('findCycles', () => {
  it('finds a cycle of three, also of types only', () => {
    const sources = [
      parseSource('src/units/a.ts', "import { b } from './b.js';"),
      parseSource('src/units/b.ts', "import type { C } from './c.js';"),
      parseSource('src/units/c.ts', "export { a } from './a.js';"),
    ];

    expect(findCycles(sources)).toEqual(['src/units: a.ts -> b.ts -> c.ts -> a.ts']);
  });

  it('finds a cycle of directories whose files are in no cycle', () => {
    const sources = [
      parseSource('src/units/one/a.ts', "import { b } from '../two/deep/b.js';"),
      parseSource('src/units/two/c.ts', "import { d } from '../one/d.js';"),
      parseSource('src/units/one/d.ts', ''),
      parseSource('src/units/two/deep/b.ts', ''),
    ];

    expect(findCycles(sources)).toEqual(['src/units: one -> two -> one']);
  });

  it('finds a cycle of a directory and a file next to it', () => {
    const sources = [
      parseSource('src/units/one/a.ts', "import type { B } from '../b.js';"),
      parseSource('src/units/b.ts', "import { c } from './one/c.js';"),
    ];

    expect(findCycles(sources)).toEqual(['src/units: one -> (files) -> one']);
  });

  it('finds a cycle of a directory and the files next to it, of which none is in a cycle', () => {
    const sources = [
      parseSource('src/units/one/a.ts', "import type { B } from '../b.js';"),
      parseSource('src/units/one/deep/d.ts', ''),
      parseSource('src/units/b.ts', ''),
      parseSource('src/units/c.ts', "import { d } from './one/deep/d.js';"),
    ];

    expect(findCycles(sources)).toEqual(['src/units: one -> (files) -> one']);
  });

  it('does not report a directory that imports only below itself, or only from the files above it', () => {
    const sources = [
      parseSource('src/units/a.ts', "import './one/b.js';"),
      parseSource('src/units/one/b.ts', "import './deep/c.js'; import '../../files/d.js';"),
      parseSource('src/units/one/deep/c.ts', ''),
      parseSource('src/files/d.ts', ''),
      parseSource('src/files/two/e.ts', "import '../d.js';"),
    ];

    expect(findCycles(sources)).toEqual([]);
  });

  it('does not report two paths to one file as a cycle', () => {
    const sources = [
      parseSource('src/units/a.ts', "import './b.js'; import './c.js';"),
      parseSource('src/units/b.ts', "import './d.js';"),
      parseSource('src/units/c.ts', "import './d.js';"),
      parseSource('src/units/d.ts', ''),
    ];

    expect(findCycles(sources)).toEqual([]);
  });
});

describe('filesLoadedBy', () => {
  const sources = [
    parseSource('src/cli/main.ts', "import './command-line/a.js'; import type { X } from './types.js';"),
    parseSource('src/cli/command-line/a.ts', "import { b } from '../b.js'; await import('../command.js');"),
    parseSource('src/cli/b.ts', "export { c } from './c.js'; await import('./late.js');"),
    ...['types', 'command', 'c', 'late'].map((name) => parseSource(`src/cli/${name}.ts`, '')),
  ];

  it('follows all imports but types and the commands of the command line', () => {
    const names = ['main', 'command-line/a', 'b', 'c', 'late'];

    expect([...filesLoadedBy(sources, ['src/cli/main.ts'])]).toEqual(
      names.map((name) => `src/cli/${name}.ts`),
    );
  });

  it('throws for a file that does not exist', () => {
    expect(() => filesLoadedBy(sources, ['src/cli/gone.ts'])).toThrow('src/cli/gone.ts');
  });
});
