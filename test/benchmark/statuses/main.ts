import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import type { ObjectVerdict } from '../../../src/config/read-objects.js';
import { pollStatuses } from '../../../src/control/status/status-writer.js';
import { connectTo } from '../../../src/kubernetes/access/connection.js';
import { createTransport } from '../../../src/kubernetes/requests/transport.js';
import {
  patchScalerStatus,
  createScalerStore,
  createScalerWatch,
} from '../../../src/kubernetes/scaler-objects.js';
import { scalerKey } from '../../../src/scaler/spec.js';
import { createLedger, type LedgerEntry } from '../../../src/telemetry/ledger.js';
import { SILENT_LOG } from '../../../src/units/log.js';
import { condition, record, scaler } from '../../telemetry/record-builder.js';
import { writeMarkedSection } from '../marked-section.js';
import { pause } from '../pause.js';
import { describeMachine, median, PAGE } from '../report.js';

export const STATUSES_USAGE = `npm run bench -- statuses [--scalers N] [--write]

  --scalers N  Scaler objects (default: 10000)
  --write      replace the section of docs/benchmarks.md`;

const LONGEST_MS = 300_000;

/** Measures how long the status of all Scaler objects takes to show a failure of their data source, over HTTP. */
export async function benchStatuses(
  given: readonly string[],
  version: string,
  signal: AbortSignal,
): Promise<void> {
  const index = given.indexOf('--scalers');
  const count = index < 0 ? 10_000 : Number(given[index + 1]);
  const machine = describeMachine({ promscaler: version });
  const measured = await measure(count, signal);
  const lines = [
    '## Status of Scaler objects',
    '',
    'A data source fails, and the condition ScalingActive of all objects changes at once: the time until the API server',
    'has accepted the last status, over HTTP. `npm run bench -- statuses --write` writes this section. The API server is',
    'the one of the demo, in another process.',
    '',
    `- Machine: ${machine}`,
    '',
    '| figure | value |',
    '| --- | ---: |',
    `| Scaler objects | ${count} |`,
    ...measured.map(([figure, value]) => `| ${figure} | ${value} |`),
  ];
  console.log(lines.join('\n'));
  if (given.includes('--write')) writeMarkedSection(PAGE, 'statuses', lines);
}

async function measure(
  count: number,
  signal: AbortSignal,
): Promise<readonly (readonly [figure: string, value: string])[]> {
  const child = fork(fileURLToPath(new URL('cluster-process.js', import.meta.url)), [String(count)]);
  const stop = new AbortController();
  try {
    const [url] = (await once(child, 'message')) as [string];
    const failed = async (): Promise<number> => {
      child.send('count');
      const [number] = (await once(child, 'message')) as [number];
      return number;
    };
    const times: number[] = [];
    const answers: string[] = [];
    let sentMs: number[] = [];
    const transport = createTransport({
      connection: connectTo(url),
      clock: SYSTEM_CLOCK,
      onRequest: ({ resource, code, seconds }) => {
        if (resource !== 'scalers/status') return;
        answers.push(code);
        times.push(seconds * 1000);
        sentMs.push(performance.now() - seconds * 1000);
      },
    });
    const store = createScalerStore([]);
    void createScalerWatch({ store, transport, clock: SYSTEM_CLOCK, log: SILENT_LOG }).run(stop.signal);
    while (!store.isComplete()) await pause(50, signal);
    const [verdicts, healthy, failing] = statesOf(store.list());
    let last = healthy;
    void pollStatuses(
      {
        store,
        verdictOf: (key) => verdicts.get(key) ?? null,
        lastOf: (key) => last.get(key) ?? null,
        rejectedSince: () => null,
        patch: (change, ended) => patchScalerStatus(transport, change, ended),
        recordEvent: () => undefined,
        leadership: { mayWrite: () => true },
        clock: SYSTEM_CLOCK,
        log: SILENT_LOG,
      },
      stop.signal,
    );
    const settled = async (isDone: () => boolean | Promise<boolean>): Promise<void> => {
      for (const endMs = performance.now() + LONGEST_MS; !(await isDone());) {
        if (performance.now() > endMs) throw new Error('the statuses were not written in 5 minutes');
        await pause(100, signal);
      }
    };
    await settled(() => answers.length >= count);
    await pause(2000, signal);
    answers.length = times.length = 0;
    sentMs = [];
    const cpu = process.cpuUsage();
    const startMs = performance.now();
    last = failing;
    await settled(async () => answers.length >= count && (await failed()) === count);
    const used = process.cpuUsage(cpu);
    const sorted = sentMs.toSorted((a, b) => a - b);
    const lastMs = (sorted.at(-1) ?? Number.NaN) - startMs;
    const halfMs = (sorted[Math.floor(count / 2)] ?? Number.NaN) - startMs;
    return [
      ['until half of them show it', `${(halfMs / 1000).toFixed(1)} s`],
      ['until the last one shows it', `${(lastMs / 1000).toFixed(1)} s (target: 60 s)`],
      ['requests', String(answers.length)],
      ['... of them not answered with 200', String(answers.filter((code) => code !== '200').length)],
      ['most requests in a second', String(mostInSecond(sorted))],
      ['a request takes, median', `${median(times).toFixed(1)} ms`],
      ['CPU of the writer', `${((used.user + used.system) / 1e6).toFixed(1)} s`],
    ];
  } finally {
    stop.abort();
    if (child.connected) child.disconnect();
  }
}

function statesOf(
  objects: Iterable<{ readonly namespace: string; readonly name: string; readonly specText: string }>,
): readonly [
  ReadonlyMap<string, ObjectVerdict>,
  ReadonlyMap<string, LedgerEntry>,
  ReadonlyMap<string, LedgerEntry>,
] {
  const verdicts = new Map<string, ObjectVerdict>();
  const [healthy, failing] = [new Map<string, LedgerEntry>(), new Map<string, LedgerEntry>()];
  for (const { namespace, name, specText } of objects) {
    const one = { ...scaler(name), namespace, key: `${namespace}/${name}` };
    const key = scalerKey(one);
    verdicts.set(key, { specText, problems: [], scaler: one });
    const ledger = createLedger();
    const active = condition({ type: 'ScalingActive', reason: 'ValidMetricFound' });
    healthy.set(key, ledger.add(record({ scaler: one, conditions: [condition(), active] })).after);
    const inactive = condition({
      type: 'ScalingActive',
      status: 'False',
      reason: 'FailedGetResourceMetric',
      message:
        'cpu has no value: POST http://prometheus:9090/api/v1/query: connect ECONNREFUSED 10.96.12.3:9090',
    });
    failing.set(key, ledger.add(record({ scaler: one, conditions: [condition(), inactive] })).after);
  }
  return [verdicts, healthy, failing];
}

function mostInSecond(sortedMs: readonly number[]): number {
  let first = 0;
  let most = 0;
  for (const [index, atMs] of sortedMs.entries()) {
    while (atMs - (sortedMs[first] ?? 0) >= 1000) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}
