import { parseArgs } from 'node:util';
import { listen, shut } from '../../../src/simulator/sockets.js';
import { describeMachine, PAGE, print } from '../report.js';
import { createHistorySource } from './history-source.js';
import { measureLoad } from './measure-load.js';
import { measurePages } from './measure-pages.js';
import { measureSilentStreams, measureStreams } from './measure-streams.js';
import { startBenchServer } from './server-client.js';
import type { Figure } from './figure.js';
import { writeSection } from './write-section.js';

export const DASHBOARD_USAGE = `npm run bench -- dashboard [--scalers N] [--write]

  --scalers N  default 10,000, of 10 pods each
  --write      write the section of docs/benchmarks.md`;

/** Measures the pages and streams of the HTTP server. */
export async function benchDashboard(args: readonly string[], version: string): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { scalers: { type: 'string', default: '10000' }, write: { type: 'boolean', default: false } },
  });
  const scalers = Number(values.scalers);
  const machine = describeMachine({ promscaler: version });
  console.log(`${machine}\n${scalers} scalers`);
  const history = createHistorySource();
  const server = await startBenchServer(scalers, await listen(history, 0));
  try {
    const figures: Figure[] = [];
    for (const measure of [measurePages, measureStreams, measureSilentStreams, measureLoad]) {
      const found = await measure(server, scalers);
      for (const { what, figure, promised, block } of found)
        print(what, `${figure}${block === '' ? '' : `, ${block}`}`, promised);
      figures.push(...found);
    }
    if (values.write) writeSection(PAGE, figures, { machine, scalers });
  } finally {
    await server.stop();
    await shut(history);
  }
}
