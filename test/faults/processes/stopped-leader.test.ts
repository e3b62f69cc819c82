import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { E2E_TIMEOUT_MS, pause, waitFor } from '../../e2e/waiting.js';
import { acceptedPatches, findViolations } from './history.js';
import type { Passing } from './proxy.js';
import { SHORT_LEASE, startStand } from './stand.js';
import type { Stand } from './stand.js';

jest.setTimeout(E2E_TIMEOUT_MS);

const WINDOW_SECONDS = 6;
const WEB = { namespace: 'stopped', name: 'web', first: 2 };

const isIntent = ({ method, path, body }: Passing): boolean =>
  method === 'PATCH' && path.includes('/configmaps/') && body.includes('intent');
const isChange = ({ method, path }: Passing): boolean => method === 'PATCH' && path.endsWith('/scale');

describe('a leader that is stopped (SIGSTOP) between the intent and its PATCH, for longer than its Lease', () => {
  let stand: Stand;

  beforeAll(async () => {
    stand = await startStand();
  });

  afterAll(() => stand.close());

  it('does not send the PATCH when it continues, while the other replica leads and keeps the window', async () => {
    const spec = `  upscaleForbiddenWindowSeconds: ${WINDOW_SECONDS}\n`;
    const { startReplica } = await stand.install({
      namespace: WEB.namespace,
      targets: [{ name: WEB.name, replicas: WEB.first, spec }],
    });
    const [first, second] = await Promise.all([
      startReplica({ config: SHORT_LEASE }),
      startReplica({ config: SHORT_LEASE }),
    ]);
    const isStandby = ({ output }: typeof first): boolean => output().includes('standing by');
    await waitFor(() => isStandby(first) || isStandby(second), { what: 'one of them to be the standby' });
    const [old, next] = isStandby(first) ? [second, first] : [first, second];
    let isStopped = false;
    old.api.hook = (passing, when) => {
      if (isStopped || when !== 'after' || !isIntent(passing)) return;
      isStopped = true;
      // The answer is in flight: the process reads it first when it continues.
      old.signal('SIGSTOP');
    };
    stand.source.set(WEB.name, 100);
    await waitFor(() => isStopped, { what: 'the leader to announce a change' });
    const changes = (): ReturnType<typeof acceptedPatches> => acceptedPatches(stand.simulator, WEB);
    expect(changes()).toEqual([]);

    await waitFor(() => changes().length >= 1, { what: 'a change by the other replica' });
    const sentBefore = old.api.passed.length;
    old.signal('SIGCONT');
    await waitFor(() => old.output().includes('leadership lost'), { what: 'the old one to be a standby' });
    await waitFor(() => changes().length >= 3, { what: 'two more changes' });
    await pause(1);

    const sent = old.api.passed.slice(sentBefore);
    expect(sent.filter(isChange)).toEqual([]);
    expect(sent.filter(({ method, path }) => method === 'PATCH' && path.includes('/configmaps/'))).toEqual(
      [],
    );
    expect(next.api.passed.filter(isChange).length).toBeGreaterThanOrEqual(3);
    const windows = { upSeconds: WINDOW_SECONDS, downSeconds: 0 };
    expect(findViolations(stand.simulator, WEB, { windows, logs: [old.output(), next.output()] })).toEqual(
      [],
    );
    expect(
      changes()
        .slice(0, 3)
        .map(({ to }) => to),
    ).toEqual([4, 8, 16]);
    expect(old.hasEnded()).toBe(false);
  });
});
