import { resolveServiceConfig } from '../../../src/config/resolve-service-config.js';
import { openLongHistory } from '../../../src/service/long-history.js';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { decisionToJson, snapshotToJson } from '../../../src/decision/result/write-json.js';
import { createRangeClient } from '../../../src/prometheus/client/range-client.js';
import { createApp } from '../../../src/server/app.js';
import { createEventStreams } from '../../../src/server/event-streams.js';
import { startServer } from '../../../src/server/server.js';
import { createMetrics, createRegistry } from '../../../src/telemetry/metrics.js';
import { createOutages } from '../../../src/telemetry/outages.js';
import { createRecords } from '../../../src/telemetry/records.js';
import { createRecorder } from '../../../src/control/cycle/report.js';
import { createServiceHealth } from '../../../src/telemetry/service-health.js';
import { SILENT_LOG } from '../../../src/units/log.js';
import { WITH_HISTORY, createFleet } from './fleet.js';
import { watchLoop } from './loop-blocks.js';
import type { Order, Reply } from './orders.js';

/** The HTTP server of the service with the records of a fleet, in its own process. Its parent orders rounds. */
const [size = '10000', prometheusUrl = ''] = process.argv.slice(2);
const ROUNDS_BEFORE = 6;
/** Rounds of two hours, for the history of one scaler. */
const HISTORY_ROUNDS = 480;
/** As in the service: about 5 ms of work. */
const DECISIONS_AT_ONCE = 32;
const AFTER_GC_MS = 200;

const clock = SYSTEM_CLOCK;
const records = createRecords(clock);
const { ledger, feed } = records;
const metrics = createMetrics(createRegistry({ process: true }), {
  ledger,
  version: 'bench',
  clock,
  sources: ['default'],
});
const health = createServiceHealth(clock, ['default']);
const recorder = createRecorder({
  ...records,
  metrics,
  log: SILENT_LOG,
  outages: createOutages(new Map(), clock, SILENT_LOG),
});
const fleet = createFleet(Number(size));
const source = resolveServiceConfig({ prometheus: { default: { urls: [prometheusUrl] } } }, null).prometheus[
  'default'
];
const streams = createEventStreams({ feed, clock });
const app = createApp({
  healthProblems: () => [],
  waitingFor: () => [],
  metrics,
  api: {
    ...records,
    streams,
    writeSnapshot: snapshotToJson,
    writeDecision: decisionToJson,
    version: 'bench',
    isLeading: () => true,
    problems: () => [],
    invalid: () => [],
    generationsOf: () => ({ generation: null, newestGeneration: null }),
  },
  longHistory: openLongHistory({
    source: source ?? null,
    createClient: (config) => createRangeClient(config, clock),
    scalers: () => [fleet.wide],
    clock,
  }),
  service: {
    health,
    identity: 'bench',
    leader: () => 'bench',
    urlsOf: () => ['http://127.0.0.1:9090'],
    periodSeconds: () => 15,
    excerptOf: () => null,
  },
  clock,
  onError: (error) => {
    throw error;
  },
});
let round = 0;

for (let past = -HISTORY_ROUNDS; past <= 0; past += 1) {
  const record = fleet.recordOf(WITH_HISTORY, past);
  // Equal points would be merged.
  const desiredReplicas = past % 2 === 0 ? 10 : 11;
  const decision = record.decision === null ? null : { ...record.decision, desiredReplicas };
  records.chartPoints.add({ ...record, decision });
}
for (let before = 0; before < ROUNDS_BEFORE; before += 1) await runRound();
const server = await startServer({ app, port: 0, host: '127.0.0.1', clock });
const blocks = watchLoop();
let cpu = process.cpuUsage();
process.on('message', (order: Order) => {
  void execute(order).then((reply) => process.send?.(reply));
});
process.on('disconnect', () => process.exit());
process.send?.({ type: 'ready', url: server.url } satisfies Reply);

async function execute(order: Order): Promise<Reply> {
  switch (order.type) {
    case 'round':
      await runRound();
      return { type: 'done' };
    case 'decisions':
      for (let index = 0; index < order.count; index += 1) {
        recorder.add(fleet.rescaleOf(index, round));
        await new Promise((resolve) => setTimeout(resolve, order.everyMs));
      }
      return { type: 'done' };
    case 'flood':
      await flood(order.megabytes);
      return { type: 'done' };
    case 'reset':
      (globalThis as { gc?: () => void }).gc?.();
      // Other threads go on after a collection.
      await new Promise((resolve) => setTimeout(resolve, AFTER_GC_MS));
      blocks.reset();
      cpu = process.cpuUsage();
      return { type: 'done' };
    case 'figures': {
      const { user, system } = process.cpuUsage(cpu);
      const figures = {
        longestBlockMs: blocks.longestMs(),
        cpuMs: (user + system) / 1000,
        residentBytes: process.memoryUsage().rss,
        streams: streams.size(),
      };
      return { type: 'figures', figures };
    }
  }
}

async function runRound(): Promise<void> {
  round += 1;
  for (let index = 0; index < fleet.scalers.length; index += 1) {
    recorder.add(fleet.recordOf(index, round));
    if (index % DECISIONS_AT_ONCE === 0) await yieldIfDue();
  }
}

async function flood(megabytes: number): Promise<void> {
  const message = 'x'.repeat(1000);
  for (let sent = 0; sent < megabytes * 1000; sent += 1) {
    const at = clock.now();
    feed.publish({ type: 'failure', at, namespace: 'a', name: 'b', subject: 'cpu', failing: true, message });
    if (sent % 20 === 0) await yieldIfDue();
  }
}

function yieldIfDue(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
