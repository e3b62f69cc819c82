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

/** The same turns, and how many of them are taken at the moment. */
export function countTurns(takeTurn: () => Promise<() => void>): {
  readonly takeTurn: () => Promise<() => void>;
  readonly underWay: () => number;
} {
  let underWay = 0;
  return {
    takeTurn: async () => {
      const done = await takeTurn();
      underWay += 1;
      return () => {
        underWay -= 1;
        done();
      };
    },
    underWay: () => underWay,
  };
}
