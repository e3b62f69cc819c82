import type { Scaler } from '../../scaler/spec.js';
import { scalerKey } from '../../scaler/spec.js';
import { formatLocal } from '../../schedules/local-time.js';
import { nextOccurrences } from '../../schedules/occurrences.js';
import type { Instant } from '../../units/time.js';

export interface NextTimes {
  readonly scaler: string;
  readonly schedule: string;
  readonly timeZone: string;
  /** At most three, in local time without seconds. */
  readonly next: readonly { readonly start: string; readonly end: string }[];
}

const COUNT = 3;

export function nextTimes(scalers: readonly Scaler[], now: Instant): readonly NextTimes[] {
  return scalers.flatMap((scaler) =>
    scaler.spec.schedules.map((schedule) => {
      const { name, timeZone } = schedule;
      const next = nextOccurrences(schedule, now, COUNT).map(({ start, end }) => ({
        start: formatLocal(start, timeZone),
        end: formatLocal(end, timeZone),
      }));
      return { scaler: scalerKey(scaler), schedule: name, timeZone, next };
    }),
  );
}

/** Returns `shop/web, schedule day (Europe/Warsaw): 2026-11-23 08:00 to 19:00, ...`. */
export function describeNextTimes({ scaler, schedule, timeZone, next }: NextTimes): string {
  const times = next.map(({ start, end }) => `${spaced(start)} to ${endText(start, end)}`);
  const text = times.length === 0 ? 'never active again' : times.join(', ');
  return `${scaler}, schedule ${schedule} (${timeZone}): ${text}`;
}

function endText(start: string, end: string): string {
  return start.slice(0, 10) === end.slice(0, 10) ? end.slice(11) : spaced(end);
}

function spaced(time: string): string {
  return time.replace('T', ' ');
}
