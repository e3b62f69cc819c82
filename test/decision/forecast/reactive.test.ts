import { describe, expect, it } from '@jest/globals';
import { decide } from '../../../src/decision/decide.js';
import { carryingPods } from '../../../src/decision/forecast/reactive.js';
import { parseSnapshot } from '../../../src/decision/snapshot/parse-snapshot.js';
import { aDocument, at } from '../../support/builders.js';
import { formatInstant } from '../../../src/units/time.js';

describe('the pods that would carry load without a forecast', () => {
  const grown = {
    replicas: 9,
    lastScaleUp: null,
    lastScaleDown: null,
    scaleEvents: [
      { at: at(0), change: 3 },
      { at: at(100), change: -2 },
      { at: at(200), change: 4 },
    ],
  };

  it.each([
    ['as many as there are, without a lead', 200, 0, 9],
    ['not the four that came 199 s ago', 399, 200, 5],
    ['the four that came 200 s ago', 400, 200, 9],
    ['not the two that went within the lead', 299, 250, 5],
    ['not the three that came within the lead either', 299, 300, 4],
  ])('are %s', (_, now, leadSeconds, count) => {
    expect(carryingPods(grown, at(now), leadSeconds)).toBe(count);
  });
});

/** Twenty pods of 1 core each use `usage` cores; without a forecast there would be ten. */
function reactiveAt(
  usage: number,
  {
    target = { averageUtilization: 80 },
    cpuLimit,
  }: { readonly target?: object; readonly cpuLimit?: string } = {},
): number | undefined {
  const names = Array.from({ length: 20 }, (_, index) => `web-${index}`);
  const time = (seconds: number): string => formatInstant(at(seconds));
  const seasons = [1, 2, 3].map((day) => ({ at: time(120 - day * 86_400), load: 20, level: 10 }));
  const snapshot = {
    scaler: aDocument({
      scaleTargetRef: { name: 'web' },
      maxReplicas: 100,
      metrics: [{ resource: { name: 'cpu', target } }],
      forecast: { mode: 'Raise' },
    }),
    now: time(0),
    target: { specReplicas: 20 },
    pods: names.map((name) => ({
      name,
      phase: 'Running',
      startTime: time(-9000),
      ready: true,
      readyChangedAt: time(-9000),
      requests: { app: { cpu: '1' } },
      cpuLimit,
    })),
    samples: [
      {
        at: time(-15),
        windowSeconds: 60,
        containers: Object.fromEntries(names.map((name) => [name, { app: usage / 20 }])),
      },
    ],
    loadHistory: { leadSeconds: 120, highest: 40, seasons },
    state: {
      recommendations: [{ at: time(-15), replicas: 20 }],
      forecast: {
        at: time(-15),
        minutes: [],
        reactive: { replicas: 10, lastScaleUp: null, lastScaleDown: null, scaleEvents: [] },
        proposals: [],
        spent: [],
      },
    },
  };
  return decide(parseSnapshot(snapshot)).forecast?.reactive;
}

describe('the count without a forecast', () => {
  it.each<[string, number, object, number]>([
    ['follows load that ten pods can carry', 9.6, {}, 12],
    ['grows by a quarter if they are full: 16 cores', 16, {}, 13],
    ['sees what pods carry above their requests, too: 24 cores on 20 pods are 120 %', 24, {}, 15],
    ['sees what pods can use up to their limit', 16, { cpuLimit: '2' }, 20],
    [
      'grows by a quarter at a limit above the requests',
      36,
      { cpuLimit: '1500m', target: { averageUtilization: 120 } },
      15,
    ],
    ['has the limit of a target in cores', 24, { cpuLimit: '1200m', target: { averageValue: '800m' } }, 15],
    ['is not raised by what was recommended for more pods', 5, {}, 10],
  ])('%s', (_, usage, given, count) => {
    expect(reactiveAt(usage, given)).toBe(count);
  });
});
