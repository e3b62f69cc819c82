import { boundsInForce } from '../../src/decision/limits/bounds.js';
import type { Schedule } from '../../src/schedules/schedule.js';
import { addSeconds, instantFromMs } from '../../src/units/time.js';
import { median, print } from './report.js';

const START = instantFromMs(Date.UTC(2026, 0, 5));
const ROUNDS_OF_A_DAY = 5760;

/**
 * Measures the cost of 1,000 schedules of 20 different times in each round of a day, and in the round in which they
 * begin.
 */
export function benchSchedules(): void {
  const specs = Array.from({ length: 1000 }, (_, index) => ({
    minReplicas: 2,
    maxReplicas: 60,
    schedules: [scheduleOf(index)],
  }));
  const seconds = Array.from({ length: ROUNDS_OF_A_DAY }, (_, round) => {
    const now = addSeconds(START, round * 15);
    const start = performance.now();
    for (const spec of specs) boundsInForce(spec, now);
    return performance.now() - start;
  });
  const [, ...warm] = seconds;
  print('1,000 schedules, a round', `${median(warm).toFixed(2)} ms`, 'under 5 ms');
  print('1,000 schedules, the slowest round of a day', `${Math.max(...warm).toFixed(1)} ms`, '');
}

function scheduleOf(index: number): Schedule {
  return {
    name: `day-${index}`,
    recurring: { start: `${index % 20} 8 * * 1-5`, end: '0 20 * * 1-5' },
    timeZone: 'Europe/Warsaw',
    minReplicas: 10,
    maxReplicas: null,
    rampSeconds: index % 2 === 0 ? 0 : 1800,
    exceptions: ['2026-12-25'],
    dates: [],
  };
}
