import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findPrometheus } from '../../../src/cli/demo/programs/prometheus-release.js';
import { startPrometheus } from '../../../src/cli/demo/programs/prometheus-server.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { describeMachine, PAGE } from '../report.js';
import { versionOf } from '../rounds.js';
import { readRunOptions, RUN_OPTIONS } from '../run-options.js';
import { writeDocuments } from '../scale/documents.js';
import { startSimulation } from '../scale/simulation-client.js';
import { prometheusConfig } from './config.js';
import { measurePrometheus } from './measure.js';
import type { MeasureOptions } from './measure.js';
import { tableOf, writeSection } from './write-section.js';

export const PROMETHEUS_USAGE = `npm run bench -- scale --prometheus [OPTION...]

  --scalers N     default 10,000
  --pods N        of each scaler, default 10
  --rounds N      measured rounds of 15 s, in real time; default 20
  --warmup N      rounds before, default 3
  --heap-limit N  MiB of heap of the service, default 768
  --write         write the section of docs/benchmarks.md`;

/** Measures what the queries of the scale benchmark cost a real Prometheus that holds the series of its pods. */
export async function benchPrometheus(
  args: readonly string[],
  version: string,
  signal: AbortSignal,
): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...RUN_OPTIONS,
      prometheus: { type: 'boolean' },
      scalers: { type: 'string', default: '10000' },
      rounds: { type: 'string', default: '20' },
      write: { type: 'boolean', default: false },
    },
  });
  const { pods, ...run } = readRunOptions(values);
  const options = {
    ...run,
    size: { scalers: Number(values.scalers), pods },
    report: (line: string) => void process.stderr.write(`${line}\n`),
    signal,
  };
  await onStage(options, async (stage) => {
    const machine = describeMachine({ promscaler: version, Prometheus: await versionOf(stage.prometheus) });
    console.log(machine);
    const figures = await measurePrometheus(options, stage);
    console.log(['', ...tableOf(figures)].join('\n'));
    if (values.write) writeSection(PAGE, figures, machine);
  });
}

/** Starts cluster and Prometheus for `work`, and stops both in any case. */
async function onStage(
  { size, report }: MeasureOptions,
  work: (stage: Parameters<typeof measurePrometheus>[1]) => Promise<void>,
): Promise<void> {
  const binary = await findPrometheus({ env: process.env, clock: SYSTEM_CLOCK, report });
  const folder = await mkdtemp(join(tmpdir(), 'promscaler-scale-'));
  try {
    await writeDocuments(folder, size);
    report(`starting a cluster with ${size.scalers * size.pods} pods`);
    const simulation = await startSimulation(size);
    try {
      const config = prometheusConfig(simulation, null);
      const prometheus = await startPrometheus({ binary, config, env: process.env, clock: SYSTEM_CLOCK });
      try {
        await work({ simulation, prometheus, folder });
      } finally {
        await prometheus.stop();
      }
    } finally {
      await simulation.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
