import type { Scaler } from '../scaler/spec.js';
import type { Instant } from '../units/time.js';
import { shiftMemory } from './memory/clock-jump.js';
import type { Memory } from './memory/memory.js';
import { targetKey } from './cycle/shared-targets.js';

/** A scaler of the controller. */
export interface Entry {
  /** `key` of the scaler: the same string as long as the entry exists. */
  readonly key: string;
  /** Bucket of the state store: with sharding, its owner decides the scaler. */
  readonly bucket: number;
  scaler: Scaler;
  memory: Memory;
  /** Total seconds by which the wall clock had been set when the memory was last updated. */
  clockSetBy: number;
  /** Whether the controller still has this entry, and no other one with its key. */
  isCurrent: boolean;
  /** Whether a cycle runs, or waits for its answers. */
  isRunning: boolean;
  /** Whether no cycle has run with this document, and the others of its target, yet. */
  isNew: boolean;
}

/** A scaler with the same name and target keeps its entry. */
export function keepOrAdd(
  entries: Map<string, Entry>,
  scaler: Scaler,
  createEntry: (scaler: Scaler) => Entry,
): void {
  const { key } = scaler;
  const old = entries.get(key);
  // Nearly every document of a reload is an old one.
  if (old?.scaler === scaler) return;
  const isSameTarget =
    old !== undefined &&
    targetKey(old.scaler.namespace, old.scaler.spec.scaleTargetRef) ===
      targetKey(scaler.namespace, scaler.spec.scaleTargetRef);
  if (isSameTarget) {
    old.isNew = true;
    old.scaler = scaler;
    return;
  }
  if (old !== undefined) old.isCurrent = false;
  entries.set(key, createEntry(scaler));
}

/** Shifts the times in memory if the wall clock was set. */
export function followClock(entry: Entry, setBySeconds: number, now: Instant): void {
  if (entry.clockSetBy === setBySeconds) return;
  entry.memory = shiftMemory(entry.memory, setBySeconds - entry.clockSetBy, now);
  entry.clockSetBy = setBySeconds;
}
