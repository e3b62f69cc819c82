import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it, jest } from '@jest/globals';
import type { FaultMatch } from '../../../src/simulator/api/requests/faults.js';
import { eventually } from '../../support/manual-clock.js';
import { AdoptFixture } from '../../cli/adopt/adopt-fixture.js';

const CLI = join(import.meta.dirname, '../../../dist/bundle/main.js');

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
async function killAt(fixture: AdoptFixture, { flag, stalled, answered = 0 }: Kill): Promise<void> {
  const { faults } = fixture.cluster.simulator;
  if (answered > 0) faults.add(stalled, { kind: 'delay', ms: 0 }, answered);
  const takeForRequest = jest.spyOn(faults, 'takeForRequest');
  const resume = faults.add(stalled, { kind: 'stall' });
  const child: ChildProcess = spawn(process.execPath, [CLI, ...fixture.args(flag)], {
    cwd: fixture.folder,
    env: { ...process.env, ...fixture.env },
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
  const fixture = await AdoptFixture.create();
  await fixture.start();
  if (kill.flag === '--undo') expect((await fixture.run('--switch')).exitCode).toBe(0);

  await killAt(fixture, { ...kill, state });
  const killed = [fixture.hpa() !== null, fixture.isDryRun()];
  const { exitCode } = await fixture.run(next);

  expect(killed).toEqual(state);
  expect(exitCode).toBe(0);
  expect([fixture.hpa() !== null, fixture.isDryRun()]).toEqual(end);
  expect(fixture.counts).toEqual([4]);
  const scaledByHpa = fixture.controller.writes.length;
  fixture.cluster.load = 60;
  await eventually(() => fixture.cluster.replicas('web') === 6, 'exactly one of the two to scale up');
  expect(fixture.controller.writes.length - scaledByHpa).toBe(next === '--undo' ? 1 : 0);
});
