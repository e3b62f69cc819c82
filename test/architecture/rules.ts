import { basename } from 'node:path';
import type { Import, Source } from './sources.js';

/** `types`: only `import type`. Unset: not at all. */
type Access = 'all' | 'types';

/** Allowed imports of each directory of `src`; its own files always. A missing directory is a violation. */
export const DIRECTORY_TABLE: Readonly<Record<string, Readonly<Record<string, Access>>>> = {
  units: {},
  promql: {},
  files: { units: 'all' },
  http: { files: 'all', units: 'all' },
  schedules: { units: 'all' },
  scaler: { schedules: 'all', units: 'all', promql: 'all' },
  decision: { schedules: 'all', scaler: 'all', units: 'all' },
  importers: { decision: 'all', scaler: 'all', promql: 'all', units: 'all' },
  config: {
    files: 'all',
    http: 'types',
    notifications: 'types',
    prometheus: 'types',
    schedules: 'all',
    scaler: 'all',
    promql: 'all',
    units: 'all',
  },
  backtest: { prometheus: 'all', decision: 'all', scaler: 'all', promql: 'all', units: 'all' },
  'document-tests': { backtest: 'all', decision: 'all', scaler: 'all', units: 'all' },
  prometheus: { http: 'all', decision: 'all', scaler: 'all', promql: 'all', units: 'all' },
  kubernetes: { files: 'all', http: 'all', decision: 'types', scaler: 'all', units: 'all' },
  telemetry: { decision: 'all', scaler: 'types', units: 'all' },
  recording: { decision: 'all', scaler: 'all', telemetry: 'all', units: 'all' },
  control: {
    config: 'types',
    decision: 'all',
    scaler: 'all',
    units: 'all',
    prometheus: 'all',
    kubernetes: 'all',
    telemetry: 'all',
  },
  recommendations: {
    config: 'types',
    backtest: 'all',
    prometheus: 'types',
    schedules: 'all',
    scaler: 'all',
    telemetry: 'all',
    units: 'all',
  },
  notifications: { http: 'all', telemetry: 'all', units: 'all' },
  api: { telemetry: 'types', decision: 'all', units: 'all' },
  server: { api: 'all', telemetry: 'all', decision: 'all', scaler: 'types', units: 'all' },
  service: {
    config: 'types',
    files: 'all',
    http: 'all',
    decision: 'all',
    scaler: 'all',
    promql: 'all',
    units: 'all',
    prometheus: 'all',
    kubernetes: 'all',
    telemetry: 'all',
    recording: 'all',
    control: 'all',
    recommendations: 'all',
    notifications: 'all',
    server: 'all',
  },
  dashboard: { api: 'types', backtest: 'all', decision: 'all', scaler: 'all', units: 'all' },
  simulator: { units: 'all' },
};

/** Imports everything; no other directory imports it. */
const TOP = 'cli';

/**
 * Directories of `cli` that commands share. Each other one is a command, and so is each `run-` file in `commands`; no
 * command imports another.
 */
const SHARED_BY_COMMANDS: ReadonlySet<string> = new Set([
  'checks',
  'explanation',
  'input',
  'output',
  'reach',
]);

/** The commands that a directory of `cli` may import besides itself. */
const COMMANDS_OF: Readonly<Record<string, readonly string[]>> = {
  // It starts the service on a simulated cluster, and saves what `backtest --history` reads.
  demo: ['backtest', 'run-service.ts', 'schema'],
};

/** Package -> the files and directories below `src` that may import it. A missing package is a violation. */
export const PACKAGE_TABLE: Readonly<Record<string, readonly string[]>> = {
  axios: ['http/http-client.ts', 'cli/'],
  express: ['server/'],
  'prom-client': ['telemetry/metrics.ts'],
  pino: ['telemetry/log.ts'],
  zod: ['scaler/', 'config/', 'document-tests/', 'kubernetes/', 'api/', 'server/'],
  yaml: [
    'scaler/',
    'kubernetes/',
    'simulator/api/requests/parse-body.ts',
    'dashboard/scaler/what-if/document-text.tsx',
    'cli/',
  ],
  leven: ['scaler/', 'cli/'],
  '@lezer/common': ['promql/'],
  '@prometheus-io/lezer-promql': ['promql/'],
  oauth4webapi: ['prometheus/sign-in/oauth2.ts'],
  '@aws-sdk/credential-providers': ['prometheus/sign-in/sigv4.ts'],
  '@smithy/signature-v4': ['prometheus/sign-in/sigv4.ts'],
  '@aws-crypto/sha256-js': ['prometheus/sign-in/sigv4.ts'],
  '@azure/msal-node': ['prometheus/sign-in/azure.ts'],
  'google-auth-library': ['prometheus/sign-in/google.ts'],
  '@marcbachmann/cel-js': ['simulator/validation/cel-rules.ts'],
  tar: ['cli/demo/programs/unpack.ts'],
  fflate: ['cli/demo/programs/unpack.ts'],
  'eventsource-parser': ['server/events/relay.ts'],
  socks: ['kubernetes/requests/proxy-tunnel.ts'],
  croner: ['schedules/cron.ts'],
  commander: ['cli/'],
  picocolors: ['cli/'],
  preact: ['dashboard/'],
  uplot: ['dashboard/'],
};

const WITHOUT_NODE: ReadonlySet<string> = new Set([
  'api',
  'dashboard',
  'decision',
  'schedules',
  'scaler',
  'units',
  'importers',
]);
const CLOCK_FILES: ReadonlySet<string> = new Set([
  'src/cli/system-clock.ts',
  'src/dashboard/browser-clock.ts',
]);
const PROCESS_FILE = 'src/cli/main.ts';
const MAX_LINES = 400;
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Returns every violation of the import rules, as `file:line: sentence`. */
export function findBreaches(sources: readonly Source[]): readonly string[] {
  return sources.flatMap((source) => [
    ...source.imports.flatMap((one) => at(source, one.line, importBreach(source, one))),
    ...source.globals.flatMap(({ name, line }) => at(source, line, globalBreach(source.file, name))),
    ...source.defaultExports.flatMap((line) => at(source, line, 'a default export: name it')),
    ...at(source, MAX_LINES, source.lines > MAX_LINES ? `${source.lines} lines, at most ${MAX_LINES}` : null),
    ...at(source, 1, nameBreach(source.file)),
  ]);
}

/** Returns the entries of both tables that no import needs: `server: express`, or `control: config only as types`. */
export function findUnused(sources: readonly Source[]): readonly string[] {
  const imports = sources.flatMap(({ file: from, imports: all }) => all.map((one) => ({ from, ...one })));
  const packages = Object.entries(PACKAGE_TABLE).flatMap(([name, places]) =>
    places
      .filter((place) =>
        imports.every(
          ({ from, file, specifier }) =>
            file !== null || packageOf(specifier) !== name || !from.startsWith(`src/${place}`),
        ),
      )
      .map((place) => `${place}: ${name}`),
  );
  const directories = Object.entries(DIRECTORY_TABLE).flatMap(([directory, others]) =>
    Object.entries(others).flatMap(([other, access]) => {
      const used = imports.filter(
        ({ from, file }) => directoryOf(from) === directory && file !== null && directoryOf(file) === other,
      );
      if (used.length === 0) return [`${directory}: ${other}`];
      return access === 'all' && used.every(({ isTypeOnly }) => isTypeOnly)
        ? [`${directory}: ${other} only as types`]
        : [];
    }),
  );
  return [...packages, ...directories];
}

function at(source: Source, line: number, breach: string | null): readonly string[] {
  return breach === null ? [] : [`${source.file}:${line}: ${breach}`];
}

function importBreach(source: Source, { specifier, file, isTypeOnly }: Import): string | null {
  const directory = directoryOf(source.file);
  if (specifier.startsWith('node:')) {
    if (specifier === 'node:process' || specifier.startsWith('node:timers'))
      return `${specifier} is never imported`;
    return WITHOUT_NODE.has(directory) ? `${directory} uses no node: module (${specifier})` : null;
  }
  if (file === null) return packageBreach(source.file, packageOf(specifier));
  if (!file.startsWith('src/')) return `${specifier} is not in src`;
  const other = directoryOf(file);
  if (directory === TOP && other === TOP) return commandBreach(source.file, file);
  if (directory === TOP || other === directory) return null;
  const allowed = DIRECTORY_TABLE[directory];
  if (allowed === undefined) return `directory ${directory} is not in the import table`;
  const access = allowed[other];
  if (access === undefined) return `${directory} may not import ${other} (${specifier})`;
  return access === 'types' && !isTypeOnly
    ? `${directory} may import only types from ${other} (${specifier})`
    : null;
}

function commandBreach(from: string, to: string): string | null {
  const [own, other] = [commandOf(from), commandOf(to)];
  if (own === null || other === null || own === other || own === 'command-line') return null;
  if (SHARED_BY_COMMANDS.has(other) || COMMANDS_OF[own]?.includes(other) === true) return null;
  return `${own} may not import the command ${other}`;
}

/**
 * The directory below `src/cli`, or the file of `src/cli/commands` with a command; null for other files there and in
 * `src/cli`.
 */
function commandOf(file: string): string | null {
  const [, , directory = '', name] = file.split('/');
  if (directory !== 'commands') return name === undefined ? null : directory;
  return name?.startsWith('run-') === true ? name : null;
}

function packageBreach(file: string, name: string): string | null {
  const places = PACKAGE_TABLE[name];
  if (places === undefined) return `package ${name} is not in the package table`;
  const below = file.slice('src/'.length);
  const isAllowed = places.some((place) => (place.endsWith('/') ? below.startsWith(place) : below === place));
  return isAllowed ? null : `package ${name} is only for ${places.join(', ')}`;
}

function globalBreach(file: string, name: string): string | null {
  if (name.endsWith('process')) return file === PROCESS_FILE ? null : `${name} is only for ${PROCESS_FILE}`;
  return CLOCK_FILES.has(file)
    ? null
    : `${name}: take time, timers and random numbers from a Clock parameter`;
}

function nameBreach(file: string): string | null {
  const parts = file.split('/');
  const name = basename(file).replace(/\.tsx?$/, '');
  const wrong = [...parts.slice(0, -1), name].find((part) => !KEBAB.test(part));
  return wrong === undefined ? null : `${wrong} is not kebab-case`;
}

function directoryOf(file: string): string {
  return file.split('/')[1] ?? '';
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Stands for all files of a directory, without those of its subdirectories. */
const OWN_FILES = '(files)';

/**
 * Returns the import cycles of `src` and each directory below, as `src/x: a -> b -> a`: among the files of the directory,
 * and among its subdirectories, each with all that is below it, and its own files as one. With these, no directory
 * imports another that imports it back, at any depth. Types count as well.
 */
export function findCycles(sources: readonly Source[]): readonly string[] {
  const graphs: Graphs = new Map();
  for (const { file, imports } of sources)
    for (const { file: target } of imports) if (target !== null) addEdge(graphs, file, target);
  return [...graphs].flatMap(([directory, { files, children }]) =>
    [...cyclesOf(files), ...cyclesOf(children)].map((cycle) => `${directory}: ${cycle}`),
  );
}

type Edges = Map<string, Set<string>>;

/** By directory. */
type Graphs = Map<string, { readonly files: Edges; readonly children: Edges }>;

/** An import belongs to the innermost directory that contains both files. */
function addEdge(graphs: Graphs, from: string, to: string): void {
  const [source, target] = [from.split('/'), to.split('/')];
  const depth = source.findIndex((part, index) => part !== target[index]);
  if (depth === -1) return;
  const directory = source.slice(0, depth).join('/');
  const graph = graphs.get(directory) ?? { files: new Map(), children: new Map() };
  graphs.set(directory, graph);
  const [child, other] = [source, target].map((path) => childAt(path, depth));
  if (child === other) add(graph.files, source.at(-1), target.at(-1));
  else add(graph.children, child, other);
}

function childAt(path: readonly string[], depth: number): string | undefined {
  return depth === path.length - 1 ? OWN_FILES : path[depth];
}

function add(edges: Edges, from: string | undefined, to: string | undefined): void {
  if (from === undefined || to === undefined) return;
  edges.set(from, (edges.get(from) ?? new Set()).add(to));
}

/** The first cycle found from each entry on; each cycle once. */
function cyclesOf(edges: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const done = new Set<string>();
  const cycles: string[] = [];
  const walk = (entry: string, path: readonly string[]): void => {
    const start = path.indexOf(entry);
    if (start !== -1) {
      cycles.push([...path.slice(start), entry].join(' -> '));
      return;
    }
    if (done.has(entry)) return;
    for (const next of edges.get(entry) ?? []) walk(next, [...path, entry]);
    done.add(entry);
  };
  for (const entry of edges.keys()) walk(entry, []);
  return cycles;
}
