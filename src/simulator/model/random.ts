/** At least 0, below 1. */
export type Random = () => number;

/**
 * A source of chance that gives the same numbers for the same seed (any number): the mulberry32 generator. Uids and
 * pod names stay distinct even where a test's clock always draws the same number.
 */
export function seededRandom(seed: number): Random {
  let state = Math.floor(seed * 0x1_0000_0000) >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
