import { addSeconds, type Instant, instantFromMs } from '../../units/time.js';
import type { CountStep } from '../simulation/count-steps.js';

/**
 * Returns the first round after `start`. The phase of the rounds follows from the recorded changes, because each change
 * follows a round and rounds are one period apart. Without a change: one period after `start`.
 */
export function firstRoundAt(changes: readonly CountStep[], start: Instant, periodSeconds: number): Instant {
  const periodMs = periodSeconds * 1000;
  let sine = 0;
  let cosine = 0;
  for (const { at } of changes) {
    const angle = (2 * Math.PI * (at - start)) / periodMs;
    sine += Math.sin(angle);
    cosine += Math.cos(angle);
  }
  if (changes.length === 0) return addSeconds(start, periodSeconds);
  const phaseMs = Math.round((Math.atan2(sine, cosine) / (2 * Math.PI)) * periodMs);
  return instantFromMs(start + (phaseMs > 0 ? phaseMs : phaseMs + periodMs));
}
