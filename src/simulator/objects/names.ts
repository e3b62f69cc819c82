/** The characters of generated names in Kubernetes: no vowels and no characters that look alike. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

const SUFFIX_CHARACTERS = 5;

function randomSuffix(random: Random): string {
  let suffix = '';
  for (let i = 0; i < SUFFIX_CHARACTERS; i += 1)
    suffix += ALPHABET.charAt(Math.floor(random() * ALPHABET.length));
  return suffix;
}

/** Maximum length of `generateName` in a name: with 5 random characters, the name has at most 63. */
const MAX_GENERATED_STEM = 58;

/**
 * Returns at most 58 characters of `generateName` and 5 random characters. Source: apiserver, storage/names/generate.go
 */
export function generatedName(generateName: string, random: Random): string {
  return generateName.slice(0, MAX_GENERATED_STEM) + randomSuffix(random);
}

/** Returns a `pod-template-hash`, which has at most 10 characters (FNV-1a). */
export function templateHash(text: string): string {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x0100_0193) >>> 0;
  return String(hash).replace(/\d/g, (digit) => ALPHABET.charAt(digit.charCodeAt(0) % ALPHABET.length));
}

/** Returns a number from 0 to below 1. */
export type Random = () => number;

/**
 * Returns a generator of random numbers that depend only on the seed (mulberry32). Because they do not depend on the
 * clock, uids and pod names are distinct even in a test with a constant clock.
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
