import { describe, expect, it } from '@jest/globals';
import { decide } from '../../src/decision/decide.js';
import type { Decision } from '../../src/decision/result/decision.js';
import type { Snapshot } from '../../src/decision/snapshot/snapshot.js';
import { parseInstant } from '../../src/units/time.js';
import { checkAll, snapshots } from './random-snapshots.js';

function check(property: (snapshot: Snapshot, decision: Decision) => void): void {
  checkAll(snapshots, property);
}

describe('a decision on any of 500 snapshots', () => {
  it('keeps the count within the bounds, unless a user has set 0', () => {
    check(({ state: before, target }, { desiredReplicas, minReplicas, maxReplicas }) => {
      const isDisabled = target.specReplicas === 0 && !before.zeroedBySelf && desiredReplicas === 0;
      expect(desiredReplicas).toBeLessThanOrEqual(maxReplicas);
      if (!isDisabled) expect(desiredReplicas).toBeGreaterThanOrEqual(minReplicas);
      expect(Number.isInteger(desiredReplicas)).toBe(true);
    });
  });

  it('never scales down on an incomplete sample, except into the bounds', () => {
    check((snapshot, decision) => {
      const { specReplicas } = snapshot.target;
      const isPlain = decision.metrics.every(({ error: why, partial }) => why === null && partial === null);
      if (isPlain || specReplicas > decision.maxReplicas) return;
      expect(decision.desiredReplicas).toBeGreaterThanOrEqual(specReplicas);
    });
  });

  it('is the same when repeated, and for pods and series in any other order', () => {
    check((snapshot, decision) => {
      const turned: Snapshot = {
        ...snapshot,
        pods: snapshot.pods.toReversed(),
        samples: snapshot.samples.map((sample) =>
          sample.form === 'values' ? { ...sample, values: sample.values.toReversed() } : sample,
        ),
      };

      const again = decide(turned);

      expect(decide(snapshot)).toEqual(decision);
      expect(again.desiredReplicas).toBe(decision.desiredReplicas);
      // A message may name the first invalid pod, which depends on the order.
      const steps = ({ limits }: Decision) =>
        limits.map(({ limit, from, to, until }) => [limit, from, to, until]);
      expect(steps(again)).toEqual(steps(decision));
    });
  });

  it('stays within the bounds when its result is the next input', () => {
    check((snapshot, decision) => {
      const specReplicas = decision.desiredReplicas;
      const target = { specReplicas, statusReplicas: specReplicas };

      const again = decide({ ...snapshot, target, state: decision.state });

      expect(again.desiredReplicas).toBeLessThanOrEqual(again.maxReplicas);
      if (specReplicas > 0) expect(again.desiredReplicas).toBeGreaterThanOrEqual(again.minReplicas);
    });
  });

  it('delays only scale-downs by confirmation and step limit, and never past the current count', () => {
    check((snapshot, decision) => {
      const { spec: whole } = snapshot.scaler;
      const unbraked = { ...whole, downscaleConfirmation: null, maxScaleDownPercentPerWindow: null };

      const free = decide({ ...snapshot, scaler: { ...snapshot.scaler, spec: unbraked } });

      const { currentReplicas } = decision;
      if (free.desiredReplicas >= currentReplicas)
        expect(decision.desiredReplicas).toBe(free.desiredReplicas);
      else {
        expect(decision.desiredReplicas).toBeGreaterThanOrEqual(free.desiredReplicas);
        expect(decision.desiredReplicas).toBeLessThanOrEqual(currentReplicas);
      }
    });
  });

  it('reports every change of the count as a limit, from the recommendation to the result', () => {
    check((_snapshot, { limits, recommendedReplicas, desiredReplicas, currentReplicas }) => {
      let replicas = recommendedReplicas ?? currentReplicas;
      for (const step of limits) {
        expect(step.from).toBe(replicas);
        expect(step.to).not.toBe(step.from);
        replicas = step.to;
      }
      expect(replicas).toBe(desiredReplicas);
    });
  });

  it('stores a scale event with exactly the change, at now', () => {
    const now = parseInstant('2026-01-01T00:00:00Z');
    check((snapshot, { state: after, desiredReplicas, currentReplicas }) => {
      const change = desiredReplicas - currentReplicas;
      const last = after.scaleEvents.at(-1);
      if (change === 0) return;
      expect(last).toEqual({ at: now, change });
      expect(change > 0 ? after.lastScaleUp : after.lastScaleDown).toBe(snapshot.now);
    });
  });
});
