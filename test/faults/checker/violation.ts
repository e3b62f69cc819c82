import { formatTime } from '../simulation/faults.js';
import type { History } from './history.js';

/** A violated invariant. */
export interface Violation {
  /** `I4`. */
  readonly invariant: string;
  readonly atMs: number;
  readonly message: string;
  readonly scaler: string | null;
  readonly process: string | null;
}

/** An invariant: its description in one line, and its check of a history. Source: reliability.md, section 8. */
export interface Invariant {
  readonly id: string;
  readonly text: string;
  readonly check: (history: History) => readonly Found[];
}

/** A violation without the name of its invariant. */
export interface Found {
  readonly atMs: number;
  readonly message: string;
  readonly scaler?: string;
  readonly process?: string;
}

/** Returns for example `6:40:12.120 shop/web: 9 -> 4`. */
export function describeWrite(write: {
  readonly atMs: number;
  readonly scaler: string;
  readonly process: string;
  readonly from: number;
  readonly to: number;
}): string {
  return `${write.process} set ${write.scaler} ${write.from} -> ${write.to} at ${formatTime(write.atMs)}`;
}
