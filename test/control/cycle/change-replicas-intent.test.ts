import { describe, expect, it } from '@jest/globals';
import { changeReplicas } from '../../../src/control/cycle/change.js';
import type { ScaleResult } from '../../../src/control/cycle/types.js';
import type { PutResult } from '../../../src/kubernetes/state/choose-writes.js';
import type { Intent } from '../../../src/kubernetes/state/state-entry.js';
import { ManualClock } from '../../support/manual-clock.js';
import { FakeCluster } from '../fake-cluster.js';
import { at, buildScaler } from '../fixture.js';

/** A change from 5, with a scripted store for its intent. */
class Fixture {
  readonly clock = new ManualClock();
  readonly cluster = new FakeCluster();
  readonly intents: Intent[] = [];
  whyNoWrites: string | null = null;
  /** An earlier change with an unknown outcome. */
  pending: Intent | null = null;
  /** The result of storing the intent. */
  announce: () => PutResult = () => ({ kind: 'written', stored: 'text' });

  async change(to: number): Promise<ScaleResult> {
    const { spec, namespace } = buildScaler();
    const { signal } = new AbortController();
    const target = await new FakeCluster().readTarget(namespace, spec.scaleTargetRef, signal);
    const leadership = {
      epoch: () => '3/a',
      mayWrite: () => this.whyNoWrites === null,
      whyNoWrites: () => this.whyNoWrites,
    };
    const announce = (intent: Intent): Promise<PutResult> => {
      this.intents.push(intent);
      return Promise.resolve(this.announce());
    };
    const { clock, cluster } = this;
    const asked = { target, from: 5, to, bounds: null, pending: this.pending, isWanted: () => true };
    return changeReplicas({ clock, cluster, leadership, announce }, asked);
  }
}

/** An earlier change with an unknown outcome; the target still has its resourceVersion. */
const PENDING: Intent = {
  epoch: '2/b',
  from: 5,
  to: 8,
  earlier: [],
  resourceVersion: '100',
  generation: 1,
  at: at(-15),
};
const UNKNOWN_YET = 'the result of an earlier change is not known yet';

const FAILED: PutResult = { kind: 'failed', message: 'the store is away' };

describe('the intent of a change', () => {
  it('has term, counts, resourceVersion, generation and time, and is stored before the PATCH', async () => {
    const fixture = new Fixture();
    fixture.announce = () => {
      expect(fixture.cluster.arrived).toEqual([]);
      return { kind: 'written', stored: 'text' };
    };

    await fixture.change(8);

    expect(fixture.intents).toEqual([
      { epoch: '3/a', from: 5, to: 8, earlier: [], resourceVersion: '100', generation: 1, at: at(0) },
    ]);
    expect(fixture.cluster.arrived).toHaveLength(1);
  });

  it('lists each other count that can still be reached, once', async () => {
    const fixture = new Fixture();
    fixture.pending = { ...PENDING, to: 9, earlier: [8, 7, 9] };

    await fixture.change(8);

    expect(fixture.intents).toMatchObject([{ to: 8, earlier: [9, 7] }]);
  });

  it.each([8, 2])(
    'of a change to %d never replaces one that its precondition does not exclude',
    async (to) => {
      const fixture = new Fixture();
      fixture.pending = { ...PENDING, resourceVersion: '99' };

      expect(await fixture.change(to)).toEqual({ kind: 'given-up', message: UNKNOWN_YET });
      expect(fixture.intents).toEqual([]);
      expect(fixture.cluster.arrived).toEqual([]);
    },
  );

  it('is not stored again after a conflict, in which the earlier change may have been applied', async () => {
    const fixture = new Fixture();
    fixture.pending = PENDING;
    fixture.cluster.patchScripts.push((apply) => {
      fixture.cluster.setReplicas(8);
      fixture.cluster.setReplicas(5);
      return apply();
    });

    expect(await fixture.change(8)).toEqual({ kind: 'given-up', message: UNKNOWN_YET });
    expect(fixture.intents).toHaveLength(1);
    expect(fixture.cluster.arrived).toHaveLength(1);
  });

  it('is stored again with the new resourceVersion if only that has changed', async () => {
    const fixture = new Fixture();
    fixture.cluster.patchScripts.push((apply) => {
      fixture.cluster.touch();
      return apply();
    });

    expect(await fixture.change(8)).toMatchObject({ kind: 'patched' });
    expect(fixture.intents.map(({ resourceVersion }) => resourceVersion)).toEqual(['100', '101']);
  });

  it.each([
    [4999, 'patched', 1],
    [5000, 'patched', 1],
    [5001, 'given-up', 0],
  ])('that took %d ms ends in %s', async (ms, kind, patches) => {
    const fixture = new Fixture();
    fixture.announce = () => {
      fixture.clock.advance(ms);
      return { kind: 'written', stored: 'text' };
    };

    expect(await fixture.change(8)).toMatchObject({ kind });
    expect(fixture.cluster.arrived).toHaveLength(patches);
  });

  it('is too old by the wall clock alone, as after a pause of the whole machine', async () => {
    const fixture = new Fixture();
    fixture.announce = () => {
      fixture.clock.jump(5.001);
      return { kind: 'written', stored: 'text' };
    };

    expect(await fixture.change(8)).toMatchObject({ kind: 'given-up' });
    expect(fixture.cluster.arrived).toEqual([]);
  });

  it('is not followed by a PATCH if this process has lost the leadership meanwhile', async () => {
    const fixture = new Fixture();
    fixture.announce = () => {
      fixture.whyNoWrites = 'the Lease was not renewed within 10 s';
      return { kind: 'written', stored: 'text' };
    };

    const message = 'the Lease was not renewed within 10 s';
    expect(await fixture.change(8)).toEqual({ kind: 'given-up', message });
    expect(fixture.cluster.arrived).toEqual([]);
  });

  it.each([2, 8])('that is rejected ends a change to %d', async (to) => {
    const fixture = new Fixture();
    fixture.announce = () => ({ kind: 'refused', message: 'another replica has written' });

    expect(await fixture.change(to)).toEqual({ kind: 'given-up', message: 'another replica has written' });
    expect(fixture.cluster.arrived).toEqual([]);
  });
});

describe('a change whose intent cannot be stored', () => {
  it('continues if it scales up, and reports why there is no intent', async () => {
    const fixture = new Fixture();
    fixture.announce = () => FAILED;

    expect(await fixture.change(8)).toMatchObject({
      kind: 'patched',
      replicas: 8,
      unannounced: 'the store is away',
    });
  });

  it('does not continue if it scales down', async () => {
    const fixture = new Fixture();
    fixture.announce = () => FAILED;

    expect(await fixture.change(2)).toEqual({ kind: 'unannounced', message: 'the store is away' });
    expect(fixture.cluster.arrived).toEqual([]);
  });

  it('reads the count again if the failure took 6 s, and does not scale up from a count that was raised meanwhile', async () => {
    const fixture = new Fixture();
    fixture.announce = () => {
      fixture.clock.advance(6000);
      fixture.cluster.setReplicas(9);
      return FAILED;
    };

    expect(await fixture.change(8)).toMatchObject({ kind: 'moved', specReplicas: 9 });
    expect(fixture.cluster.arrived).toEqual([]);
  });

  it('is not tried without a leader', async () => {
    const fixture = new Fixture();
    fixture.announce = () => {
      fixture.whyNoWrites = 'the Lease was not renewed within 10 s';
      return FAILED;
    };

    expect(await fixture.change(8)).toMatchObject({ kind: 'given-up' });
  });
});

describe('a changed count', () => {
  it('is detected without a conflict if it changed before the live read', async () => {
    const fixture = new Fixture();
    fixture.cluster.setReplicas(7);

    expect(await fixture.change(8)).toMatchObject({ kind: 'moved', afterConflict: false });
    expect(fixture.intents).toEqual([]);
  });

  it('is detected by a conflict if it changed between the intent and the PATCH', async () => {
    const fixture = new Fixture();
    fixture.announce = () => {
      fixture.cluster.setReplicas(7);
      return { kind: 'written', stored: 'text' };
    };

    expect(await fixture.change(8)).toMatchObject({ kind: 'moved', specReplicas: 7, afterConflict: true });
  });
});
