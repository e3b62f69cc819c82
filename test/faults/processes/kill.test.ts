import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { E2E_TIMEOUT_MS, waitFor } from '../../e2e/waiting.js';
import { acceptedPatches, findViolations } from './history.js';
import type { Passing } from './proxy.js';
import { startStand } from './stand.js';
import type { Stand } from './stand.js';

jest.setTimeout(E2E_TIMEOUT_MS);

const WINDOW_SECONDS = 8;
const FIRST = 2;

/** The requests of a change of replicas, as a proxy sees them. */
const STEPS = {
  'the live read': ({ method, path }: Passing) => method === 'GET' && path.endsWith('/scale'),
  'the intent': ({ method, path, body }: Passing) =>
    method === 'PATCH' && path.includes('/configmaps/') && body.includes('intent'),
  'the change': ({ method, path }: Passing) => method === 'PATCH' && path.endsWith('/scale'),
  'the resolution': ({ method, path, body }: Passing) =>
    method === 'PATCH' && path.includes('/configmaps/') && !body.includes('intent'),
} as const;

const MOMENTS = Object.entries(STEPS).flatMap(([step, isStep]) =>
  (['before', 'after'] as const).map((when) => ({ step, when, isStep })),
);

interface Outcome {
  readonly violations: readonly string[];
  readonly counts: readonly number[];
  readonly wasKilled: boolean;
}

describe('a service that is killed with SIGKILL during a change', () => {
  let stand: Stand;
  let outcomes: readonly Promise<Outcome>[] = [];

  beforeAll(async () => {
    stand = await startStand();
    // Each spends most of its time waiting: they run concurrently.
    outcomes = MOMENTS.map((moment, index) => killAt(stand, moment, `killed-${index}`));
    await Promise.allSettled(outcomes);
  });

  afterAll(() => stand.close());

  it.each(MOMENTS.map(({ step, when }, index) => ({ step, when, index })))(
    '$when $step: is continued by its successor, which scales up again 8 s after the last scale-up, not earlier',
    async ({ index }) => {
      const outcome = await outcomes[index];

      expect(outcome?.wasKilled).toBe(true);
      expect(outcome?.violations).toEqual([]);
      // Each scale-up doubles the count: that of the dead process counts once.
      expect(outcome?.counts).toEqual([4, 8]);
    },
  );
});

/** Kills a service at a moment of its first change, starts it again, and waits for two changes in all. */
async function killAt(
  stand: Stand,
  { when, isStep }: (typeof MOMENTS)[number],
  namespace: string,
): Promise<Outcome> {
  const spec = `  upscaleForbiddenWindowSeconds: ${WINDOW_SECONDS}\n`;
  const targets = [{ name: 'web', replicas: FIRST, spec }];
  const installation = await stand.install({ namespace, targets });
  stand.source.set('web', 100);
  const dead = await installation.startReplica();
  let wasKilled = false;
  dead.api.hook = (passing, present) => {
    if (wasKilled || present !== when || !isStep(passing)) return;
    wasKilled = true;
    dead.signal('SIGKILL');
    throw new Error('its process is dead');
  };
  await waitFor(() => dead.hasEnded(), { what: `the end of the service in ${namespace}` });
  const service = dead.restart();
  const workload = { namespace, name: 'web', first: FIRST };
  const changes = (): ReturnType<typeof acceptedPatches> => acceptedPatches(stand.simulator, workload);
  const haveTwo = (): boolean => {
    if (service.hasEnded()) throw new Error(`the successor in ${namespace} ended:\n${service.output()}`);
    return changes().length >= 2;
  };
  await waitFor(haveTwo, { what: `two changes in ${namespace}` });
  await service.end('SIGKILL');
  const windows = { upSeconds: WINDOW_SECONDS, downSeconds: 0 };
  return {
    violations: findViolations(stand.simulator, workload, {
      windows,
      logs: [`${dead.output()}\n${service.output()}`],
    }),
    counts: changes().map(({ to }) => to),
    wasKilled,
  };
}
