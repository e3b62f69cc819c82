import { readFileSync } from 'node:fs';
import { BACKTEST_USAGE, benchBacktest } from './backtest/main.js';
import { benchBrowser, BROWSER_USAGE } from './browser/main.js';
import { benchCpuWindows } from './cpu-windows.js';
import { benchDashboard, DASHBOARD_USAGE } from './dashboard/main.js';
import { benchDecide } from './decide.js';
import { benchElasticity } from './elasticity.js';
import { benchSlowStarts } from './slow-starts.js';
import { benchForecast } from './forecast.js';
import { benchFlood } from './flood.js';
import { benchLag, LAG_USAGE } from './lag/main.js';
import { benchPrometheus, PROMETHEUS_USAGE } from './prometheus/main.js';
import { benchCpuReaction, CPU_USAGE } from './reaction/cpu.js';
import { benchReaction, REACTION_USAGE } from './reaction/main.js';
import { benchScale, SCALE_USAGE } from './scale/main.js';
import { benchShares, SHARES_USAGE } from './shares/main.js';
import { benchSchedules } from './schedules.js';
import { benchStatuses, STATUSES_USAGE } from './statuses/main.js';
import { PAGE, printMachine } from './report.js';
import { benchRounds, onStage, versionOf } from './rounds.js';

const USAGE = `npm run bench -- [--only SECTION] [NODE-FLAG...]

  --only SECTION  rounds, flood, decide or schedules; all of them where it is not given
  NODE-FLAG       for the node of the service, such as --cpu-prof

npm run bench -- elasticity [--traces DIRECTORY] [--slow-starts | --windows] [--write]

  --traces DIRECTORY  load traces, CSV files with the header t_seconds,value (default: $PROMSCALER_TRACES, or shapes)
  --slow-starts       only slow starts and queues
  --windows           only scrape intervals and windows of CPU
  --write             replace the sections of docs/benchmarks.md

npm run bench -- forecast [--traces DIRECTORY] [--write]

${BACKTEST_USAGE}

${SCALE_USAGE}

${PROMETHEUS_USAGE}

${REACTION_USAGE}

${CPU_USAGE}

${SHARES_USAGE}

${STATUSES_USAGE}

${LAG_USAGE}

${BROWSER_USAGE}

${DASHBOARD_USAGE}`;

const given = process.argv.slice(2);
const only = given[0] === '--only' ? given[1] : undefined;
const nodeFlags = only === undefined ? given : given.slice(2);
const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => stop.abort(new Error('interrupted')));

if (given.includes('--help')) console.log(USAGE);
else if (given[0] === 'elasticity') {
  const page = given.includes('--write') ? PAGE : undefined;
  const folder = valueOf('--traces') ?? process.env['PROMSCALER_TRACES'];
  const parts = {
    '--windows': benchCpuWindows,
    '--slow-starts': benchSlowStarts,
  };
  const chosen = Object.entries(parts).filter(([option]) => given.includes(option));
  if (chosen.length === 0) await benchElasticity(folder, page);
  for (const [, bench] of chosen.length === 0 ? Object.entries(parts) : chosen) await bench(folder, page);
} else if (given[0] === 'forecast') {
  const page = given.includes('--write') ? PAGE : undefined;
  await benchForecast(valueOf('--traces') ?? process.env['PROMSCALER_TRACES'], page);
} else
  await runSection().catch((error: unknown) => {
    // After an interruption, everything that was started has been stopped.
    if (!stop.signal.aborted) throw error;
    process.exitCode = 1;
  });

async function runSection(): Promise<void> {
  if (given[0] === 'scale' && given.includes('--prometheus'))
    await benchPrometheus(given.slice(1), readVersion(), stop.signal);
  else if (given[0] === 'scale') await benchScale(given.slice(1), readVersion(), stop.signal);
  else if (given[0] === 'reaction' && given.includes('--cpu'))
    await benchCpuReaction(given.slice(1), readVersion());
  else if (given[0] === 'reaction') await benchReaction(given.slice(1), readVersion(), stop.signal);
  else if (given[0] === 'shares') await benchShares(given.slice(1), readVersion(), stop.signal);
  else if (given[0] === 'statuses') await benchStatuses(given.slice(1), readVersion(), stop.signal);
  else if (given[0] === 'lag') await benchLag(given.slice(1), readVersion(), stop.signal);
  else if (given[0] === 'backtest') await benchBacktest(given.slice(1), readVersion());
  else if (given[0] === 'dashboard') await benchDashboard(given.slice(1), readVersion());
  else if (given[0] === 'browser') await benchBrowser(given.slice(1), readVersion());
  else await benchAll();
}

async function benchAll(): Promise<void> {
  if (isWanted('rounds') || isWanted('flood')) {
    await onStage({ nodeFlags, signal: stop.signal }, async (stage) => {
      printMachine({ promscaler: readVersion(), Prometheus: await versionOf(stage.prometheus) });
      if (isWanted('rounds')) {
        await benchRounds(stage, { title: '1,000 scalers with 5 pods each: cpu', shared: 0, own: 0 });
        await benchRounds(stage, { title: '1,000 scalers with 5 pods each: mixed', shared: 500, own: 10 });
      }
      if (isWanted('flood')) await benchFlood(stage);
    });
    console.log('');
  }
  if (isWanted('decide')) benchDecide();
  if (isWanted('schedules')) benchSchedules();
}

function valueOf(option: string): string | undefined {
  const index = given.indexOf(option);
  return index < 0 ? undefined : given[index + 1];
}

function isWanted(section: 'rounds' | 'flood' | 'decide' | 'schedules'): boolean {
  return only === undefined || only === section;
}

/** From the checkout: there is no package description next to the compiled benchmark. */
function readVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
