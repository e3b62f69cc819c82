import { parseRange } from '../../schedules/local-time.js';
import type { Schedule } from '../../schedules/schedule.js';
import { BUILT_IN } from '../schema/presets.js';
import type { ScheduleInput } from '../schema/schedule-schema.js';

/** Sets defaults. The input must have passed the rules. Throws `Error` for an invalid date. */
export function resolveSchedule(input: ScheduleInput): Schedule {
  const { name, start, end, timeZone = BUILT_IN.timeZone } = input;
  return {
    name,
    recurring: start === undefined || end === undefined ? null : { start, end },
    timeZone,
    minReplicas: input.minReplicas ?? null,
    maxReplicas: input.maxReplicas ?? null,
    rampSeconds: input.rampSeconds ?? BUILT_IN.rampSeconds,
    exceptions: input.exceptions ?? [],
    dates: (input.dates ?? []).map((range) => {
      const occurrence = parseRange(range.start, range.end, timeZone);
      if (occurrence === null)
        throw new Error(`schedule ${name}: ${range.start} to ${range.end} is not a range`);
      return occurrence;
    }),
  };
}
