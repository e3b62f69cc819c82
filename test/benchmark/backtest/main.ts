import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { writeMarkedSection } from '../marked-section.js';
import { CLI, describeMachine, PAGE, print } from '../report.js';
import { scalerYaml } from '../../support/scaler-yaml.js';
import { startHistoryServer } from './history-server.js';

export const BACKTEST_USAGE = `npm run bench -- backtest [--write]

  --write  replace the section of docs/benchmarks.md`;

const PEAK_MEMORY = new URL('./peak-memory.js', import.meta.url).href;
const DOCUMENT = scalerYaml({ minReplicas: 2, maxReplicas: 60 });
/** With the document itself, which has 70 and 300, 20 variants. */
const SWEEP = ['averageUtilization=40,50,60,70,80', 'downscaleStabilizationSeconds=60,120,300,600'].flatMap(
  (one) => ['--sweep', one],
);
const END = '2026-01-31T00:00:00Z';

interface Case {
  readonly title: string;
  readonly days: number;
  readonly more: readonly string[];
  readonly variants: number;
  readonly promised: string;
}

const CASES: readonly Case[] = [
  { title: 'one week, one document', days: 7, more: [], variants: 1, promised: 'below 5 s' },
  { title: '30 days, 20 variants', days: 30, more: SWEEP, variants: 20, promised: 'below 120 s' },
  {
    title: '30 days, 20 variants, with --html',
    days: 30,
    more: [...SWEEP, '--html', 'report.html'],
    variants: 20,
    promised: 'below 120 s',
  },
];

interface Figures {
  readonly seconds: number;
  readonly peakMegabytes: number;
  /** Load of the machine before the run. */
  readonly load: number;
}

/** Measures back-tests of a history that was saved before, with the built command line. */
export async function benchBacktest(args: readonly string[], version: string): Promise<void> {
  const machine = describeMachine({ promscaler: version });
  console.log(machine);
  const folder = await mkdtemp(join(tmpdir(), 'promscaler-backtest-'));
  const rows: string[] = [];
  try {
    await writeFile(join(folder, 'web.yaml'), DOCUMENT);
    await saveHistories(folder);
    for (const one of CASES) {
      const figures = await measure(folder, one);
      print(`${one.title}: time`, `${figures.seconds.toFixed(1)} s`, one.promised);
      print(`${one.title}: peak RSS`, `${figures.peakMegabytes.toFixed(0)} MB`, 'below 500 MB');
      rows.push(rowOf(one, figures));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  if (args.includes('--write')) writePage(PAGE, rows, machine);
}

async function saveHistories(folder: string): Promise<void> {
  const server = await startHistoryServer();
  try {
    for (const days of new Set(CASES.map((one) => one.days))) {
      const source = [
        '--prometheus',
        server.url,
        '--from',
        `${days}d`,
        '--to',
        END,
        '--step',
        '15s',
        '--no-cache',
      ];
      await run(folder, ['--save-history', `${days}.json`, ...source]);
    }
  } finally {
    await server.close();
  }
}

async function measure(folder: string, { days, more, variants }: Case): Promise<Figures> {
  const load = loadavg()[0] ?? NaN;
  const startedMs = performance.now();
  const { stdout, peakBytes } = await run(folder, ['--history', `${days}.json`, ...more, '-o', 'json']);
  const seconds = (performance.now() - startedMs) / 1000;
  const report = JSON.parse(stdout) as { readonly variants: readonly unknown[] };
  if (report.variants.length !== variants) throw new Error(`${report.variants.length} variants`);
  return { seconds, peakMegabytes: peakBytes / 1e6, load };
}

async function run(
  folder: string,
  args: readonly string[],
): Promise<{ readonly stdout: string; readonly peakBytes: number }> {
  const words = ['--import', PEAK_MEMORY, CLI, 'backtest', '--scaler', 'web.yaml', ...args];
  const child = spawn(process.execPath, words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const peak = child.stdio[3];
  if (child.stdout === null || child.stderr === null) throw new Error('no pipe for the output');
  if (peak === null || peak === undefined || !('readable' in peak)) throw new Error('no pipe for the memory');
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [stdout, stderr, kibibytes] = await Promise.all([text(child.stdout), text(child.stderr), text(peak)]);
  const code = await exited;
  if (code !== 0) throw new Error(`backtest exited with ${String(code)}: ${stderr}`);
  return { stdout, peakBytes: Number(kibibytes) * 1024 };
}

function rowOf({ title, promised }: Case, { seconds, peakMegabytes, load }: Figures): string {
  const cells = [
    title,
    `${seconds.toFixed(1)} s`,
    promised,
    `${peakMegabytes.toFixed(0)} MB`,
    load.toFixed(1),
  ];
  return `| ${cells.join(' | ')} |`;
}

function writePage(file: string, rows: readonly string[], machine: string): void {
  const lines = [
    '## Back-test',
    '',
    'How long `promscaler backtest` takes for the history of one workload with a step of 15 s, read from a file of',
    '`--save-history`. `npm run bench -- backtest --write` measures it and writes this section. The promised peak RSS is',
    `below 500 MB. Variants run in worker threads, one for each of the ${cpus().length} processors.`,
    '',
    `- Machine: ${machine}`,
    `- Date: ${new Date().toISOString().slice(0, 10)}`,
    '- Load: of the machine before each run; a busy machine takes longer',
    '',
    '| back-test | time | promised | peak RSS | load |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ];
  writeMarkedSection(file, 'backtest', lines);
}
