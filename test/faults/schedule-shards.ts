import type { ApiMode, Fault, RequestGroup, ClusterMode } from './simulation/faults.js';
import { createRandom, type Random } from './simulation/random.js';

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
    if (drawn.some(({ endMs }) => endMs >= plan.durationMs - 2 * LEAD_MS)) break;
    faults.push(...drawn);
  }
  return [...faults, ...scheduleForgedLeases(seed, plan.durationMs)];
}

/** Strangers that write Leases of members. From their own random stream, so that the other faults do not change. */
function scheduleForgedLeases(seed: number, durationMs: number): readonly Fault[] {
  const random = createRandom(seed).fork('forged leases');
  const faults: Fault[] = [];
  for (let startMs = LEAD_MS; ;) {
    startMs += random.between(5, 60) * MINUTE_MS;
    const what = {
      mode: 'forged-leases',
      count: random.pick([1, 6, 40]),
      claims: random.pick(['', '', '', '0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15', '3,x']),
      isRenewed: random.pick([false, false, true]),
    } as const;
    const endMs = startMs + (what.isRenewed ? random.between(10_000, 300_000) : 1000);
    if (endMs >= durationMs - 3 * LEAD_MS) return faults;
    faults.push({ startMs, endMs, kind: 'cluster', replica: 0, target: 'web', what });
  }
}

function drawShardFaults(draw: Draw): readonly Fault[] {
  const { random, replicas } = draw;
  const first = random.integer(0, replicas - 1);
  const several = Array.from({ length: Math.max(1, replicas - 1) }, (_, index) => (first + index) % replicas);
  const victims = random.pick([[first], several]);
  const kinds = [
    'killed',
    'gone',
    'stopped',
    'stopped',
    'cut off',
    'without leases',
    'restarted',
    'rolled',
  ] as const;
  switch (random.pick(kinds)) {
    case 'killed':
      return processFaults(draw, victims, { mode: 'crash', point: null });
    case 'gone':
      return processFaults(draw, victims, { mode: 'gone' });
    case 'stopped':
      return processFaults(draw, victims, { mode: 'stopped' });
    case 'restarted':
      return processFaults(draw, victims, { mode: 'restart' });
    case 'rolled':
      return rollOffAndOn(draw);
    case 'cut off':
      return apiFaults(draw, victims, 'all');
    case 'without leases':
      return apiFaults(draw, victims, random.pick(['lease', 'members']));
  }
}

/** A rolling update that disables sharding, and one that enables it again. */
function rollOffAndOn({ random, startMs, replicas }: Draw): readonly Fault[] {
  const backMs = startMs + random.between(60_000, 900_000);
  return [
    ...rollTo(false, { startMs, replicas, gapMs: random.between(10_000, 60_000) }),
    ...rollTo(true, { startMs: backMs, replicas, gapMs: random.between(10_000, 60_000) }),
  ];
}

/** Replaces one replica after another, the last first. Public for tests of one rolling update. */
export function rollTo(
  isSharded: boolean,
  plan: { readonly startMs: number; readonly replicas: number; readonly gapMs: number },
): readonly Fault[] {
  return Array.from({ length: plan.replicas }, (_, index) => {
    const startMs = plan.startMs + index * plan.gapMs;
    const what = { mode: 'switched', isSharded } as const;
    const replica = plan.replicas - 1 - index;
    return { startMs, endMs: startMs + plan.gapMs, kind: 'cluster', replica, target: 'web', what };
  });
}

/** From half a renewal to several Leases; a minute and more now and then. */
function lengthMs(random: Random): number {
  return random.pick([random.between(5000, 40_000), random.between(60_000, 300_000)]);
}

function processFaults(draw: Draw, victims: readonly number[], what: ClusterMode): readonly Fault[] {
  const { random, startMs } = draw;
  const endMs = startMs + lengthMs(random);
  return victims.map((replica) => ({ startMs, endMs, kind: 'cluster', replica, target: 'web', what }));
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
