/** Set by `npm run fuzz`. */
const FUZZ_SEED = process.env['FUZZ_SEED'];
const SHARE = 5;

/**
 * Returns the parameters of a property with random input. `npm test` must not fail by chance: it tries a fifth of the
 * cases, with a fixed seed. `npm run fuzz` tries all of them, with a new seed.
 */
export function randomRuns(
  fixedSeed: number,
  runs: number,
): { readonly seed: number; readonly numRuns: number } {
  if (FUZZ_SEED === undefined) return { seed: fixedSeed, numRuns: Math.ceil(runs / SHARE) };
  return { seed: Number(FUZZ_SEED), numRuns: runs };
}
