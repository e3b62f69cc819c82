/** Returns a number in [0, 1). */
export type Random = () => number;

/**
 * Returns a generator that repeats its numbers for the same seed (mulberry32). Uids and pod names are then distinct
 * even if the clock of a test is constant.
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
