import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPrometheus } from '../../../src/cli/demo/programs/prometheus-release.js';
import { startPrometheus } from '../../../src/cli/demo/programs/prometheus-server.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { describeMachine, PAGE } from '../report.js';
import { versionOf } from '../rounds.js';
import { measureReaction, type LoadProcess, type ReactionFigures } from './measure.js';
import { SCALERS, SCRAPE_SECONDS, type Step } from './plan.js';
import { tableOf, writeSection } from './write-section.js';

export const REACTION_USAGE = `npm run bench -- reaction [--steps N] [--write]

  --steps N  steps of the load for each sync period; default 30
  --write    write the section of docs/benchmarks.md`;

const PERIODS = [1, 15] as const;

/** Measures the time from a step in the load to the PATCH, on a real Prometheus. */
export async function benchReaction(
  args: readonly string[],
  version: string,
  signal: AbortSignal,
): Promise<void> {
  const at = args.indexOf('--steps');
  const steps = at === -1 ? 30 : Number(args[at + 1]);
  if (!(steps > 0)) throw new Error(REACTION_USAGE);
  const binary = await findPrometheus({ env: process.env, clock: SYSTEM_CLOCK, report: console.log });
  const results: ReactionFigures[] = [];
  let machine = '';
  for (const syncPeriodSeconds of PERIODS) {
    const folder = await mkdtemp(join(tmpdir(), 'promscaler-reaction-'));
    const load = await startLoad();
    const config = prometheusConfig(load.exporterUrl);
    const prometheus = await startPrometheus({ binary, config, env: process.env, clock: SYSTEM_CLOCK });
    try {
      machine = describeMachine({ promscaler: version, Prometheus: await versionOf(prometheus) });
      const stage = { load, prometheusUrl: prometheus.url, folder, signal };
      const order = { syncPeriodSeconds, stepsPerScaler: Math.ceil(steps / SCALERS) };
      results.push(await measureReaction(stage, order));
    } finally {
      await prometheus.stop();
      load.stop();
      await rm(folder, { recursive: true, force: true });
    }
  }
  console.log([machine, '', ...tableOf(results)].join('\n'));
  if (args.includes('--write')) writeSection(PAGE, results, machine);
}

function prometheusConfig(exporterUrl: string): string {
  return `global: { scrape_interval: ${SCRAPE_SECONDS}s }
scrape_configs:
  - job_name: load
    static_configs: [{ targets: ['${new URL(exporterUrl).host}'] }]
`;
}

async function startLoad(): Promise<LoadProcess> {
  const child = fork(fileURLToPath(new URL('load-process.js', import.meta.url)));
  // The other end of the channel is our own file.
  const next = async (): Promise<unknown> => ((await once(child, 'message')) as [unknown])[0];
  const addresses = (await next()) as { readonly url: string; readonly exporterUrl: string };
  return {
    ...addresses,
    run: async (order) => {
      child.send(order);
      const { steps, error } = (await next()) as { steps?: readonly Step[]; error?: string };
      if (steps === undefined) throw new Error(error);
      return steps;
    },
    stop: () => child.disconnect(),
  };
}
