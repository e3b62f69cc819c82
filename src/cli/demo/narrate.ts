import pc from 'picocolors';
import type { Decision } from '../../decision/decision.js';
import type { CycleOutput } from '../../control/ports.js';
import { scalerKey } from '../../scaler/spec.js';
import type { Scaler } from '../../scaler/spec.js';
import { rescaleDirection } from '../../telemetry/cycle-record.js';
import { secondsBetween } from '../../units/time.js';
import type { Instant } from '../../units/time.js';
import type { OutputStream } from '../io.js';

/** Tells the story of the demo, a line a change. */
export interface Narrator {
  readonly tell: (output: CycleOutput) => void;
  /** Changes told so far. */
  readonly changes: () => number;
}

/**
 * Writes each change of replicas, each new reason that holds one back, and each document that has changed on disk, with
 * the seconds since `start`.
 */
export function createNarrator(stdout: OutputStream, start: Instant): Narrator {
  const colors = pc.createColors(stdout.isTerminal);
  const held = new Map<string, string>();
  const known = new Map<string, Scaler>();
  let changes = 0;

  const line = (at: Instant, scaler: string, count: string, why: string): string => {
    const seconds = `+${Math.round(secondsBetween(start, at))} s`;
    return `${seconds.padStart(7)}  ${scaler.padEnd(14)}  ${count.padEnd(9)}  ${why}\n`;
  };

  return {
    changes: () => changes,
    tell: ({ record }) => {
      const { scaler, decision, outcome, at } = record;
      const key = scalerKey(scaler);
      // A document that did not change stays the same object.
      if ((known.get(key) ?? scaler) !== scaler) {
        stdout.write(line(at, key, '', 'its document has changed, and is in force'));
      }
      known.set(key, scaler);
      if (decision === null) return;
      const direction = rescaleDirection(outcome);
      if (direction !== null) {
        changes += 1;
        held.delete(key);
        const paint = direction === 'up' ? colors.green : colors.yellow;
        stdout.write(paint(line(at, key, `${outcome.from ?? '?'} -> ${outcome.to ?? '?'}`, decision.reason)));
        return;
      }
      const why = whyStill(decision);
      if (why === null) held.delete(key);
      else if (held.get(key) !== why) {
        held.set(key, why);
        stdout.write(colors.dim(line(at, key, `= ${decision.currentReplicas}`, decision.reason)));
      }
    },
  };
}

/** What keeps the count from following the metrics, in one word; null where nothing does. */
function whyStill({ limits, conditions, currentReplicas }: Decision): string | null {
  const holding = limits.find(({ to }) => to === currentReplicas);
  if (holding !== undefined) return holding.limit;
  const isBlind = conditions.some(({ type, status }) => type === 'ScalingActive' && status === 'False');
  return isBlind ? 'no value' : null;
}
