import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { loadProduct } from './product.js';
import { describeViolation } from './report.js';
import { runSeed } from './run-seed.js';

interface Work {
  readonly seeds: readonly number[];
  readonly hours: number;
}

/** What a thread says of one seed. */
interface SeedReport {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly writes: number;
  readonly faults: number;
}

const USAGE = 'npm run faults -- [--seeds N] [--first-seed N] [--hours N] [--threads N]';
const MOST_SHOWN = 5;

if (isMainThread) await runAll();
else await runSome(workerData as Work);

async function runAll(): Promise<void> {
  const flags = readFlags(process.argv.slice(2));
  const threads = Math.min(flags.threads, flags.seeds);
  const startedMs = performance.now();
  const reports: SeedReport[] = [];
  const seeds = Array.from({ length: flags.seeds }, (_, index) => flags.firstSeed + index);
  const works = Array.from({ length: threads }, (_, thread) => ({
    seeds: seeds.filter((_, index) => index % threads === thread),
    hours: flags.hours,
  }));
  await Promise.all(works.map((work) => runThread(work, (report) => tell(report, reports))));
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
  if (failed.length > 0) console.log(`failed: ${failed.map(({ seed }) => seed).sort((a, b) => a - b).join(' ')}`);
  process.exitCode = failed.length > 0 || reports.length < flags.seeds ? 1 : 0;
}

function tell(report: SeedReport, reports: SeedReport[]): void {
  reports.push(report);
  for (const text of report.violations.slice(0, MOST_SHOWN)) console.log(text);
  if (report.violations.length > MOST_SHOWN)
    console.log(`    and ${report.violations.length - MOST_SHOWN} more of seed ${report.seed}`);
}

function runThread(work: Work, onReport: (report: SeedReport) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: work });
    worker.on('message', onReport);
    worker.on('error', reject);
    worker.on('exit', () => resolve());
  });
}

async function runSome({ seeds, hours }: Work): Promise<void> {
  // Beside the compiled simulation lies a compiled src, but only dist has the package's description above it.
  const product = await loadProduct(new URL('../../../dist/', import.meta.url));
  const rejections: string[] = [];
  process.on('unhandledRejection', (error) => rejections.push(String(error)));
  for (const seed of seeds) {
    const result = await runSeed({ seed, hours, product });
    const violations = result.violations.map((violation) => describeViolation(violation, result, hours));
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

function readFlags(args: readonly string[]): {
  readonly seeds: number;
  readonly firstSeed: number;
  readonly hours: number;
  readonly threads: number;
} {
  const values = new Map<string, number>();
  for (let index = 0; index < args.length; index += 2) {
    const [name = '', value = ''] = [args[index], args[index + 1]];
    const number = Number(value);
    if (!['--seeds', '--first-seed', '--hours', '--threads'].includes(name) || !(number > 0)) {
      console.error(USAGE);
      process.exit(2);
    }
    values.set(name, number);
  }
  return {
    seeds: values.get('--seeds') ?? 200,
    firstSeed: values.get('--first-seed') ?? 1,
    hours: values.get('--hours') ?? 24,
    threads: values.get('--threads') ?? Math.min(2, availableParallelism()),
  };
}
