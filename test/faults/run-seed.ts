import { createHash } from 'node:crypto';
import { historyOf } from './checker/history.js';
import { checkHistory } from './checker/invariants.js';
import type { Violation } from './checker/violation.js';
import type { Product } from './product.js';
import { scheduleFaults } from './schedule.js';
import type { Fault } from './world/faults.js';
import type { LogRecord } from './world/log.js';
import { World } from './world/world.js';

export interface SeedOptions {
  readonly seed: number;
  readonly hours: number;
  readonly product: Product;
  /** So many that divide the scalers; left out: one, or two of which one leads. */
  readonly shards?: number | undefined;
  /** Left out: those of the seed. */
  readonly faults?: readonly Fault[];
}

/** What a seed came to. */
export interface SeedResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly faults: readonly Fault[];
  readonly records: readonly LogRecord[];
  /** Writes of replicas that were accepted. */
  readonly writes: number;
}

/** Whether what must outlive a process is kept in the cluster. */
const IS_DURABLE = true;

/** Every sixth world has two replicas and a Lease; an election costs as much as all the rest of a day. */
export const ELECTED_SEEDS = 6;

/** Two where the seed has an election. */
export function replicasOf(seed: number): number {
  return seed % ELECTED_SEEDS === 0 ? 2 : 1;
}

/** Runs the world of a seed for so many simulated hours and checks all that happened. */
export async function runSeed({ seed, hours, product, shards, faults }: SeedOptions): Promise<SeedResult> {
  const durationMs = hours * 3_600_000;
  const replicas = shards ?? replicasOf(seed);
  const isSharded = shards !== undefined;
  const schedule = faults ?? scheduleFaults(seed, { durationMs, replicas, isSharded });
  const world = new World({ seed, durationMs, product, replicas, isSharded, faults: schedule });
  await world.run(durationMs);
  const { isElected } = world;
  const history = historyOf(world, {
    durationMs,
    faults: schedule,
    isDurable: IS_DURABLE,
    isElected,
    isSharded,
  });
  const violations = checkHistory(history);
  return { seed, violations, faults: schedule, records: world.records, writes: history.writes.length };
}

/** The same for the same log. */
export function hashOf(records: readonly LogRecord[]): string {
  const hash = createHash('sha256');
  for (const record of records) hash.update(JSON.stringify(record));
  return hash.digest('hex');
}
