import { loadProduct } from '../product.js';
import { ELECTED_SEEDS, runSeed } from '../run-seed.js';
import type { Bug } from './bugs.js';
import { plantBug } from './mutate.js';

/** How a bug was found. */
export interface Catch {
  readonly name: string;
  /** The first of the expected invariants that broke; null: none did. */
  readonly invariant: string | null;
  /** All that broke with it. */
  readonly broken: readonly string[];
  readonly seeds: number;
  /** What the checker said. */
  readonly message: string;
}

/** Runs seeds with a bug planted until an invariant that ought to notice does, at most `seeds` of them. */
export async function huntBug(
  bug: Bug,
  {
    dist,
    copies,
    seeds,
    hours,
  }: { readonly dist: URL; readonly copies: URL; readonly seeds: number; readonly hours: number },
): Promise<Catch> {
  const product = await loadProduct(plantBug(bug, dist, copies));
  const broken = new Set<string>();
  const step = bug.caughtBy.includes('I11') ? ELECTED_SEEDS : 1;
  for (let seed = step; seed <= seeds * step; seed += step) {
    const { violations } = await runSeed({ seed, hours, product });
    for (const { invariant } of violations) broken.add(invariant);
    const first = violations.find(({ invariant }) => bug.caughtBy.includes(invariant));
    if (first === undefined) continue;
    const { invariant, message } = first;
    return { name: bug.name, invariant, broken: [...broken], seeds: seed / step, message };
  }
  return { name: bug.name, invariant: null, broken: [...broken], seeds, message: '' };
}
