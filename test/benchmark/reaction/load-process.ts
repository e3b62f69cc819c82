import { createServer } from 'node:http';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { startSimulator } from '../../../src/simulator/simulator.js';
import { listen } from '../../../src/simulator/sockets.js';
import { sleep } from '../../../src/units/clock.js';
import { createSteppingCounter } from './stepping-counter.js';
import {
  floorSeconds,
  NAMES,
  NAMESPACE,
  RATE_WINDOW_SECONDS,
  REQUESTS_PER_REPLICA,
  SCRAPE_SECONDS,
  START_REPLICAS,
  type Step,
  type StepsOrder,
} from './plan.js';

/**
 * Runs the API server and an exporter whose load steps, in their own process. Sends its addresses, answers each
 * order with its steps, and ends with its parent.
 */
process.on('disconnect', () => process.exit());

const POLL_MS = 20;
const LONGEST_STEP_MS = 120_000;

const counters = new Map(
  NAMES.map((name) => [name, createSteppingCounter(START_REPLICAS * REQUESTS_PER_REPLICA)]),
);
const simulator = await startSimulator({
  clock: SYSTEM_CLOCK,
  seed: 0.5,
  requestLogSize: 100_000,
  workloads: NAMES.map((name) => ({ namespace: NAMESPACE, name, replicas: START_REPLICAS })),
});
const exporter = createServer((_, response) => {
  const nowMs = Date.now();
  const lines = [...counters].map(
    ([name, counter]) => `load_requests_total{workload="${name}"} ${counter.valueAt(nowMs)}`,
  );
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' });
  response.end(`# TYPE load_requests_total counter\n${lines.join('\n')}\n`);
});
process.send?.({ url: simulator.url, exporterUrl: await listen(exporter, 0) });
process.on('message', (order: StepsOrder) => {
  void runAll(order).then(
    (steps) => process.send?.({ steps }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});

async function runAll(order: StepsOrder): Promise<readonly Step[]> {
  const all = await Promise.all(NAMES.map((name) => runScaler(name, order)));
  return all.flat();
}

/** Doubles the load of a scaler a few times, each time at a random instant of its period. */
async function runScaler(name: string, order: StepsOrder): Promise<readonly Step[]> {
  const { stepsPerScaler, syncPeriodSeconds } = order;
  const steps: Step[] = [];
  const first = simulator.describe({ namespace: NAMESPACE, name }).replicas;
  for (let index = 0; index < stepsPerScaler; index += 1) {
    const settledSeconds = SCRAPE_SECONDS + RATE_WINDOW_SECONDS + Math.random() * syncPeriodSeconds;
    await sleep(SYSTEM_CLOCK, settledSeconds * 1000);
    steps.push(await runStep(name, first * 2 ** (index + 1), syncPeriodSeconds));
  }
  return steps;
}

async function runStep(name: string, replicas: number, syncPeriodSeconds: number): Promise<Step> {
  const startMs = Date.now();
  counters.get(name)?.setRate(replicas * REQUESTS_PER_REPLICA, startMs);
  for (;;) {
    const patches = simulator
      .requests()
      .filter(
        (request) =>
          request.verb === 'patch' &&
          request.subresource === 'scale' &&
          request.name === name &&
          request.isApplied &&
          request.at >= startMs,
      );
    // The last percent of a rate is within the tolerance.
    const full = patches.find(({ body }) => replicasOf(body) >= replicas * 0.9);
    const [first] = patches;
    if (first !== undefined && full !== undefined)
      return { firstSeconds: (first.at - startMs) / 1000, fullSeconds: (full.at - startMs) / 1000 };
    if (Date.now() - startMs > LONGEST_STEP_MS)
      throw new Error(`${name}: not ${replicas} replicas after ${floorSeconds(syncPeriodSeconds)} s`);
    await sleep(SYSTEM_CLOCK, POLL_MS);
  }
}

function replicasOf(body: string | null): number {
  const { spec } = JSON.parse(body ?? '{}') as { spec?: { replicas?: number } };
  return spec?.replicas ?? 0;
}
