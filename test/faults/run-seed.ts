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

/** Whether the service keeps state in the cluster, and elects a leader. */
const CAPABILITIES = { isDurable: false, isElected: false } as const;
const REPLICAS = 1;

/** Runs the world of a seed for so many simulated hours and checks all that happened. */
export async function runSeed({ seed, hours, product, faults }: SeedOptions): Promise<SeedResult> {
  const durationMs = hours * 3_600_000;
  const schedule = faults ?? scheduleFaults(seed, { durationMs, replicas: REPLICAS });
  const world = new World({ seed, durationMs, product, replicas: REPLICAS, faults: schedule });
  await world.run(durationMs);
  const history = historyOf(world, { durationMs, faults: schedule, ...CAPABILITIES });
  const violations = checkHistory(history);
  return { seed, violations, faults: schedule, records: world.records, writes: history.writes.length };
}

/** The same for the same log. */
export function hashOf(records: readonly LogRecord[]): string {
  const hash = createHash('sha256');
  for (const record of records) hash.update(JSON.stringify(record));
  return hash.digest('hex');
}
