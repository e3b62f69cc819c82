import type { FieldTable } from './field-text.js';

/** What is said of the fields of a schedule. */
export const SCHEDULE_FIELDS: FieldTable = {
  'spec.schedules[].name': { description: 'The name, unique in the document.' },
  'spec.schedules[].start': { description: 'When it begins: cron, five fields. Together with end.' },
  'spec.schedules[].end': {
    description: 'When it ends: cron, five fields; the first one after a start counts.',
  },
  'spec.schedules[].timeZone': { description: 'IANA name of the zone of all its times.', default: 'UTC' },
  'spec.schedules[].minReplicas': { description: 'The floor while it is on. This or maxReplicas is needed.' },
  'spec.schedules[].maxReplicas': { description: 'The ceiling while it is on.' },
  'spec.schedules[].rampSeconds': {
    description:
      'How long before its start the bounds begin to move, and how long after its end they are back.',
    default: 0,
  },
  'spec.schedules[].exceptions': {
    description: 'Local dates on which it does not start: 2026-12-25.',
    default: [],
  },
  'spec.schedules[].dates': {
    description: 'Single times, beside start and end or without them.',
    default: [],
  },
  'spec.schedules[].dates[].start': { description: 'A local date or time: 2026-11-27, 2026-11-27T06:00.' },
  'spec.schedules[].dates[].end': { description: 'Likewise; a date without a time means that whole day.' },
};
