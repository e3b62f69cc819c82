import { loadProduct } from '../product.js';
import { ELECTED_SEEDS, replicasOf, runSeed } from '../run-seed.js';
import { scheduleFaults } from '../schedule.js';
import type { Bug } from './bug.js';
import { plantBug } from './mutate.js';

/** The result of a hunt. */
export interface Catch {
  readonly name: string;
  /** Null: not detected. */
  readonly caught: {
    /** The first expected invariant that was violated. */
    readonly invariant: string;
    readonly seed: number;
    /** Simulated time. */
    readonly atMs: number;
    /** The message of the checker. */
    readonly message: string;
  } | null;
  /** All invariants that were violated with it. */
  readonly broken: readonly string[];
  /** Real time. */
  readonly seconds: number;
}

export interface HuntOptions {
  /** Directory of the compiled service, and parent of its copies. */
  readonly dist: URL;
  readonly copies: URL;
  /** Number of simulations, and simulated hours of each. */
  readonly seeds: number;
  readonly hours: number;
}

/** Runs simulations with the faults that provoke a bug until an expected invariant is violated. */
export async function huntBug(bug: Bug, options: HuntOptions): Promise<Catch> {
  const startedMs = performance.now();
  const { dist, copies, seeds } = options;
  const product = await loadProduct(plantBug(bug, dist, copies));
  const { by, when, hours = options.hours, shards, features = [] } = bug.meant;
  const broken = new Set<string>();
  const step = by.includes('I11') && shards === undefined ? ELECTED_SEEDS : 1;
  const secondsSince = (): number => (performance.now() - startedMs) / 1000;
  for (let seed = step; seed <= seeds * step; seed += step) {
    const plan = {
      durationMs: hours * 3_600_000,
      replicas: shards ?? replicasOf(seed),
      isSharded: shards !== undefined,
      modes: when,
      isSlow: features.includes('slow-starts'),
    };
    const faults = scheduleFaults(seed, plan);
    const { violations } = await runSeed({ seed, hours, product, shards, faults, features });
    for (const { invariant } of violations) broken.add(invariant);
    const first = violations.find(({ invariant }) => by.includes(invariant));
    if (first === undefined) continue;
    const { invariant, atMs, message } = first;
    const caught = { invariant, seed, atMs, message };
    return { name: bug.name, caught, broken: [...broken], seconds: secondsSince() };
  }
  return { name: bug.name, caught: null, broken: [...broken], seconds: secondsSince() };
}
