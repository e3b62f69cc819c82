import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, jest } from '@jest/globals';
import { type DemoProcess, endOf, runLine, startDemo } from './demo-process.js';
import { E2E_TIMEOUT_MS } from './waiting.js';
import { itOnSimulator } from './fixture.js';

jest.setTimeout(2 * E2E_TIMEOUT_MS);

const run = promisify(execFile);

/** Requests per second of checkout, a pod for each 6 of them: 2 pods, then 5, then 3. At speed 1. */
const CURVE = [
  [0, 11],
  [150, 11],
  [500, 30],
  [620, 30],
  [800, 13],
  [1500, 13],
] as const;

/** At a higher speed, each second that a busy machine loses is a larger share of the time. */
const SPEED = 5;
const SECONDS = 250;

function traceText(): string {
  const rows = Array.from({ length: 150 }, (_, index) => {
    const at = index * 10;
    const next = CURVE.findIndex(([end]) => end > at);
    const [from, low] = CURVE[next - 1] ?? CURVE[0];
    const [to, high] = CURVE[next] ?? CURVE[0];
    return `${at},${low + ((high - low) * (at - from)) / (to - from)}`;
  });
  return ['t_seconds,value', ...rows].join('\n');
}

interface Steps {
  readonly replicas: readonly { readonly at: string; readonly count: number }[];
}

interface Report {
  readonly from: string;
  readonly to: string;
  readonly variants: readonly Steps[];
  readonly baselines: readonly (Steps & { readonly name: string })[];
}

/** Returns the share of the time in which both have the same replicas within 1, and how often the second changed. */
function agreement(report: Report): { readonly share: number; readonly ups: number; readonly downs: number } {
  const simulated = report.variants[0]?.replicas ?? [];
  const ran = report.baselines.find(({ name }) => name === 'what really ran')?.replicas ?? [];
  const countAt = (steps: Steps['replicas'], time: number): number =>
    steps.findLast(({ at }) => Date.parse(at) <= time)?.count ?? NaN;
  let same = 0;
  let all = 0;
  for (let time = Date.parse(report.from); time < Date.parse(report.to); time += 100) {
    all += 1;
    if (Math.abs(countAt(simulated, time) - countAt(ran, time)) <= 1) same += 1;
  }
  const changes = ran.slice(1).map(({ count }, index) => count - (ran[index]?.count ?? 0));
  return {
    share: same / all,
    ups: changes.filter((change) => change > 0).length,
    downs: changes.filter((change) => change < 0).length,
  };
}

describe('the back-test of a demo', () => {
  const folder = mkdtempSync(join(tmpdir(), 'promscaler-closed-loop-'));
  let demo: DemoProcess | null = null;

  afterAll(() => {
    demo?.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  const name =
    'is offered at its end, runs as printed, and has the replicas that really ran within 1 for 95 % of the time';
  itOnSimulator('the demo starts its own cluster', name, async () => {
    const trace = join(folder, 'load.csv');
    writeFileSync(trace, traceText());
    demo = startDemo(`exec $DEMO --speed ${SPEED} --duration ${SECONDS} --trace ${trace}`);
    expect(await endOf(demo.child)).toBe(0);
    expect(demo.leftovers()).toEqual([]);

    const commands = demo.commands().filter((command) => command.includes(' backtest '));
    expect(commands).toHaveLength(2);
    for (const command of commands) {
      const { code, output } = await runLine(command);
      expect([code, output]).toEqual([0, expect.stringMatching(/^what really ran /m)]);
    }

    const [command = ''] = commands;
    const [program = '', ...args] = command.split(' ');
    const reportOf = async (...more: readonly string[]): Promise<Report> =>
      JSON.parse((await run(program, [...args, '-o', 'json', ...more])).stdout) as Report;
    const search = args.map((argument) => argument.replace('checkout.yaml', 'search.yaml'));
    const agreements = {
      checkout: agreement(await reportOf()),
      search: agreement(
        JSON.parse((await run(program, [...search, '--capacity', '100', '-o', 'json'])).stdout) as Report,
      ),
    };
    for (const [scaler, { share, ups, downs }] of Object.entries(agreements))
      expect([scaler, share >= 0.95, ups >= 2, downs >= 2, share, ups, downs]).toEqual([
        ...[scaler, true, true, true],
        ...[share, ups, downs],
      ]);
  });
});
