import type { Feature } from '../simulation/scenario.js';

/** A bug of our own, planted to test whether the checker detects it. */
export interface Bug {
  readonly name: string;
  readonly meant: Meant;
  readonly edits: readonly Edit[];
}

interface Meant {
  /** The invariants of which at least one must detect it. */
  readonly by: readonly string[];
  /** Fault modes, or groups and modes, that provoke it, which a hunt draws first; empty: the usual faults suffice. */
  readonly when: readonly string[];
  /** Simulated hours that it needs; default: those of the hunt. */
  readonly hours?: number;
  /** What the simulations need; unset: nothing. */
  readonly features?: readonly Feature[];
  /** Replicas that divide the scalers; unset: those of the seed. */
  readonly shards?: number;
}

export interface Edit {
  /** Relative to `dist`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export function bug(name: string, meant: Meant, ...edits: readonly Edit[]): Bug {
  return { name, meant, edits };
}

export function edit(file: string, find: string, replace: string): Edit {
  return { file, find, replace };
}
