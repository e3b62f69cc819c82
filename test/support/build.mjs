import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

/**
 * The programs that tests start. They are compiled file by file, as `tsc` does with `isolatedModules`, without the type
 * check, which is for `npm run lint`.
 */
const PROGRAMS = [
  { project: 'tsconfig.build.json', root: 'src', folder: 'dist', main: 'cli/main.ts', sources: everySource },
  {
    project: 'tsconfig.e2e.json',
    root: '.',
    folder: 'dist-e2e',
    main: 'test/e2e/main.ts',
    sources: importedSources,
  },
];

/** Vite bundles it. */
const BROWSER_CODE = join('src', 'dashboard');

/** Compiles changed sources, and removes output without a source. Default: all programs. */
export async function buildPrograms(folders = PROGRAMS.map(({ folder }) => folder)) {
  for (const program of PROGRAMS.filter(({ folder }) => folders.includes(folder))) {
    const sources = program.sources(program);
    const stale = staleSources(program, sources);
    if (stale.length > 0) await compile(program, stale);
    removeOthers(program, sources);
  }
  if (areBundlesStale()) await buildBundles();
}

const DASHBOARD = 'dist/dashboard';
const REPORT_PAGE = 'dist/report-page/report.js';
const BUNDLE = 'dist/bundle/main.js';
const BUNDLED = ['dashboard', 'report-page', 'bundle'];

/** The dashboard bundles sources of other directories, too. */
function areBundlesStale() {
  const sources = readdirSync('src', { recursive: true }).map((path) => join('src', path));
  const inputs = ['package-lock.json', 'vite.config.mjs', ...sources];
  const built = Math.min(...[join(DASHBOARD, 'index.html'), REPORT_PAGE, BUNDLE].map(modifiedMs));
  return Math.max(...inputs.map(modifiedMs)) >= built;
}

/** Jest has set NODE_ENV to `test`, with which Vite bundles more than it delivers. */
async function buildBundles() {
  const { build } = await import('vite');
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV = 'production';
  try {
    await build();
    await build({ mode: 'report-page' });
    await build({ mode: 'bundle' });
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  }
}

/** Returns the stale sources. A config that is newer than an output makes it stale, too. */
function staleSources({ project, root, folder }, sources) {
  const configs = ['package-lock.json', 'tsconfig.json', project, 'test/support/build.mjs'];
  const configMs = Math.max(...configs.map(modifiedMs));
  return sources.filter((source) => {
    const builtMs = modifiedMs(join(folder, outputOf(root, source)));
    return Math.max(modifiedMs(source), configMs) >= builtMs;
  });
}

function modifiedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -Infinity;
}

function outputOf(root, source) {
  return relative(root, source).replace(/\.ts$/, '.js');
}

function everySource({ root }) {
  const paths = readdirSync(root, { recursive: true }).filter((path) => path.endsWith('.ts'));
  return paths.map((path) => join(root, path)).filter((path) => !path.startsWith(BROWSER_CODE));
}

/** Returns the main module and all its imports. */
function importedSources({ root, main }) {
  const found = new Set([join(root, main)]);
  for (const source of found) {
    const imports = readFileSync(source, 'utf8').matchAll(/(?:from |import\()'(\.[^']+)\.js'/g);
    for (const [, path] of imports) found.add(normalize(join(dirname(source), `${path}.ts`)));
  }
  return [...found];
}

async function compile({ project, root, folder, main }, sources) {
  const { default: ts } = await import('typescript');
  const { config } = ts.readConfigFile(project, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, '.');
  const program = ts.createProgram(sources, {
    ...options,
    // Each file is compiled on its own: no library, no import and no package.json is read.
    ...{ noLib: true, noResolve: true, noCheck: true, types: [] },
    ...{ module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
  });
  const [problem] = program.getSyntacticDiagnostics();
  if (problem !== undefined) throw new Error(ts.formatDiagnostic(problem, FORMAT));
  program.emit(undefined, (path, text) => write(path, text));
  const entry = join(folder, outputOf(root, join(root, main)));
  chmodSync(entry, 0o755);
}

const FORMAT = {
  getCanonicalFileName: (path) => path,
  getCurrentDirectory: () => process.cwd(),
  getNewLine: () => '\n',
};

/** Writes atomically: a concurrent reader gets the old text or the new one. */
function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  const part = `${path}.${process.pid}`;
  writeFileSync(part, text);
  renameSync(part, path);
}

function removeOthers({ root, folder }, sources) {
  const outputs = new Set(sources.map((source) => outputOf(root, source)));
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = relative(folder, join(entry.parentPath ?? entry.path, entry.name));
    if (BUNDLED.some((folder) => path.startsWith(folder))) continue;
    if (entry.isFile() && !outputs.has(path.replace(/\.map$/, ''))) rmSync(join(folder, path));
  }
}
