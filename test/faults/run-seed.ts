import { createHash } from 'node:crypto';
import { historyOf } from './checker/history.js';
import { checkHistory } from './checker/invariants.js';
import type { Violation } from './checker/violation.js';
import { type Forecasts, historyOfSeed, withForecasts } from './forecasts.js';
import type { Product } from './product.js';
import { scheduleFaults } from './schedule.js';
import type { Fault } from './simulation/faults.js';
import type { LogRecord } from './simulation/log.js';
import type { Feature } from './simulation/scenario.js';
import { Simulation } from './simulation/simulation.js';

export interface SeedOptions {
  readonly seed: number;
  readonly hours: number;
  readonly product: Product;
  /** Number of replicas that share the scalers; unset: one, or two of which one is the leader. */
  readonly shards?: number | undefined;
  /** Whether they begin without sharding, with one leader; default: false. */
  readonly beginsElected?: boolean;
  /** Default: none. */
  readonly features?: readonly Feature[];
  /** Default: those of the seed. */
  readonly faults?: readonly Fault[];
}

/** The result of a seed. */
export interface SeedResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly faults: readonly Fault[];
  readonly records: readonly LogRecord[];
  /** Accepted writes of replicas. */
  readonly writes: number;
  readonly forecasts: Forecasts;
}

/** Whether state that must survive a process is stored in the cluster. */
const IS_DURABLE = true;

/** Every sixth simulation has two replicas and a Lease; an election costs as much as the rest of a day. */
export const ELECTED_SEEDS = 6;

/** Returns two if the seed has an election. */
export function replicasOf(seed: number): number {
  return seed % ELECTED_SEEDS === 0 ? 2 : 1;
}

/** Runs the simulation of a seed for this number of simulated hours and checks its history. */
export async function runSeed(options: SeedOptions): Promise<SeedResult> {
  const { seed, hours, shards, faults, beginsElected = false, features = [] } = options;
  const isSlow = features.includes('slow-starts');
  const forecasts: Forecasts = { asked: 0, used: 0 };
  const product = features.includes('forecasts')
    ? withForecasts(options.product, historyOfSeed(seed), forecasts)
    : options.product;
  const durationMs = hours * 3_600_000;
  const replicas = shards ?? replicasOf(seed);
  const isSharded = shards !== undefined;
  const schedule = faults ?? scheduleFaults(seed, { durationMs, replicas, isSharded, isSlow });
  const simulation = new Simulation({
    seed,
    durationMs,
    product,
    replicas,
    isSharded: isSharded && !beginsElected,
    faults: schedule,
    features,
  });
  await simulation.run(durationMs);
  const { isElected } = simulation;
  const history = historyOf(simulation, {
    durationMs,
    faults: schedule,
    isDurable: IS_DURABLE,
    isElected,
    isSharded,
  });
  const violations = checkHistory(history)
    // A forecast rightly has more pods than the load of now needs.
    .filter(({ invariant }) => invariant !== 'I12' || forecasts.used === 0);
  const writes = history.writes.length;
  // Node.js keeps composite signals with a listener, and the killed processes that wait for them keep the simulation.
  const records = simulation.records.splice(0);
  return { seed, violations, faults: schedule, records, writes, forecasts };
}

/** Returns the same hash for the same log. */
export function hashOf(records: readonly LogRecord[]): string {
  const hash = createHash('sha256');
  for (const record of records) hash.update(JSON.stringify(record));
  return hash.digest('hex');
}
