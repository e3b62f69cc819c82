/** Explanations whose lines are stored without duplicates, because most lines repeat. */
export interface Explanations {
  /** Returns the indexes of the lines; empty if the limit is exceeded. `lines` is not called again after that. */
  readonly add: (lines: () => readonly string[]) => readonly number[];
  readonly lines: () => readonly string[];
}

export function createExplanations(mostCharacters: number): Explanations {
  const known = new Map<string, number>();
  let left = mostCharacters;
  return {
    add: (linesOf) => {
      if (left < 0) return [];
      const lines = linesOf();
      const fresh = new Set(lines.filter((line) => !known.has(line)));
      // An index has up to 6 characters.
      left -= [...fresh].reduce((sum, line) => sum + line.length + 3, lines.length * 6);
      if (left < 0) return [];
      for (const line of fresh) known.set(line, known.size);
      return lines.map((line) => known.get(line) ?? 0);
    },
    lines: () => [...known.keys()],
  };
}
