import type { DecisionEntry } from './answers.js';

type Condition = DecisionEntry['conditions'][number];

export interface Transition {
  /** Time of the first decision with the new status or reason. */
  readonly at: string;
  readonly from: Condition | null;
  readonly to: Condition;
}

/**
 * Maps the type of a condition to the changes of its status or reason. Changes and `entries` are newest first. `from`
 * is null for the first known status.
 */
export function listTransitions(
  entries: readonly DecisionEntry[],
): ReadonlyMap<string, readonly Transition[]> {
  const found = new Map<string, Transition[]>();
  const last = new Map<string, Condition>();
  for (const entry of [...entries].reverse()) {
    for (const condition of entry.conditions) {
      const from = last.get(condition.type) ?? null;
      last.set(condition.type, condition);
      if (from !== null && from.status === condition.status && from.reason === condition.reason) continue;
      const list = found.get(condition.type) ?? [];
      list.unshift({ at: entry.firstAt, from, to: condition });
      found.set(condition.type, list);
    }
  }
  return found;
}
