import leven from 'leven';

/** A longer word is no slip of the pen: comparing 1 MiB of it with every candidate would take minutes. */
const LONGEST_WORD = 100;

/** Letters in another order, or a word broken off or drawn out, are the likeliest slips: nearer than one letter too many. */
const SLIP = 0.5;

/**
 * The candidate a misspelt word most likely means, or null where none is near: a third of its letters may differ, and
 * two from four letters on, so that two swapped ones are found.
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

/** `; did you mean "x"?`, or nothing where no candidate is near. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const guess = nearest(word, candidates);
  return guess === null ? '' : `; did you mean "${guess}"?`;
}

function isSlip(word: string, candidate: string): boolean {
  const [short, long] = word.length < candidate.length ? [word, candidate] : [candidate, word];
  if (short.length >= 4 && long.toLowerCase().startsWith(short.toLowerCase())) return true;
  if (word.length !== candidate.length) return false;
  const sorted = [word, candidate].map((text) => Array.from(text.toLowerCase()).sort().join(''));
  return sorted[0] === sorted[1];
}
