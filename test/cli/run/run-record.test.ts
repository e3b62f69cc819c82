import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SYSTEM_CLOCK } from '../../../src/cli/system-clock.js';
import { startSimulator } from '../../../src/simulator/simulator.js';
import type { Simulator } from '../../../src/simulator/simulator.js';
import { eventually } from '../../support/manual-clock.js';
import { runCli } from '../fake-io.js';
import { EXTERNAL_METRIC, scalerYaml } from '../../support/scaler-yaml.js';
import { type StartedRun, startRun } from './start-run.js';

let simulator: Simulator;

beforeEach(async () => {
  simulator = await startSimulator({
    clock: SYSTEM_CLOCK,
    namespaces: ['monitoring'],
    workloads: [{ namespace: 'shop', name: 'web', replicas: 7 }],
  });
});

afterEach(() => simulator.close());

/** Runs the service, without a Prometheus: 7 replicas are above maxReplicas. */
function start(record: string): StartedRun {
  const config = `
kubernetes: { url: '${simulator.url}' }
prometheus: { default: { urls: ['http://127.0.0.1:9'] } }
server: { port: 0 }
record: ${record}
`;
  const document = scalerYaml({ maxReplicas: 5, syncPeriodSeconds: 1, metrics: [EXTERNAL_METRIC] });
  return startRun({ 'promscaler.yaml': config, 'scalers/web.yaml': document, 'record/.keep': '' });
}

describe('the decision record of a running service', () => {
  it('has the change from 7 to 5, which explain shows and a replay repeats', async () => {
    const running = start(`{ path: record/all.ndjson, which: all }`);
    const { cwd } = running;
    await eventually(() => existsSync(join(cwd, 'record/all.ndjson')), 'a record');
    await eventually(
      () => readFileSync(join(cwd, 'record/all.ndjson'), 'utf8').includes('"patched"'),
      'a change',
    );
    await running.stop();

    const replay = await runCli(['backtest', '--replay', 'record/all.ndjson'], { cwd });
    const first = readFileSync(join(cwd, 'record/all.ndjson'), 'utf8').split('\n')[0] ?? '';
    const explain = await runCli(['explain', '--file', '-'], { cwd, stdin: first });

    expect([replay.exitCode, replay.stdout]).toEqual([0, expect.stringContaining('\nno difference\n')]);
    expect([explain.exitCode, explain.stdout]).toEqual([0, expect.stringContaining('7 -> 5')]);
  });

  it('is missing while its directory is, the service scales, and the record starts when it is back', async () => {
    const running = start(`{ path: later/changes.ndjson }`);
    const { cwd } = running;
    await eventually(() => running.written.stderr.includes('"replicas changed"'), 'a change');
    await eventually(() => running.written.stderr.includes('failed to write decision record'), 'a warning');

    mkdirSync(join(cwd, 'later'));
    await eventually(() => existsSync(join(cwd, 'later/changes.ndjson')), 'a record');
    await running.stop();

    const lines = readFileSync(join(cwd, 'later/changes.ndjson'), 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { outcome: unknown }).outcome)).toMatchObject([
      { kind: 'patched', from: 7, to: 5 },
    ]);
  });
});
