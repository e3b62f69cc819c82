import type { ApiMode, Fault, RequestGroup, WorldMode } from './world/faults.js';
import { createRandom, type Random } from './world/random.js';

const MINUTE_MS = 60_000;
const LEAD_MS = 15 * MINUTE_MS;

interface Draw {
  readonly random: Random;
  readonly startMs: number;
  readonly replicas: number;
}

/**
 * What befalls replicas that divide the scalers: one or all but one of them killed, stopped or cut off at once, about as
 * long as a Lease lasts. `busy`: with pauses of a few minutes instead of up to two hours.
 */
export function scheduleShardFaults(
  seed: number,
  plan: { readonly durationMs: number; readonly replicas: number; readonly isBusy: boolean },
): readonly Fault[] {
  const random = createRandom(seed).fork('shard faults');
  const faults: Fault[] = [];
  for (let startMs = LEAD_MS; ;) {
    startMs += random.between(3, plan.isBusy ? 15 : 120) * MINUTE_MS;
    const drawn = drawShardFaults({ random, startMs, replicas: plan.replicas });
    if (drawn.some(({ endMs }) => endMs >= plan.durationMs - 2 * LEAD_MS)) return faults;
    faults.push(...drawn);
  }
}

function drawShardFaults(draw: Draw): readonly Fault[] {
  const { random, replicas } = draw;
  const first = random.integer(0, replicas - 1);
  const several = Array.from({ length: Math.max(1, replicas - 1) }, (_, index) => (first + index) % replicas);
  const victims = random.pick([[first], several]);
  switch (random.pick(['killed', 'stopped', 'stopped', 'cut off', 'without leases', 'restarted'] as const)) {
    case 'killed':
      return processFaults(draw, victims, { mode: 'crash', point: null });
    case 'stopped':
      return processFaults(draw, victims, { mode: 'stopped' });
    case 'restarted':
      return processFaults(draw, victims, { mode: 'restart' });
    case 'cut off':
      return apiFaults(draw, victims, 'all');
    case 'without leases':
      return apiFaults(draw, victims, random.pick(['lease', 'members']));
  }
}

/** From half a renewal to several Leases; a minute and more now and then. */
function lengthMs(random: Random): number {
  return random.pick([random.between(5000, 40_000), random.between(60_000, 300_000)]);
}

function processFaults(draw: Draw, victims: readonly number[], what: WorldMode): readonly Fault[] {
  const { random, startMs } = draw;
  const endMs = startMs + lengthMs(random);
  return victims.map((replica) => ({ startMs, endMs, kind: 'world', replica, target: 'web', what }));
}

function apiFaults(draw: Draw, victims: readonly number[], group: RequestGroup): readonly Fault[] {
  const { random, startMs } = draw;
  const endMs = startMs + lengthMs(random);
  const what = random.pick<ApiMode>([
    { mode: 'refused' },
    { mode: 'hang' },
    { mode: 'slow', delayMs: random.between(500, 9000) },
    { mode: 'status', status: 500, retryAfter: null },
    { mode: 'applied-lost' },
  ]);
  const probability = random.pick([1, 1, 0.5]);
  return victims.map((replica) => ({ startMs, endMs, kind: 'api', group, replica, what, probability }));
}
