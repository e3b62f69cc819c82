import leven from 'leven';

/**
 * Limits the words that are compared. A longer word is not a typo, and comparing 1 MiB with every candidate would take
 * minutes.
 */
const LONGEST_WORD = 100;

/**
 * Distance of a transposition, and of a truncated or extended word. They rank before a single insertion, because they
 * are the most common typos.
 */
const SLIP = 0.5;

/**
 * Returns the candidate that a misspelled word most likely means; null: no candidate is near enough. A third of the
 * letters may differ. In a word of four to eight letters, two letters may always differ, which allows a transposition.
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

/** Returns the end of a message: `; did you mean "x"?`. Empty: no candidate is near enough. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  return suggest(nearest(word, candidates));
}

/** Returns the end of a message that suggests a name: `; did you mean "x"?`. Empty: `name` is null. */
export function suggest(name: string | null, kind: string | null = null): string {
  return name === null ? '' : `; did you mean ${kind === null ? '' : `${kind} `}"${name}"?`;
}

function isSlip(word: string, candidate: string): boolean {
  const [short, long] = word.length < candidate.length ? [word, candidate] : [candidate, word];
  if (short.length >= 4 && long.toLowerCase().startsWith(short.toLowerCase()))
    return word === short || word.length <= 2 * candidate.length;
  if (word.length !== candidate.length) return false;
  const sorted = [word, candidate].map((text) => Array.from(text.toLowerCase()).sort().join(''));
  return sorted[0] === sorted[1];
}
