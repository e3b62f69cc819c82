import { parseArgs } from 'node:util';
import { describeMachine } from '../report.js';
import { type Cells, runCells } from './cells.js';
import { type Judged, judge } from './judge.js';
import { startLane } from './lane.js';
import { type EngineName, ENGINES, type Path, PATHS } from './plan.js';
import { countWrong, sectionOf } from './section.js';
import { writeMarkedSection } from '../marked-section.js';

export const LAG_USAGE = `npm run bench -- lag [--engine NAME]... [--path NAME]... [--write]

  --engine NAME  prometheus or victoriametrics; default: both
  --path NAME    scrape, agent or rule: how samples reach the engine; default: all of them
  --write        replace the section of docs/benchmarks.md`;

/** What happened on one engine. */
export interface EngineResult {
  readonly engine: EngineName;
  readonly version: string;
  readonly lanes: readonly { readonly path: Path; readonly judged: Judged }[];
}

/** Runs the service on real engines whose samples are old or missing, while the load stays the same. */
export async function benchLag(
  given: readonly string[],
  version: string,
  signal: AbortSignal,
): Promise<void> {
  const { values } = parseArgs({
    args: [...given],
    options: {
      engine: { type: 'string', multiple: true, default: [...ENGINES] },
      path: { type: 'string', multiple: true, default: [...PATHS] },
      write: { type: 'boolean', default: false },
    },
  });
  const engines = ENGINES.filter((engine) => values.engine.includes(engine));
  const paths = PATHS.filter((path) => values.path.includes(path));
  if (engines.length === 0 || paths.length === 0) throw new Error(LAG_USAGE);
  const machine = describeMachine({ promscaler: version });
  const results: EngineResult[] = [];
  for (const engine of engines) results.push(await runEngine(engine, paths, signal));
  const lines = sectionOf(results, machine);
  console.log(lines.join('\n'));
  if (values.write) writeMarkedSection('docs/benchmarks.md', 'lag', lines);
  if (countWrong(results) > 0) process.exitCode = 1;
}

/** The paths run at the same time: each needs little. */
async function runEngine(
  engine: EngineName,
  paths: readonly Path[],
  signal: AbortSignal,
): Promise<EngineResult> {
  const failed = new AbortController();
  const both = AbortSignal.any([signal, failed.signal]);
  const lanes = await Promise.all(
    paths.map((path) =>
      runLane(engine, path, both).catch((error: unknown) => {
        failed.abort(error);
        throw error;
      }),
    ),
  );
  return { engine, version: lanes[0]?.version ?? 'unknown', lanes };
}

async function runLane(
  engine: EngineName,
  path: Path,
  signal: AbortSignal,
): Promise<{ readonly version: string; readonly path: Path; readonly judged: Judged }> {
  const lane = await startLane(engine, path, signal);
  try {
    const cells: Cells = await runCells(lane, path, signal);
    const judged = await judge(cells, { record: lane.record, scaleDowns: lane.cluster.scaleDowns() });
    return { version: lane.engine.version, path, judged };
  } finally {
    await lane.close();
  }
}
