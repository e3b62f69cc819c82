import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it, jest } from '@jest/globals';
import type { FaultMatch } from '../../../src/simulator/api/requests/faults.js';
import { eventually } from '../../support/manual-clock.js';
import { AdoptRig } from './adopt-rig.js';

jest.setTimeout(60_000);

const CLI = join(import.meta.dirname, '../../../dist/cli/main.js');

const PATCH: FaultMatch = { verbs: ['patch'], resource: 'scalers', subresource: '' };
const DELETE: FaultMatch = { verbs: ['delete'], resource: 'horizontalpodautoscalers' };
const CREATE: FaultMatch = { verbs: ['create'], resource: 'horizontalpodautoscalers' };

interface Kill {
  readonly flag: '--switch' | '--undo';
  /** The request that the API server does not answer, after this many that it does. */
  readonly stalled: FaultMatch;
  readonly answered?: number;
  /** Whether the HPA exists then, and whether the scaler is in dry run. */
  readonly state: readonly [boolean, boolean];
}

/** Kills the built program while it waits for the answer to a request. */
async function killAt(rig: AdoptRig, { flag, stalled, answered = 0 }: Kill): Promise<void> {
  const { faults } = rig.cluster.simulator;
  if (answered > 0) faults.add(stalled, { kind: 'delay', ms: 0 }, answered);
  const takeForRequest = jest.spyOn(faults, 'takeForRequest');
  const resume = faults.add(stalled, { kind: 'stall' });
  const child: ChildProcess = spawn(process.execPath, [CLI, ...rig.args(flag)], {
    cwd: rig.folder,
    env: { ...process.env, ...rig.env },
    stdio: 'ignore',
  });
  const ended = once(child, 'close');
  const isStalled = (): boolean =>
    takeForRequest.mock.results.some(({ value }) => (value as { kind: string } | null)?.kind === 'stall');
  await eventually(isStalled, 'the request to be stalled');
  child.kill('SIGKILL');
  await ended;
  resume();
  takeForRequest.mockRestore();
}

const KILLS: readonly (Kill & { readonly title: string })[] = [
  { title: 'before the manifest is saved', flag: '--switch', stalled: PATCH, state: [true, true] },
  { title: 'before the HPA is deleted', flag: '--switch', stalled: DELETE, state: [true, true] },
  { title: 'before the dry run ends', flag: '--switch', stalled: PATCH, answered: 1, state: [false, true] },
  { title: 'before the dry run starts again', flag: '--undo', stalled: PATCH, state: [false, false] },
  { title: 'before the HPA is created again', flag: '--undo', stalled: CREATE, state: [false, true] },
];

it.each(
  KILLS.flatMap((kill) => [
    { ...kill, next: '--switch', end: [false, false] },
    { ...kill, next: '--undo', end: [true, true] },
  ]),
)('a process killed in $flag, $title, is continued with $next', async ({ next, end, state, ...kill }) => {
  const rig = await AdoptRig.create();
  await rig.start();
  if (kill.flag === '--undo') expect((await rig.run('--switch')).exitCode).toBe(0);

  await killAt(rig, { ...kill, state });
  const killed = [rig.hpa() !== null, rig.isDryRun()];
  const { exitCode } = await rig.run(next);

  expect(killed).toEqual(state);
  expect(exitCode).toBe(0);
  expect([rig.hpa() !== null, rig.isDryRun()]).toEqual(end);
  expect(rig.counts).toEqual([4]);
  const scaledByHpa = rig.controller.writes.length;
  rig.cluster.load = 60;
  await eventually(() => rig.cluster.replicas('web') === 6, 'exactly one of the two to scale up');
  expect(rig.controller.writes.length - scaledByHpa).toBe(next === '--undo' ? 1 : 0);
});
