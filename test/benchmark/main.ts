import { readFileSync } from 'node:fs';
import { benchDecide } from './decide.js';
import { benchFlood } from './flood.js';
import { benchSchedules } from './schedules.js';
import { printMachine } from './report.js';
import { benchRounds, onStage, versionOf } from './rounds.js';

/** Flags on the command line are handed to the node of the service: `npm run bench -- --cpu-prof`. */
const nodeFlags = process.argv.slice(2);
const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => stop.abort(new Error('interrupted')));

await benchAll().catch((error: unknown) => {
  // What was interrupted has ended everything that it started.
  if (!stop.signal.aborted) throw error;
  process.exitCode = 1;
});

async function benchAll(): Promise<void> {
  await onStage({ nodeFlags, signal: stop.signal }, async (stage) => {
    printMachine({ promscaler: readVersion(), Prometheus: await versionOf(stage.prometheus) });
    await benchRounds(stage, { title: '1,000 scalers with 5 pods each: cpu', shared: 0, own: 0 });
    await benchRounds(stage, { title: '1,000 scalers with 5 pods each: mixed', shared: 500, own: 10 });
    await benchFlood(stage);
  });
  console.log('');
  benchDecide();
  benchSchedules();
}

/** From the checkout: the compiled benchmark has no package description beside it. */
function readVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
