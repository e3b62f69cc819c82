import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { E2E_TIMEOUT_MS, pause, waitFor } from '../../e2e/waiting.js';
import { acceptedPatches, findViolations } from './history.js';
import type { AcceptedPatch } from './history.js';
import type { Effect, Passing } from './proxy.js';
import { startStand } from './stand.js';
import type { ProxiedReplica, Stand } from './stand.js';

jest.setTimeout(E2E_TIMEOUT_MS);

const WINDOW_SECONDS = 6;

/** Every way in which the answer to an applied PATCH can be lost. */
const WAYS: readonly { readonly name: string; readonly effect: Effect }[] = [
  { name: 'the connection is reset', effect: { kind: 'lose-answer' } },
  { name: 'the answer is cut after 10 bytes', effect: { kind: 'cut', afterBytes: 10 } },
  { name: 'the connection is reset after 10 bytes', effect: { kind: 'reset', afterBytes: 10 } },
];

const isChange = ({ method, path }: Passing): boolean => method === 'PATCH' && path.endsWith('/scale');

describe('an applied PATCH whose answer is lost', () => {
  let stand: Stand;
  let service: ProxiedReplica;
  const nameOf = (index: number): string => `w${index}`;
  const changesOf = (index: number): readonly AcceptedPatch[] =>
    acceptedPatches(stand.simulator, { namespace: 'lost', name: nameOf(index), first: 2 });

  beforeAll(async () => {
    stand = await startStand();
    const spec = `  upscaleForbiddenWindowSeconds: ${WINDOW_SECONDS}\n`;
    const targets = WAYS.map((_, index) => ({ name: nameOf(index), replicas: 2, spec }));
    const installation = await stand.install({ namespace: 'lost', targets });
    service = await installation.startReplica();
    for (const [index, { effect }] of WAYS.entries()) {
      stand.source.set(nameOf(index), 8);
      service.api.add((one) => isChange(one) && one.path.includes(`/${nameOf(index)}/`), effect, 1);
    }
    await Promise.all(
      WAYS.map((_, index) =>
        waitFor(() => changesOf(index).length >= 2, { what: `two changes of ${nameOf(index)}` }),
      ),
    );
    await pause(2);
  });

  afterAll(() => stand.close());

  it.each(WAYS.map(({ name }, index) => ({ name, index })))(
    '($name) is counted once: the next one follows 6 s later, from the count that it set',
    ({ index }) => {
      const workload = { namespace: 'lost', name: nameOf(index), first: 2 };

      expect(changesOf(index).map(({ to }) => to)).toEqual([4, 8]);
      const windows = { upSeconds: WINDOW_SECONDS, downSeconds: 0 };
      expect(findViolations(stand.simulator, workload, { windows, logs: [service.output()] })).toEqual([]);
    },
  );
});
