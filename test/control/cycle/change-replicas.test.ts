import { describe, expect, it } from '@jest/globals';
import { changeReplicas } from '../../../src/control/cycle/change.js';
import type { ScaleResult } from '../../../src/control/cycle/types.js';
import { alwaysLeads } from '../../../src/control/election/leadership.js';
import type { PutResult } from '../../../src/kubernetes/state/choose-writes.js';
import { KubernetesError } from '../../../src/kubernetes/api/types.js';
import type { KubernetesErrorKind } from '../../../src/kubernetes/api/types.js';
import { ManualClock } from '../../support/manual-clock.js';
import { failure, FakeCluster } from '../fake-cluster.js';
import { at, buildScaler } from '../fixture.js';

/** Changes 5 to 8, decided when the target was in the initial state of the fake cluster. */
async function change(
  cluster: FakeCluster,
  to = 8,
  isWanted = (): boolean => true,
  clock = new ManualClock(),
  bounds: { readonly minReplicas: number; readonly maxReplicas: number } | null = null,
): Promise<ScaleResult> {
  const { spec, namespace } = buildScaler();
  const { signal } = new AbortController();
  const target = await new FakeCluster().readTarget(namespace, spec.scaleTargetRef, signal);
  const announce = (): Promise<PutResult> => Promise.resolve({ kind: 'written', stored: null });
  const ports = { clock, cluster, leadership: alwaysLeads('test'), announce };
  return changeReplicas(ports, { target, from: 5, to, bounds, pending: null, isWanted });
}

describe('changeReplicas from 5 to 8', () => {
  it('reads the scale live and sends one PATCH with the uid and the resourceVersion that it read', async () => {
    const cluster = new FakeCluster();
    cluster.version = 321;

    const result = await change(cluster);

    expect(result).toMatchObject({ kind: 'patched', replicas: 8, unannounced: null });
    expect(cluster.scaleReads).toBe(1);
    expect(cluster.arrived).toEqual([{ uid: 'uid-1', resourceVersion: '321', replicas: 8 }]);
    expect(cluster.specReplicas).toBe(8);
  });

  it('patches nothing if it is no longer allowed once the scale is read', async () => {
    const cluster = new FakeCluster();

    expect(await change(cluster, 8, () => cluster.scaleReads === 0)).toMatchObject({ kind: 'given-up' });
    expect([cluster.scaleReads, cluster.arrived]).toEqual([1, []]);
  });

  it('checks permission again before the second attempt: after a conflict nothing is sent without it', async () => {
    const cluster = new FakeCluster();
    cluster.patchScripts.push(() => {
      throw failure('conflict');
    });

    expect(await change(cluster, 8, () => cluster.scaleReads < 2)).toMatchObject({ kind: 'given-up' });
    expect(cluster.arrived).toHaveLength(1);
  });

  it('patches nothing if the live count is 6, and reports both counts', async () => {
    const cluster = new FakeCluster();
    cluster.setReplicas(6);

    const result = await change(cluster);

    expect(result).toMatchObject({ kind: 'moved', specReplicas: 6, statusReplicas: 5 });
    expect(cluster.arrived).toEqual([]);
  });

  it('patches nothing if the live count is 8 already', async () => {
    const cluster = new FakeCluster();
    cluster.setReplicas(8);

    expect(await change(cluster)).toMatchObject({ kind: 'moved', specReplicas: 8 });
    expect(cluster.arrived).toEqual([]);
  });

  it('patches nothing if the uid is a different one, even with the same count of 5', async () => {
    const cluster = new FakeCluster();
    cluster.recreate('uid-2');

    expect(await change(cluster)).toMatchObject({ kind: 'recreated' });
    expect(cluster.arrived).toEqual([]);
  });

  it('reports from the answer the count that an admission webhook has set: 6', async () => {
    const cluster = new FakeCluster();
    cluster.patchScripts.push((apply) => ({ ...apply(), specReplicas: 6 }));

    expect(await change(cluster)).toMatchObject({ kind: 'patched', replicas: 6, unannounced: null });
  });

  it.each([0, 2_147_483_647])('sends %d', async (to) => {
    const cluster = new FakeCluster();

    expect(await change(cluster, to)).toMatchObject({ kind: 'patched', replicas: to, unannounced: null });
  });

  it.each([-1, 7.5, Number.NaN, Number.POSITIVE_INFINITY, 2_147_483_648])(
    'throws on %d and sends no request',
    async (to) => {
      const cluster = new FakeCluster();

      await expect(change(cluster, to)).rejects.toThrow('a replica count must be an integer');
      expect(cluster.scaleReads).toBe(0);
      expect(cluster.arrived).toEqual([]);
    },
  );
});

describe('changeReplicas with bounds of 2 to 8', () => {
  const bounds = { minReplicas: 2, maxReplicas: 8 };

  it.each([2, 8])('sends %d', async (to) => {
    const cluster = new FakeCluster();

    expect(await change(cluster, to, undefined, undefined, bounds)).toMatchObject({ kind: 'patched' });
    expect(cluster.arrived).toHaveLength(1);
  });

  it.each([1, 9])('throws on %d and sends no request', async (to) => {
    const cluster = new FakeCluster();
    const sent = change(cluster, to, undefined, undefined, bounds);

    await expect(sent).rejects.toThrow(`a replica count must be an integer from 2 to 8, not ${to}`);
    expect(cluster.arrived).toEqual([]);
  });
});

describe('changeReplicas from 5 to 8 with conflicts', () => {
  /** Changes only the resourceVersion, between the read and the PATCH, for the first `times` PATCHes. */
  function busy(times: number): FakeCluster {
    const cluster = new FakeCluster();
    for (let count = 0; count < times; count += 1) {
      cluster.patchScripts.push((apply) => {
        cluster.touch();
        return apply();
      });
    }
    return cluster;
  }

  it('succeeds at the third retry, each with a fresh resourceVersion', async () => {
    const cluster = busy(3);

    expect(await change(cluster)).toMatchObject({ kind: 'patched', replicas: 8, unannounced: null });
    expect(cluster.scaleReads).toBe(4);
    expect(cluster.arrived.map(({ resourceVersion }) => resourceVersion)).toEqual([
      '100',
      '101',
      '102',
      '103',
    ]);
  });

  it('stops after 3 retries, 4 PATCHes in all, and knows that none was applied', async () => {
    const cluster = busy(4);

    expect(await change(cluster)).toMatchObject({ kind: 'failed', unresolved: null });
    expect(cluster.arrived).toHaveLength(4);
    expect(cluster.specReplicas).toBe(5);
  });

  it('does not retry if another client set 7 between the read and the PATCH', async () => {
    const cluster = new FakeCluster();
    cluster.patchScripts.push((apply) => {
      cluster.setReplicas(7);
      return apply();
    });

    expect(await change(cluster)).toMatchObject({ kind: 'moved', specReplicas: 7 });
    expect(cluster.arrived).toHaveLength(1);
    expect(cluster.specReplicas).toBe(7);
  });

  it('does not retry if the target was recreated between the read and the PATCH', async () => {
    const cluster = new FakeCluster();
    cluster.patchScripts.push((apply) => {
      cluster.recreate('uid-2');
      return apply();
    });

    expect(await change(cluster)).toMatchObject({ kind: 'recreated' });
    expect(cluster.arrived).toHaveLength(1);
    expect(cluster.specReplicas).toBe(5);
  });

  it('knows that nothing was applied if the read after the conflict times out', async () => {
    const cluster = busy(1);
    cluster.beforeReads.push(
      () => undefined,
      () => (cluster.readFailure = failure('timeout')),
    );

    expect(await change(cluster)).toMatchObject({ kind: 'failed', unresolved: null });
  });
});

describe('changeReplicas from 5 to 8 with failures', () => {
  const lost: KubernetesErrorKind[] = ['timeout', 'connection', 'server_error', 'bad_answer', 'canceled'];
  const refused: KubernetesErrorKind[] = ['unauthorized', 'forbidden', 'not_found', 'gone', 'invalid'];

  it.each(lost)('does not know whether a PATCH that ended in %s was applied', async (kind) => {
    const cluster = new FakeCluster();
    cluster.patchScripts.push(() => Promise.reject(failure(kind)));

    expect(await change(cluster)).toEqual({
      kind: 'failed',
      message: `the server said ${kind}`,
      unresolved: {
        epoch: '0/test',
        from: 5,
        to: 8,
        earlier: [],
        resourceVersion: '100',
        generation: 1,
        at: at(0),
      },
    });
    expect(cluster.arrived).toHaveLength(1);
  });

  it.each(refused)(
    'knows that a PATCH that ended in %s was not applied, and sends no second one',
    async (kind) => {
      const cluster = new FakeCluster();
      cluster.patchScripts.push(() => Promise.reject(failure(kind)));

      expect(await change(cluster)).toMatchObject({ kind: 'failed', unresolved: null });
      expect(cluster.arrived).toHaveLength(1);
    },
  );

  describe('and rate limits (429)', () => {
    const busyFor = (times: number, retryAfterSeconds: number | null): FakeCluster => {
      const cluster = new FakeCluster();
      const error = new KubernetesError('rate_limited', 'too many requests', { retryAfterSeconds });
      for (let count = 0; count < times; count += 1) cluster.patchScripts.push(() => Promise.reject(error));
      return cluster;
    };

    it.each([
      [1, 1000],
      [null, 1000],
      [3, 3000],
      [5, 5000],
    ])(
      'with a Retry-After of %p s sends the next PATCH after %i ms, on a fresh read',
      async (seconds, ms) => {
        const cluster = busyFor(1, seconds);
        const clock = new ManualClock();
        clock.chance = 0.999;
        const result = change(cluster, 8, undefined, clock);

        await clock.advanceAndSettle(ms - 1);
        const early = cluster.arrived.length;
        await clock.advanceAndSettle(1);

        expect(await result).toMatchObject({ kind: 'patched', replicas: 8, unannounced: null });
        expect([early, cluster.arrived.length, cluster.scaleReads]).toEqual([1, 2, 2]);
      },
    );

    it('stops at once if the retry is more than 5 s away, and knows that nothing was applied', async () => {
      const cluster = busyFor(1, 6);

      expect(await change(cluster)).toEqual({
        kind: 'failed',
        message: 'too many requests',
        unresolved: null,
      });
      expect(cluster.arrived).toHaveLength(1);
    });

    it('sends 6 PATCHes within 5 s, and no more', async () => {
      const cluster = busyFor(100, 1);
      const clock = new ManualClock();
      const result = change(cluster, 8, undefined, clock);

      await clock.advanceAndSettle(60_000);

      expect(await result).toMatchObject({ kind: 'failed', unresolved: null });
      expect(cluster.arrived).toHaveLength(6);
    });

    it('sends no second PATCH if the scaler was removed or changed, or another client has set 7', async () => {
      const unwanted = busyFor(1, 1);
      const moved = busyFor(1, 1);
      const clock = new ManualClock();
      let isWanted = true;
      const results = [change(unwanted, 8, () => isWanted, clock), change(moved, 8, undefined, clock)];
      await clock.advanceAndSettle(500);
      isWanted = false;
      moved.setReplicas(7);

      await clock.advanceAndSettle(500);

      expect(await Promise.all(results)).toMatchObject([
        { kind: 'given-up' },
        { kind: 'moved', specReplicas: 7, afterConflict: false },
      ]);
      expect([unwanted.arrived.length, moved.arrived.length]).toEqual([1, 1]);
    });
  });

  it('sends nothing if the live read times out, and the outcome is not unknown', async () => {
    const cluster = new FakeCluster();
    cluster.readFailure = failure('timeout');

    expect(await change(cluster)).toMatchObject({ kind: 'failed', unresolved: null });
    expect(cluster.arrived).toEqual([]);
  });

  it('rethrows an error that is not a failure of the API server', async () => {
    const cluster = new FakeCluster();
    cluster.patchScripts.push(() => Promise.reject(new TypeError('our own fault')));

    await expect(change(cluster)).rejects.toThrow('our own fault');
  });
});
