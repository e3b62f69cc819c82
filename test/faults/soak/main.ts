import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { print, printMachine } from '../../benchmark/report.js';
import { pause } from '../../benchmark/pause.js';
import { CALM, judge } from './judge.js';
import { printHead, printSample, takeSample } from './samples.js';
import type { Sample } from './samples.js';
import { FAULTS } from './schedule.js';
import { startSoakStage } from './stage.js';
import type { SoakStage } from './stage.js';

/**
 * `npm run soak -- --minutes 30`: two replicas at ten times normal speed under faults, one after the other; prints the
 * resources of one of them every 10 s, and at the end whether they grow. Exit code 1 if they do.
 */
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '30' } } });
const minutes = Number(values.minutes);
if (!(minutes >= 3)) throw new Error(`--minutes is ${values.minutes}, must be at least 3`);

const SAMPLE_SECONDS = 10;
/** Before the first fault, while tables fill up and code is compiled. */
const WARMUP_SECONDS = 40;
/** After the last fault: half-open watches are ended after 150 s without news. */
const COOLDOWN_SECONDS = 170;
/** A fault begins every 15 s and lasts for a third of that: its effects have ended when the next one begins. */
const EVERY_SECONDS = 15;
const LASTS_SECONDS = 5;

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => stop.abort(new Error('interrupted')));

const stage = await startSoakStage(fileURLToPath(new URL('./probe.js', import.meta.url)));
try {
  await soak(stage, stop.signal);
} catch (error) {
  if (!stop.signal.aborted) throw error;
  process.exitCode = 1;
} finally {
  await stage.close();
}

async function soak(running: SoakStage, signal: AbortSignal): Promise<void> {
  printMachine({});
  printHead();
  await running.letWatchedLead();
  const startMs = performance.now();
  const samples: Sample[] = [];
  const present = { fault: CALM };
  const over = new AbortController();
  const looking = lookOn();
  await pause(WARMUP_SECONDS * 1000, signal);
  const faultSeconds = minutes * 60 - WARMUP_SECONDS - COOLDOWN_SECONDS;
  for (let turn = 0; turn * EVERY_SECONDS < Math.max(faultSeconds, 30); turn += 1) {
    const fault = FAULTS[turn % FAULTS.length];
    if (fault === undefined) break;
    present.fault = fault.name;
    const end = await fault.begin(running);
    await pause(LASTS_SECONDS * 1000, signal);
    await end();
    await pause((EVERY_SECONDS - LASTS_SECONDS) * 1000, signal);
  }
  present.fault = 'after the last fault';
  await running.letWatchedLead();
  await pause((COOLDOWN_SECONDS - 3 * SAMPLE_SECONDS) * 1000, signal);
  present.fault = CALM;
  await pause(3 * SAMPLE_SECONDS * 1000, signal);
  over.abort();
  await looking;
  report(samples);

  async function lookOn(): Promise<void> {
    const both = AbortSignal.any([signal, over.signal]);
    for (;;) {
      await pause(SAMPLE_SECONDS * 1000, both).catch(() => undefined);
      if (both.aborted) return;
      const { fault } = present;
      const sample = await takeSample(running.watched, {
        startMs,
        requests: running.simulator.log.total,
        fault,
      }).catch(() => null);
      if (sample === null) {
        if (running.watched.hasEnded()) throw new Error(`the service ended:\n${running.watched.output()}`);
        continue;
      }
      samples.push(sample);
      printSample(sample);
    }
  }
}

function report(samples: readonly Sample[]): void {
  console.log('');
  for (const { what, figure, promised, isMet } of judge(samples)) {
    print(what, figure, `${promised}${isMet ? '' : '   NOT MET'}`);
    if (!isMet) process.exitCode = 1;
  }
}
