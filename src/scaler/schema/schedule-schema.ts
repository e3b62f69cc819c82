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
    description: 'Local date or time of the end. A date without a time includes that whole day.',
  }),
});

export const schedule = z.strictObject({
  name: labelName.meta({ description: 'Name of the schedule, unique in the document.' }),
  start: scheduleText.optional().meta({
    description: 'Start as a cron expression of five fields. Required together with end.',
  }),
  end: scheduleText.optional().meta({
    description: 'End as a cron expression of five fields. The first end after a start applies.',
  }),
  timeZone: scheduleText.optional().meta({
    description: 'IANA time zone of all times of the schedule.',
    default: BUILT_IN.timeZone,
  }),
  minReplicas: z.int().min(0).max(MAX_REPLICAS).optional().meta({
    description:
      'Minimum number of replicas while the schedule is active. Either this or maxReplicas is required.',
  }),
  maxReplicas: z.int().min(1).max(MAX_REPLICAS).optional().meta({
    description: 'Maximum number of replicas while the schedule is active.',
  }),
  rampSeconds: seconds(0, 86_400).optional().meta({
    description:
      'Length in seconds of the ramp of the bounds before the start, and of the ramp back after the end.',
    default: BUILT_IN.rampSeconds,
  }),
  exceptions: z.array(scheduleText).max(400).optional().meta({
    description: 'Local dates on which the schedule does not start, such as 2026-12-25.',
    default: [],
  }),
  dates: z.array(dateRange).min(1).max(100).optional().meta({
    description: 'Periods that do not recur, in addition to start and end or instead of them.',
    default: [],
  }),
});

export type ScheduleInput = z.infer<typeof schedule>;
