/** Random numbers determined by a seed: mulberry32 (Tommy Ettinger, public domain), 32 bits of state. */
export interface Random {
  /** At least 0, below 1. */
  readonly next: () => number;
  /** At least `from`, below `to`. */
  readonly between: (from: number, to: number) => number;
  /** An integer, both ends included. */
  readonly integer: (from: number, to: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(list: readonly T[]) => T;
  /** Returns an independent stream, so that one more number drawn here changes nothing there. */
  readonly fork: (name: string) => Random;
}

/** Creates the same numbers for the same seed on any machine. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const between = (from: number, to: number): number => from + next() * (to - from);
  return {
    next,
    between,
    integer: (from, to) => Math.floor(between(from, to + 1)),
    chance: (probability) => next() < probability,
    pick: (list) => {
      const item = list[Math.floor(next() * list.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
    fork: (name) => createRandom(hashText(name) ^ Math.imul(seed, 0x9e3779b1)),
  };
}

/** FNV-1a, 32 bits. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash ^= text.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}
