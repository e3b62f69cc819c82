import leven from 'leven';

/** A longer word is not a typo, and comparing 1 MiB with every candidate would take minutes. */
const LONGEST_WORD = 100;

/** Transpositions and truncated or extended words rank before single insertions: they are the most common typos. */
const SLIP = 0.5;

/**
 * Returns the candidate that a misspelled word most likely means, or null. A third of the letters may differ, or two in
 * a word of four to eight letters, which allows a transposition.
 */
export function nearest(word: string, candidates: readonly string[]): string | null {
  if (word.length > LONGEST_WORD) return null;
  let best: string | null = null;
  let bestDistance = Math.max(word.length < 4 ? 1 : 2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = isSlip(word, candidate)
      ? SLIP
      : leven(word.toLowerCase(), candidate.toLowerCase(), { maxDistance: bestDistance });
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns `; did you mean "x"?`, or an empty string. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const guess = nearest(word, candidates);
  return guess === null ? '' : `; did you mean "${guess}"?`;
}

/** Returns the suggestion in a message that ends with `didYouMean`, or null. */
export function guessIn(message: string): string | null {
  return /; did you mean "([^"]+)"\?$/.exec(message)?.[1] ?? null;
}

function isSlip(word: string, candidate: string): boolean {
  const [short, long] = word.length < candidate.length ? [word, candidate] : [candidate, word];
  if (short.length >= 4 && long.toLowerCase().startsWith(short.toLowerCase()))
    return word === short || word.length <= 2 * candidate.length;
  if (word.length !== candidate.length) return false;
  const sorted = [word, candidate].map((text) => Array.from(text.toLowerCase()).sort().join(''));
  return sorted[0] === sorted[1];
}
