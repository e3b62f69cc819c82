import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine, PAGE } from '../report.js';
import { runCells } from './cells.js';
import { type Judged, judge } from './judge.js';
import { startLane } from './lane.js';
import { type EngineName, ENGINES, type Path, PATHS } from './plan.js';
import { countWrong, sectionOf } from './section.js';
import { writeMarkedSection } from '../marked-section.js';

export const LAG_USAGE = `npm run bench -- lag [--engine NAME]... [--path NAME]... [--records DIR] [--write]

  --engine NAME  prometheus or victoriametrics; default: both
  --path NAME    scrape, agent or rule: how samples reach the engine; default: all of them
  --records DIR  keep the decision records as DIR/ENGINE-PATH.ndjson
  --write        replace the section of docs/benchmarks.md`;

/** What happened on one engine. */
export interface EngineResult {
  readonly engine: EngineName;
  readonly version: string;
  readonly lanes: readonly Pick<LaneResult, 'path' | 'judged'>[];
}

interface LaneResult {
  readonly engine: EngineName;
  readonly version: string;
  readonly path: Path;
  readonly judged: Judged;
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
      records: { type: 'string' },
      write: { type: 'boolean', default: false },
    },
  });
  const engines = ENGINES.filter((engine) => values.engine.includes(engine));
  const paths = PATHS.filter((path) => values.path.includes(path));
  if (engines.length === 0 || paths.length === 0) throw new Error(LAG_USAGE);
  const machine = describeMachine({ promscaler: version });
  const { records = null } = values;
  const failed = new AbortController();
  const ended = AbortSignal.any([signal, failed.signal]);
  // All at the same time: each needs little.
  const runs = engines.flatMap((engine) =>
    paths.map((path) =>
      runLane({ engine, path, records }, ended).catch((error: unknown) => {
        failed.abort(error);
        throw error;
      }),
    ),
  );
  await Promise.allSettled(runs);
  const lanes = await Promise.all(runs);
  const results = engines.map((engine) => {
    const own = lanes.filter((lane) => lane.engine === engine);
    return { engine, version: own[0]?.version ?? 'unknown', lanes: own };
  });
  const lines = sectionOf(results, machine);
  console.log(lines.join('\n'));
  if (values.write) writeMarkedSection(PAGE, 'lag', lines);
  if (countWrong(results) > 0) process.exitCode = 1;
}

async function runLane(
  given: { readonly engine: EngineName; readonly path: Path; readonly records: string | null },
  signal: AbortSignal,
): Promise<LaneResult> {
  const { engine, path, records } = given;
  const lane = await startLane(engine, path, signal);
  const report = (cell: string): void => console.error(`${formatTime()} ${engine}, ${path}: ${cell}`);
  try {
    const cells = await runCells(lane, { path, report, signal });
    if (records !== null) {
      await mkdir(records, { recursive: true });
      await copyFile(lane.record, join(records, `${engine}-${path}.ndjson`));
    }
    const judged = await judge(cells, { record: lane.record, scaleDowns: lane.cluster.scaleDowns() });
    return { engine, version: lane.engine.version, path, judged };
  } finally {
    await lane.close();
  }
}

function formatTime(): string {
  return new Date().toISOString().slice(11, 19);
}
