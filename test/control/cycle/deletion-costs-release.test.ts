import { describe, expect, it } from '@jest/globals';
import { createDeletionCosts } from '../../../src/control/cycle/deletion-costs.js';
import { alwaysLeads } from '../../../src/control/election/leadership.js';
import { createBusyBuckets, createOwnBuckets } from '../../../src/control/sharding/own-buckets.js';
import type { PodCosts } from '../../../src/kubernetes/pods/pod-costs.js';
import type { Pod } from '../../../src/decision/snapshot/snapshot.js';
import { KubernetesError } from '../../../src/kubernetes/api/types.js';
import type { Scaler } from '../../../src/scaler/spec.js';
import { SILENT_LOG } from '../../../src/units/log.js';
import { ManualClock, settle } from '../../support/manual-clock.js';
import { buildScaler } from '../fixture.js';
import { FOLLOW_UPS } from '../run-cycle.js';

const BUCKET = 4;
const POD: Pod = { name: 'web-1', phase: 'Running', ready: true, deleting: false } as unknown as Pod;
const RANKED = { podDeletionCost: { query: 'sum by (pod) (load)' } };
const SCALER = buildScaler(RANKED);
const TARGET = {
  namespace: 'shop',
  ref: SCALER.spec.scaleTargetRef,
  selector: [],
} as unknown as Parameters<ReturnType<typeof createDeletionCosts>['update']>[1]['target'];

/** Deletion costs of one pod with a leftover cost; `set` is the PATCH of that pod. */
function costsWith(set: PodCosts['set'], hasOwn: PodCosts['hasOwn'] = () => true) {
  const clock = new ManualClock();
  const busy = createBusyBuckets();
  const warnings: string[] = [];
  const costs = createDeletionCosts({
    clock,
    podCosts: {
      list: () => [{ pod: POD, resourceVersion: '7', cost: -1, isOwn: true }],
      hasOwn,
      set,
    },
    track: (_, work) => busy.track(BUCKET, work),
    log: { ...SILENT_LOG, warn: (message) => void warnings.push(message) },
    dryRun: false,
  });
  const update = (signal: AbortSignal, scaler = SCALER): void => {
    const leadership = alwaysLeads('test');
    const input = { scaler, followUps: FOLLOW_UPS, leadership, isCurrent: () => true, signal };
    expect(costs.update(input, { target: TARGET, from: 1, to: 1, isHeld: false })).toBeNull();
  };
  return { clock, busy, costs, update, warnings };
}

describe('a PATCH that removes a deletion cost in the background', () => {
  it('keeps its bucket: the claim is withdrawn only after the answer', async () => {
    let answer = (): void => undefined;
    const { busy, costs, update } = costsWith(() => new Promise((resolve) => (answer = resolve)));
    const buckets = createOwnBuckets({
      load: () => Promise.resolve(),
      drain: busy.untilIdle,
      onServed: () => undefined,
      onDrained: () => undefined,
    });
    buckets.claim(BUCKET);
    buckets.published([BUCKET], 1);
    buckets.confirm(() => false);
    await settle(5);
    update(new AbortController().signal);

    buckets.giveUp(BUCKET);
    await settle(20);
    expect(buckets.claims()).toEqual([BUCKET]);
    expect(costs.isIdle()).toBe(false);
    answer();
    await settle(20);

    expect(buckets.claims()).toEqual([]);
    expect(costs.isIdle()).toBe(true);
  });

  it('that fails is logged once, and its scaler is forgotten two hours after it was removed', async () => {
    const { clock, update, warnings } = costsWith(() =>
      Promise.reject(new KubernetesError('forbidden', 'no')),
    );
    const other = buildScaler(RANKED, 'other');
    const fail = async (scaler: Scaler): Promise<void> => {
      update(new AbortController().signal, scaler);
      await settle(20);
    };

    await fail(SCALER);
    await fail(SCALER);
    expect(warnings).toHaveLength(1);
    for (let hour = 0; hour < 2; hour += 1) {
      clock.advance(3_600_000);
      await fail(other);
    }
    expect(warnings).toHaveLength(2);
    await fail(SCALER);

    expect(warnings).toHaveLength(3);
  });
});

describe('a failure of the look for leftover deletion costs', () => {
  it.each([
    ['is logged if it is internal', new TypeError('pods is undefined'), 1],
    ['is left to the cycle if pods cannot be listed', new KubernetesError('forbidden', 'no'), 0],
  ])('%s', (_, error, logged) => {
    const { update, warnings } = costsWith(
      () => Promise.resolve(),
      () => {
        throw error;
      },
    );

    update(new AbortController().signal);
    update(new AbortController().signal);

    expect(warnings).toHaveLength(logged);
  });
});
