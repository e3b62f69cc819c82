/**
 * Lets at most `places` take part at once, the others wait in the order they came. The answer gives the place back and
 * must be called exactly once.
 */
export function createTurns(places: number): () => Promise<() => void> {
  const waiting: (() => void)[] = [];
  let free = places;
  const giveBack = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return async () => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return giveBack;
  };
}
