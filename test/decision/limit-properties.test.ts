import { describe, expect, it } from '@jest/globals';
import { decide } from '../../src/decision/decide.js';
import type { Decision, LimitStep } from '../../src/decision/result/decision.js';
import type { Snapshot } from '../../src/decision/snapshot/snapshot.js';
import { LIMITS } from '../../src/decision/limits/limits.js';
import { LIMIT_NAMES } from '../../src/decision/result/limit-names.js';
import { parseSnapshot } from '../../src/decision/snapshot/parse-snapshot.js';
import { aDocument } from '../support/builders.js';
import { checkAll, scheduledSnapshots } from './random-snapshots.js';

/** What a step may do, given the count before it, the current count and the bounds in effect. */
const RULES: Readonly<Record<LimitStep['limit'], (step: LimitStep, decision: Decision) => boolean>> = {
  untrusted_metric: ({ from, to }, { currentReplicas }) => to === currentReplicas && from < to,
  stabilization: ({ from, to }, { currentReplicas }) => to > from || to >= currentReplicas,
  recovery_hold: ({ from, to }, { currentReplicas }) => to === currentReplicas && from < to,
  downscale_confirmation: ({ from, to }, { currentReplicas }) => from < to && to <= currentReplicas,
  policy: ({ from, to }, { currentReplicas: now }) =>
    from > now ? from > to && to >= now : from < to && to <= now,
  scale_up_limit: ({ from, to }, { currentReplicas }) => from > to && to >= currentReplicas,
  step_limit: ({ from, to }, { currentReplicas }) => from < to && to <= currentReplicas,
  min_replicas: ({ from, to }, { minReplicas }) => from < to && to === minReplicas,
  max_replicas_from: ({ from, to }, { currentReplicas }) => from > to && to >= currentReplicas,
  max_replicas: ({ from, to }, { maxReplicas }) => from > to && to >= maxReplicas,
  forbidden_window: ({ to }, { currentReplicas }) => to === currentReplicas,
};

/** Returns the numbers in a reason, without times, names, arrows and ranges. */
function numbersIn(text: string): readonly number[] {
  const plain = text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|schedule-\d|web-\d|->/g, ' ');
  return [...plain.matchAll(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/g)].map(([number]) => Number(number));
}

function check(property: (snapshot: Snapshot, decision: Decision) => void): void {
  checkAll(scheduledSnapshots, property);
}

it('each limit but `untrusted_metric` is applied, in the order of the names', () => {
  expect(['untrusted_metric', ...LIMITS.map(({ name }) => name)]).toEqual(LIMIT_NAMES);
});

it.each([
  ['rise above', 4, 20, { upscaleForbiddenWindowSeconds: 180 }],
  ['rise above', 8, 20, {}],
  ['fall below', 4, 1, { maxScaleDownPercentPerWindow: 50, downscaleForbiddenWindowSeconds: 180 }],
  ['fall below', 2, 1, { maxScaleDownPercentPerWindow: 50 }],
])('of 4 replicas may not %s %i now, with a load of %i and %j', (direction, allowed, load, spec) => {
  const { conditions, desiredReplicas } = decide(
    parseSnapshot({
      scaler: aDocument({
        scaleTargetRef: { name: 'web' },
        maxReplicas: 50,
        downscaleStabilizationSeconds: 0,
        metrics: [
          { external: { metric: { name: 'load' }, query: 'sum(load)', target: { averageValue: 1 } } },
        ],
        ...spec,
      }),
      now: '2026-01-01T12:00:00Z',
      target: { specReplicas: 4 },
      samples: [{ at: '2026-01-01T12:00:00Z', values: [load] }],
      state: {
        recommendations: [],
        lastScaleUp: '2026-01-01T11:59:00Z',
        lastScaleDown: '2026-01-01T11:59:00Z',
      },
    }),
  );

  expect(desiredReplicas).toBe(allowed);
  expect(conditions.find(({ type }) => type === 'ScalingLimited')?.message).toBe(
    `the replica count may not ${direction} ${allowed} now`,
  );
});

describe('in any of 500 snapshots with schedules, a limit', () => {
  it('moves the count in its own direction, never below 0', () => {
    check((_, decision) => {
      for (const step of decision.limits) {
        expect(Math.min(step.from, step.to)).toBeGreaterThanOrEqual(0);
        expect([step, RULES[step.limit](step, decision)]).toEqual([step, true]);
      }
    });
  });

  it('has no number below 0 and no plural of 1 in its reason', () => {
    check((_, { reason, limits, conditions }) => {
      const texts = [
        reason,
        ...limits.map((step) => step.reason),
        ...conditions.map(({ message }) => message),
      ];
      for (const text of texts) {
        expect(text).not.toMatch(/(?<![\d.])1 (?:replicas|pods|metrics|days)\b/);
        const isOfAnAnswer = text.includes('which is negative');
        if (!isOfAnAnswer) expect([text, numbersIn(text).filter((number) => number < 0)]).toEqual([text, []]);
      }
    });
  });

  it('is named in the reason with its count, except a hold that a bound overrides', () => {
    check((_, { reason, limits, recommendedReplicas, metrics }) => {
      if (recommendedReplicas === null || limits.some(({ limit }) => limit === 'untrusted_metric')) return;
      const isOver = limits.some(({ limit }) => limit === 'max_replicas');
      const named = limits.filter(
        ({ limit }) => !isOver || (limit !== 'recovery_hold' && limit !== 'downscale_confirmation'),
      );
      const found = [...reason.matchAll(/(\d+) by ([a-z]+_[a-z_]+|policy|stabilization) \(/g)];
      expect(found.map(([, to, limit]) => [limit, Number(to)])).toEqual(
        named.map(({ limit, to }) => [limit, to]),
      );
      expect(metrics.length).toBeGreaterThan(0);
    });
  });

  it('appears in the ScalingLimited condition with its direction, bound and count, and has the last step', () => {
    check((snapshot, { conditions, limits, recommendedReplicas, minReplicas, maxReplicas }) => {
      const condition = conditions.find(({ type }) => type === 'ScalingLimited');
      if (condition === undefined || recommendedReplicas === null) return;
      const rates = limits.filter(({ limit }) => RATES.has(limit));
      const [first, last] = [rates.at(0), rates.at(-1)];
      if (first === undefined || last === undefined || first.from === last.to) {
        expect(condition).toMatchObject({ status: 'False', reason: 'DesiredWithinRange' });
        return;
      }
      const numbers = numbersIn(condition.message);
      // A recommendation that stabilization has changed is named, too.
      const counts = [first.from, ...(first.from === recommendedReplicas ? [] : [recommendedReplicas])];
      const current = snapshot.target.specReplicas;
      switch (condition.reason) {
        case 'ScaleUpLimit':
          expect([last.to, numbers]).toEqual([Math.max(last.to, current), [last.to]]);
          expect(last.to).toBeLessThan(maxReplicas);
          expect(['policy', 'scale_up_limit']).toContain(last.limit);
          break;
        case 'ScaleDownLimit':
          expect([last.to, numbers]).toEqual([Math.min(last.to, current), [last.to]]);
          expect(last.to).toBeGreaterThan(minReplicas);
          expect(['policy', 'step_limit']).toContain(last.limit);
          break;
        case 'TooManyReplicas':
          expect(numbers).toEqual([...counts, maxReplicas]);
          expect(first.from).toBeGreaterThan(maxReplicas);
          expect(['max_replicas', 'max_replicas_from']).toContain(last.limit);
          break;
        default:
          expect([condition.reason, numbers.slice(0, counts.length + 1)]).toEqual([
            'TooFewReplicas',
            [...counts, minReplicas],
          ]);
          expect(first.from).toBeLessThan(minReplicas);
          expect(last.limit).toBe('min_replicas');
      }
    });
  });
});

/** The limits after the holds and before the forbidden windows. */
const RATES: ReadonlySet<string> = new Set([
  'policy',
  'scale_up_limit',
  'step_limit',
  'min_replicas',
  'max_replicas_from',
  'max_replicas',
]);
