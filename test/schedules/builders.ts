import type { Schedule } from '../../src/schedules/schedule.js';
import { type Instant, parseInstant } from '../../src/units/time.js';

export function at(text: string): Instant {
  const instant = parseInstant(text);
  if (instant === null) throw new Error(`no instant: ${text}`);
  return instant;
}

/** Builds a schedule with a floor of 10 on weekdays from 08:00 to 20:00 UTC. */
export function schedule(fields: Partial<Schedule> = {}): Schedule {
  return {
    name: 'day',
    recurring: { start: '0 8 * * 1-5', end: '0 20 * * 1-5' },
    timeZone: 'UTC',
    minReplicas: 10,
    maxReplicas: null,
    rampSeconds: 0,
    exceptions: [],
    dates: [],
    ...fields,
  };
}
