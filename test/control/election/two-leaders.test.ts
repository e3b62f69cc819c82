import { describe, expect, it } from '@jest/globals';
import { secondsBetween } from '../../../src/units/time.js';
import { settledMemory } from '../fixture.js';
import type { Accepted } from '../process-fixture.js';
import { run, ScalingProcess, SharedServer } from '../process-fixture.js';

const WINDOW = 300;

interface Plan {
  readonly hasStore?: boolean;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly loads: readonly [number, number];
  /** The number of cycles of each process. */
  readonly cycles: number;
  /** The number of pauses at any step, and their length. */
  readonly pauses: { readonly count: number; readonly seconds: number };
  /** Whether both have read the state before. */
  readonly isLoaded: boolean;
  /** Whether the watches of both still have the initial state. */
  readonly isWatchBehind?: boolean;
  /** How often another field of the target may change between two steps. */
  readonly touches?: number;
}

interface Play {
  readonly accepted: readonly Accepted[];
  /** The number of choices at each step. */
  readonly options: readonly number[];
}

/** Plays one schedule: each step is a request of one process, a pause, or a change of another field. */
async function play(plan: Plan, choices: readonly number[]): Promise<Play> {
  const server = new SharedServer();
  if (plan.isWatchBehind === true) server.cluster.watchedReplicas = 5;
  const processes = plan.loads.map((load, index) => {
    const process = new ScalingProcess(server, { ...plan, epoch: `${index + 1}/${index}` });
    process.load = load;
    if (plan.hasStore === false) process.memory = settledMemory();
    return process;
  });
  if (plan.isLoaded) await load(server, processes);
  const options: number[] = [];
  const left = new Set(processes);
  for (const process of processes)
    void (async () => {
      for (let count = 0; count < plan.cycles; count += 1) await process.cycle();
      left.delete(process);
    })();
  await run();
  const extras = { pauses: plan.pauses.count, touches: plan.touches ?? 0 };
  while (left.size > 0) {
    const { pending } = server;
    const moves = [
      ...pending.map((_, index) => () => server.take(index).answer()),
      ...(extras.pauses > 0 ? [() => pass(server, plan, extras)] : []),
      ...(extras.touches > 0 ? [() => touch(server, extras)] : []),
    ];
    const move = moves[choices[options.length] ?? 0];
    if (pending.length === 0 || move === undefined) throw new Error('nothing is left to be done');
    options.push(moves.length);
    move();
    await run();
  }
  return { accepted: server.accepted, options };
}

function pass(server: SharedServer, plan: Plan, extras: { pauses: number }): void {
  extras.pauses -= 1;
  server.clock.advance(plan.pauses.seconds * 1000);
}

function touch(server: SharedServer, extras: { touches: number }): void {
  extras.touches -= 1;
  server.cluster.touch();
}

/** Runs one cycle of each process without a change. */
async function load(server: SharedServer, processes: readonly ScalingProcess[]): Promise<void> {
  for (const process of processes) {
    const wanted = process.load;
    process.load = 50;
    server.isFree.add(process);
    await process.cycle();
    server.isFree.delete(process);
    process.load = wanted;
  }
  server.clock.advance(1000);
}

/** Plays every possible schedule, and returns the changes of each. */
async function playAll(plan: Plan): Promise<readonly (readonly Accepted[])[]> {
  const all: (readonly Accepted[])[] = [];
  let choices: number[] = [];
  for (;;) {
    const { accepted, options } = await play(plan, choices);
    all.push(accepted);
    const taken = options.map((_, step) => choices[step] ?? 0);
    let step = options.length - 1;
    while (step >= 0 && (taken[step] ?? 0) + 1 >= (options[step] ?? 0)) step -= 1;
    if (step < 0) return all;
    choices = [...taken.slice(0, step), (taken[step] ?? 0) + 1];
  }
}

/** Returns the schedules in which two changes of one direction are less than a window apart. */
function violations(plays: readonly (readonly Accepted[])[]): readonly (readonly Accepted[])[] {
  return plays.filter((accepted) =>
    accepted.some(({ at, from, to }, index) =>
      accepted
        .slice(index + 1)
        .some(
          (later) =>
            Math.sign(later.to - later.from) === Math.sign(to - from) &&
            secondsBetween(at, later.at) < WINDOW,
        ),
    ),
  );
}

const SPEC = { upscaleForbiddenWindowSeconds: WINDOW, downscaleForbiddenWindowSeconds: WINDOW };
const BOTH_UP: Plan = {
  spec: SPEC,
  loads: [1000, 1000],
  cycles: 1,
  pauses: { count: 0, seconds: 0 },
  isLoaded: true,
};

describe('two processes that both believe they lead', () => {
  it.each<[string, Partial<Plan>]>([
    ['with one cycle each, both having read the state', {}],
    ['with one cycle each, neither having read the state', { isLoaded: false }],
    ['with two cycles each', { cycles: 2 }],
    ['while their watches lag behind', { cycles: 2, isWatchBehind: true }],
    ['with a pause of 4.9 s anywhere', { pauses: { count: 1, seconds: 4.9 } }],
    ['with a pause of 5.1 s anywhere', { pauses: { count: 1, seconds: 5.1 }, isLoaded: false }],
    ['with two pauses of 6 s anywhere', { pauses: { count: 2, seconds: 6 } }],
    ['with a pause of 70 s anywhere', { pauses: { count: 1, seconds: 70 } }],
    ['with a change of the status anywhere', { touches: 1 }],
    ['if one scales up to 7 and the other to 9', { loads: [70, 90], cycles: 2 }],
    ['if both scale down', { loads: [10, 30], cycles: 2 }],
  ])(
    'never scale up or down twice within 300 s %s',
    async (_, over) => {
      const plays = await playAll({ ...BOTH_UP, ...over });

      expect(violations(plays)).toEqual([]);
      expect(plays.length).toBeGreaterThan(1);
      // Only a too long pause can end without any change.
      const isPaused = (over.pauses?.count ?? 0) > 0;
      expect(plays.filter(({ length }) => length === 0).length === 0 || isPaused).toBe(true);
      expect(plays.some(({ length }) => length >= 1)).toBe(true);
    },
    60_000,
  );

  it('do so without a store: the tests above can fail', async () => {
    const plays = await playAll({ ...BOTH_UP, cycles: 2, hasStore: false });

    expect(violations(plays).length).toBeGreaterThan(0);
  });
});
