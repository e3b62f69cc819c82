import { describe, expect, it } from '@jest/globals';
import { secondsBetween } from '../../src/units/time.js';
import { at } from './fixture.js';
import type { Accepted } from './process-fixture.js';
import { run, ScalingProcess, SharedServer } from './process-fixture.js';

const WINDOW = 300;

interface Death {
  /** The process ends after this number of answered requests. */
  readonly answered: number;
  /** The fate of the request in flight. */
  readonly last: 'lost' | 'applied' | 'late';
  /** Seconds until the next process starts. */
  readonly downSeconds: number;
}

const LATE_SECONDS = 20;

interface Life {
  readonly accepted: readonly Accepted[];
  readonly requests: readonly string[];
}

/** Kills a process in its first cycle; another one, of the next term, runs for 700 s in rounds of 15 s. */
async function live(
  death: Death,
  over: {
    readonly spec: Readonly<Record<string, unknown>>;
    readonly load: number;
    readonly hasStore?: boolean;
  },
): Promise<Life> {
  const server = new SharedServer();
  const { clock } = server;
  const first = new ScalingProcess(server, { epoch: '1/a', ...over });
  first.load = over.load;
  const requests: string[] = [];
  void first.cycle();
  await run();
  for (let count = 0; count < death.answered && server.pending.length > 0; count += 1) {
    const request = server.take(0);
    requests.push(request.name);
    request.answer();
    await run();
  }
  const [dying] = server.pending.splice(0);
  if (dying !== undefined) requests.push(dying.name);
  if (death.last === 'applied') dying?.apply();
  if (death.last === 'late') clock.after(LATE_SECONDS * 1000, () => dying?.apply());
  clock.advance(death.downSeconds * 1000);
  const second = new ScalingProcess(server, { epoch: '2/b', ...over });
  second.load = over.load;
  server.isFree.add(second);
  for (let seconds = 0; seconds < 700; seconds += 15) {
    await second.cycle();
    await clock.advanceAndSettle(15_000);
  }
  return { accepted: server.accepted, requests };
}

/** Returns the seconds between successive changes. */
function gaps(accepted: readonly Accepted[]): readonly number[] {
  return accepted.slice(1).map(({ at }, index) => secondsBetween(accepted[index]?.at ?? at, at));
}

const STEPS = ['GET state', 'GET scale', 'PATCH state', 'PATCH scale', 'PATCH state'];
const UP = { spec: { upscaleForbiddenWindowSeconds: WINDOW }, load: 1000 };
const DOWN = { spec: { downscaleForbiddenWindowSeconds: WINDOW, minReplicas: 1 }, load: 10 };

/** Every step, with every fate of the request in flight, and a short and a long time until the next start. */
const DEATHS: readonly Death[] = STEPS.flatMap((_, answered) =>
  (['lost', 'applied', 'late'] as const).flatMap((last) =>
    [0, 4, 40, 290].map((downSeconds) => ({ answered, last, downSeconds })),
  ),
);

describe('a process that dies during a change', () => {
  it('has these steps: state, scale, intent, PATCH, resolved', async () => {
    const { requests } = await live({ answered: 9, last: 'lost', downSeconds: 0 }, UP);

    // The resolution waits for up to 5 s: it is not in flight yet.
    expect(requests).toEqual(STEPS.slice(0, 4));
  });

  it.each(DEATHS)(
    'after $answered answers, the next request $last, restarted $downSeconds s later: never scales up twice in 300 s',
    async (death) => {
      const { accepted } = await live(death, UP);

      for (const gap of gaps(accepted)) expect(gap).toBeGreaterThanOrEqual(WINDOW);
      expect(accepted.length).toBeGreaterThanOrEqual(2);
      // The intent of a dead process is waited for up to 5 s, to the next round.
      const begun = accepted[0]?.at ?? Infinity;
      expect(begun).toBeLessThanOrEqual(at(death.downSeconds + 30));
    },
  );

  it.each(DEATHS)(
    'after $answered answers, the next request $last, restarted $downSeconds s later: never scales down twice in 300 s',
    async (death) => {
      const { accepted } = await live(death, { ...DOWN, load: 30 });

      for (const gap of gaps(accepted)) expect(gap).toBeGreaterThanOrEqual(WINDOW);
      expect(accepted.length).toBeGreaterThanOrEqual(1);
    },
  );

  it.each(DEATHS)(
    'after $answered answers, the next request $last, restarted $downSeconds s later: adds at most 2 in 300 s',
    async (death) => {
      const policies = [{ type: 'Pods', value: 2, periodSeconds: WINDOW }];
      const { accepted } = await live(death, {
        spec: { behavior: { scaleUp: { policies, stabilizationWindowSeconds: 0 } } },
        load: 1000,
      });

      for (const { at } of accepted) {
        const within = accepted.filter((one) => one.at <= at && secondsBetween(one.at, at) < WINDOW);
        expect(within.reduce((sum, { from, to }) => sum + to - from, 0)).toBeLessThanOrEqual(2);
      }
      expect(accepted.length).toBeGreaterThanOrEqual(2);
    },
  );
});

describe('without a store', () => {
  it('violates a policy after the same deaths: the tests above can fail', async () => {
    const policies = [{ type: 'Pods', value: 2, periodSeconds: WINDOW }];
    const spec = { behavior: { scaleUp: { policies, stabilizationWindowSeconds: 0 } } };

    const { accepted } = await live(
      { answered: 9, last: 'lost', downSeconds: 0 },
      { spec, load: 1000, hasStore: false },
    );

    expect(Math.min(...gaps(accepted))).toBeLessThan(WINDOW);
  });
});
