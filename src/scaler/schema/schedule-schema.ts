import * as z from 'zod';
import { labelName, seconds } from './field-types.js';
import { MAX_REPLICAS } from '../../units/bounds.js';
import { BUILT_IN } from './presets.js';

/** A cron expression or a date. rules/schedule-rules.ts parses it. */
const scheduleText = z.string().min(1).max(200);

const dateRange = z.strictObject({
  start: scheduleText.meta({
    description: 'Local date or time of the start, such as 2026-11-27 or 2026-11-27T06:00.',
  }),
  end: scheduleText.meta({
    description: 'Local date or time of the end. A date without a time includes the whole day.',
  }),
});

export const schedule = z.strictObject({
  name: labelName.meta({ description: 'Name of the schedule, unique in the document.' }),
  start: scheduleText.optional().meta({
    description: 'Start as a cron expression of five fields. It requires the field end.',
  }),
  end: scheduleText.optional().meta({
    description:
      'End as a cron expression of five fields. A period ends at the first such time after its start.',
  }),
  timeZone: scheduleText.optional().meta({
    description: 'IANA time zone of all times of the schedule.',
    default: BUILT_IN.timeZone,
  }),
  minReplicas: z.int().min(0).max(MAX_REPLICAS).optional().meta({
    description:
      'Minimum number of replicas while the schedule is active. A schedule requires minReplicas or maxReplicas.',
  }),
  maxReplicas: z.int().min(1).max(MAX_REPLICAS).optional().meta({
    description: 'Maximum number of replicas while the schedule is active.',
  }),
  rampSeconds: seconds(0, 86_400).optional().meta({
    description:
      'Seconds before the start in which the bounds change gradually to those of the schedule, and seconds after the end in which they change back.',
    default: BUILT_IN.rampSeconds,
  }),
  exceptions: z.array(scheduleText).max(400).optional().meta({
    description: 'Local dates on which the schedule does not start, such as 2026-12-25.',
    default: [],
  }),
  dates: z.array(dateRange).min(1).max(100).optional().meta({
    description:
      'Periods that do not recur, in addition to the fields start and end or instead of these fields.',
    default: [],
  }),
});

export type ScheduleInput = z.infer<typeof schedule>;
