import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { BUGS } from './bugs/bugs.js';
import { huntBug, type Catch } from './bugs/hunt.js';
import { loadProduct } from './product.js';
import { describeViolation } from './report.js';
import { mostQueries } from './forecasts.js';
import { runSeed } from './run-seed.js';
import { formatTime } from './simulation/faults.js';
import { type Feature, FEATURES } from './simulation/scenario.js';

interface Work {
  readonly seeds: readonly number[];
  readonly hours: number;
  /** Replicas that divide the scalers; null: one, or two of which one leads. */
  readonly shards: number | null;
  readonly features: readonly Feature[];
  /** Names of bugs to hunt, each with all of the seeds; empty: the unmodified service. */
  readonly bugs: readonly string[];
  /** Number of seeds, or bugs, that the threads have taken: some cost twice as much as others. */
  readonly taken: Int32Array;
}

/** Report of a thread for one seed. */
interface SeedReport {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly writes: number;
  readonly faults: number;
}

const USAGE =
  'npm run faults -- [--seeds N] [--first-seed N] [--hours N] [--threads N] [--replicas N] [--slow-starts] [--forecasts] [--recommendations]\n' +
  'npm run faults -- --bugs [BUG...] [--seeds N] [--hours N] [--threads N]';
/** The compiled src next to the simulation. */
const DIST = new URL('../../src/', import.meta.url);
const COPIES = new URL('../../bugs/', import.meta.url);
const MOST_SHOWN = 5;
/**
 * Most objects of a simulation are short-lived: a larger young generation saves a tenth of the time. The log of a day with
 * three replicas takes 1.5 GB.
 */
const RESOURCES = { maxYoungGenerationSizeMb: 96, maxOldGenerationSizeMb: 3072 };

if (isMainThread) {
  const flags = readFlags(process.argv.slice(2));
  await (flags.bugs ? huntAll(flags) : runAll(flags));
} else await runSome(workerData as Work);

/** Requires that every bug is detected by an expected invariant. */
async function huntAll({ seeds, hours, threads, only }: Flags): Promise<void> {
  const names = BUGS.map(({ name }) => name).filter((name) => only.length === 0 || only.includes(name));
  const own = { shards: null, features: [], bugs: names, taken: countFromZero() };
  const work = { seeds: upFrom(1, seeds), hours, ...own };
  const found: Catch[] = [];
  const tellCatch = (one: Catch): void => {
    if (one.caught !== null) found.push(one);
    console.log(describeCatch(one));
  };
  await runThreads<Catch>(Math.min(threads, names.length), work, tellCatch);
  const { user, system } = process.cpuUsage();
  console.log(
    `${found.length} of ${names.length} bugs were caught, ${((user + system) / 1e6).toFixed(0)} s of CPU`,
  );
  process.exitCode = found.length < names.length ? 1 : 0;
}

function describeCatch({ name, caught, broken, seconds }: Catch): string {
  const others = broken.filter((other) => other !== caught?.invariant).join(' ');
  const row = [
    name.padEnd(40),
    caught?.invariant ?? 'NOT CAUGHT',
    caught === null ? '-' : `seed ${caught.seed}`,
  ];
  const rest = [caught === null ? '-' : formatTime(caught.atMs), `${seconds.toFixed(0)} s`, others];
  return `${[...row, ...rest].join(' | ')}\n    ${caught?.message ?? 'no invariant that is meant to has noticed'}`;
}

async function runAll(flags: Flags): Promise<void> {
  const startedMs = performance.now();
  const reports: SeedReport[] = [];
  const work = {
    seeds: upFrom(flags.firstSeed, flags.seeds),
    hours: flags.hours,
    shards: flags.shards,
    features: flags.features,
    bugs: [],
    taken: countFromZero(),
  };
  const threads = Math.min(flags.threads, flags.seeds);
  await runThreads<SeedReport>(threads, work, (report) => tell(report, reports));
  const failed = reports.filter(({ violations }) => violations.length > 0);
  const seconds = (performance.now() - startedMs) / 1000;
  const { user, system } = process.cpuUsage();
  const cpu = (user + system) / 1e6;
  const writes = reports.reduce((sum, report) => sum + report.writes, 0);
  const faults = reports.reduce((sum, report) => sum + report.faults, 0);
  console.log(
    `${reports.length} seeds of ${flags.hours} simulated hours, ${faults} faults, ${writes} writes of replicas: ` +
      `${failed.length} with violations; ${seconds.toFixed(0)} s, ${(cpu / reports.length).toFixed(1)} s of CPU a seed`,
  );
  if (failed.length > 0)
    console.log(
      `failed: ${failed
        .map(({ seed }) => seed)
        .sort((a, b) => a - b)
        .join(' ')}`,
    );
  process.exitCode = failed.length > 0 || reports.length < flags.seeds ? 1 : 0;
}

function tell(report: SeedReport, reports: SeedReport[]): void {
  reports.push(report);
  for (const text of report.violations.slice(0, MOST_SHOWN)) console.log(text);
  if (report.violations.length > MOST_SHOWN)
    console.log(`    and ${report.violations.length - MOST_SHOWN} more of seed ${report.seed}`);
}

function upFrom(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

function countFromZero(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- what a thread says is what its work is
async function runThreads<T>(threads: number, work: Work, onReport: (report: T) => void): Promise<void> {
  const runThread = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: work, resourceLimits: RESOURCES });
      worker.on('message', onReport);
      worker.on('error', reject);
      worker.on('exit', () => resolve());
    });
  await Promise.all(Array.from({ length: threads }, runThread));
}

/** Yields the elements that no other thread has taken. */
function* takeFrom<T>(all: readonly T[], taken: Int32Array): Iterable<T> {
  for (let next = Atomics.add(taken, 0, 1); next < all.length; next = Atomics.add(taken, 0, 1))
    yield* all.slice(next, next + 1);
}

async function runSome(work: Work): Promise<void> {
  await (work.bugs.length > 0 ? huntSome(work) : runSeeds(work));
}

async function huntSome({ seeds, hours, bugs, taken }: Work): Promise<void> {
  const hunted = BUGS.filter(({ name }) => bugs.includes(name));
  for (const bug of takeFrom(hunted, taken))
    parentPort?.postMessage(await huntBug(bug, { dist: DIST, copies: COPIES, seeds: seeds.length, hours }));
}

async function runSeeds({ seeds, hours, shards, features, taken }: Work): Promise<void> {
  const product = await loadProduct(DIST);
  const rejections: string[] = [];
  process.on('unhandledRejection', (error) => rejections.push(String(error)));
  for (const seed of takeFrom(seeds, taken)) {
    const result = await runSeed({ seed, hours, product, shards: shards ?? undefined, features });
    const violations = result.violations.map((violation) =>
      describeViolation(violation, result, { hours, shards, features }),
    );
    const most = mostQueries(hours, new Set(result.records.map(({ process }) => process)).size);
    const { asked } = result.forecasts;
    if (asked > most) violations.push(`seed ${seed}: ${asked} queries for forecasts, at most ${most}`);
    const unhandled = rejections.splice(0).map((text) => `I15 seed ${seed}: an unhandled rejection: ${text}`);
    const report: SeedReport = {
      seed,
      violations: [...unhandled, ...violations],
      writes: result.writes,
      faults: result.faults.length,
    };
    parentPort?.postMessage(report);
  }
}

interface Flags {
  readonly bugs: boolean;
  /** Names of bugs to hunt; empty: all. */
  readonly only: readonly string[];
  readonly seeds: number;
  readonly firstSeed: number;
  readonly hours: number;
  readonly threads: number;
  readonly shards: number | null;
  readonly features: readonly Feature[];
}

function readFlags(args: readonly string[]): Flags {
  const bugs = args.includes('--bugs');
  const only = args.filter((arg) => BUGS.some(({ name }) => name === arg));
  const values = new Map<string, number>();
  const features = FEATURES.filter((feature) => args.includes(`--${feature}`));
  const known = ['--bugs', ...features.map((feature) => `--${feature}`), ...only];
  const rest = args.filter((arg) => !known.includes(arg));
  for (let index = 0; index < rest.length; index += 2) {
    const [name = '', value = ''] = [rest[index], rest[index + 1]];
    const number = Number(value);
    if (!['--seeds', '--first-seed', '--hours', '--threads', '--replicas'].includes(name) || !(number > 0)) {
      console.error(USAGE);
      process.exit(2);
    }
    values.set(name, number);
  }
  return {
    bugs,
    only,
    features,
    seeds: values.get('--seeds') ?? (bugs ? 12 : 200),
    firstSeed: values.get('--first-seed') ?? 1,
    hours: values.get('--hours') ?? (bugs ? 6 : 24),
    shards: values.get('--replicas') ?? null,
    threads: values.get('--threads') ?? Math.min(2, availableParallelism()),
  };
}
