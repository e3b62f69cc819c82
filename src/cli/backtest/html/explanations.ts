/** Explanations, whose lines are stored once: most of them repeat. */
export interface Explanations {
  /** Returns the indexes of the lines; empty if there is no room left. */
  readonly add: (lines: readonly string[]) => readonly number[];
  readonly lines: () => readonly string[];
  /** How many did not fit. */
  readonly leftOut: () => number;
}

export function createExplanations(mostCharacters: number): Explanations {
  const known = new Map<string, number>();
  let left = mostCharacters;
  let leftOut = 0;
  return {
    add: (lines) => {
      const fresh = new Set(lines.filter((line) => !known.has(line)));
      // An index has up to 6 characters.
      const size = [...fresh].reduce((sum, line) => sum + line.length + 3, lines.length * 6);
      if (size > left) {
        leftOut += 1;
        return [];
      }
      left -= size;
      for (const line of fresh) known.set(line, known.size);
      return lines.map((line) => known.get(line) ?? 0);
    },
    lines: () => [...known.keys()],
    leftOut: () => leftOut,
  };
}
