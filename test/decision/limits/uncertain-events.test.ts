import { describe, expect, it } from '@jest/globals';
import { policyLimit } from '../../../src/decision/limits/policy.js';
import { parseSnapshot } from '../../../src/decision/snapshot/parse-snapshot.js';
import { EMPTY_STATE } from '../../../src/decision/snapshot/snapshot.js';
import type { ScaleEvent } from '../../../src/decision/snapshot/snapshot.js';
import { snapshotToJson } from '../../../src/decision/result/write-json.js';
import { at, buildScaler } from '../../control/fixture.js';

const rule = { policies: [{ type: 'Pods', value: 10, periodSeconds: 60 }] };
const { spec } = buildScaler({ maxReplicas: 100, behavior: { scaleUp: rule, scaleDown: rule } });

/** Returns the limit from 24 towards `replicas` at 0 s after events. */
function limitOf(replicas: number, ...scaleEvents: readonly ScaleEvent[]): ReturnType<typeof policyLimit> {
  return policyLimit(replicas, {
    now: at(0),
    spec,
    current: 24,
    recommended: replicas,
    bounds: { minReplicas: 1, maxReplicas: 100, floor: null, ceiling: null, clippedFloor: null },
    queriedMax: null,
    recommendations: [],
    state: { ...EMPTY_STATE, scaleEvents },
  });
}

describe('a policy of 10 pods per 60 s and a change whose time is not exactly known', () => {
  it.each<[number, ScaleEvent, number]>([
    [1, { at: at(-30), change: 4 }, 10],
    [1, { at: at(-30), change: 4, earliest: at(-59) }, 10],
    [1, { at: at(-30), change: 4, earliest: at(-60) }, 14],
    [1, { at: at(-30), change: -4, earliest: at(-600) }, 18],
    [90, { at: at(-30), change: 4, earliest: at(-600) }, 30],
    [90, { at: at(-30), change: -4, earliest: at(-59) }, 38],
    [90, { at: at(-30), change: -4, earliest: at(-60) }, 34],
    [90, { at: at(-60), change: 4, earliest: at(-600) }, 34],
  ])('towards %d after %j allows %d from 24', (replicas, event, limit) => {
    expect(limitOf(replicas, event)?.to).toBe(limit);
  });

  it.each<[string, readonly ScaleEvent[], number, number]>([
    ['this change, if there was none before', [], 34, 60],
    ['this change, after one in the other direction', [{ at: at(-30), change: -4 }], 38, 60],
    [
      'the first change of several',
      [
        { at: at(-50), change: 4 },
        { at: at(-20), change: 2 },
      ],
      28,
      10,
    ],
    ['a change that used up the policy', [{ at: at(-20), change: 10 }], 24, 40],
  ])('allows more 60 s after %s', (_when, events, to, seconds) => {
    expect(limitOf(90, ...events)).toMatchObject({ to, until: at(seconds) });
  });

  it('is part of the JSON of a snapshot', () => {
    const scaleEvents = [{ at: at(-30), change: 4, earliest: at(-600) }];
    const snapshot = {
      scaler: buildScaler(),
      now: at(0),
      target: { specReplicas: 24, statusReplicas: 24 },
      pods: [],
      samples: [],
      state: { ...EMPTY_STATE, scaleEvents },
    };

    const json: unknown = JSON.parse(JSON.stringify(snapshotToJson(snapshot)));

    expect(parseSnapshot(json).state.scaleEvents).toEqual(scaleEvents);
  });
});
